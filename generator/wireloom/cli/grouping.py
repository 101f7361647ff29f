"""Options in groups: a command takes dataclasses, whose fields become its options.

typer reads the signature of a command. `ungrouped` replaces each dataclass parameter there by the fields of the
dataclass, with their annotations and defaults, and calls the command with the dataclass made from their values.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

Command = Callable[..., None]


def ungrouped(command: Command) -> Command:
    """The command with one option for each field of its dataclasses."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: group for name, group in hints.items() if is_dataclass(group) and isinstance(group, type)}
    if not groups:
        return command
    members = {name: [field.name for field in fields(group)] for name, group in groups.items()}

    def run(**given: object) -> None:
        made = {name: group(**{each: given.pop(each) for each in members[name]}) for name, group in groups.items()}
        command(**made, **given)

    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in _parameters(command, hints, groups)]
    run.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _parameters(command: Command, hints: dict[str, Any], groups: dict[str, type]) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            yield from _options(groups[name])
        else:
            yield parameter.replace(annotation=hints[name])


def _options(group: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )
