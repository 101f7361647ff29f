"""Compares generated modules as programs see them: their names, the arguments of functions, and the allowed values."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from wireloom.model.format import Format

Rule = Literal["name-removed", "argument-removed", "option-removed", "argument-default", "code-removed"]
_FILES = ("__init__.py", "functions.py")


@dataclass(frozen=True, slots=True)
class _Interface:
    names: set[str] = field(default_factory=set)
    arguments: dict[tuple[str, str], str | None] = field(default_factory=dict)  # by function and argument: its default
    options: dict[str, set[str]] = field(default_factory=dict)  # the allowed values by argument


def lost(
    old: Format, old_files: Mapping[str, str], new: Format, new_files: Mapping[str, str]
) -> Iterator[tuple[Rule, str, str]]:
    """What the new module lacks of the old one: the rule, the name, and the difference."""
    before, after = _interface(old_files), _interface(new_files)
    gone = sorted(before.names - after.names)
    if gone:
        yield "name-removed", gone[0], f"{', '.join(gone)} {'are' if len(gone) > 1 else 'is'} gone"
    for argument in sorted({name for _, name in before.arguments} - {name for _, name in after.arguments}):
        yield "argument-removed", argument, f"the argument {argument} is gone"
    for argument, options in before.options.items():
        for option in sorted(options - after.options.get(argument, options)):
            yield "option-removed", argument, f"{argument} cannot be {option} any more"
    defaults = {
        name: (said, after.arguments[function, name])
        for (function, name), said in before.arguments.items()
        if (function, name) in after.arguments and said != after.arguments[function, name]
    }
    for argument, (was, now) in defaults.items():
        yield "argument-default", argument, f"{argument} is {now} if it is left out, and was {was}"
    codes = {each.code for each in new.errors}
    for error in old.errors:
        if error.code not in codes:
            yield "code-removed", error.code, f"the error code {error.code} is gone"


def _interface(files: Mapping[str, str]) -> _Interface:
    """Read the interface from the text of a module, without importing it."""
    found = _Interface()
    for name in _FILES:
        for node in ast.parse(files[name]).body:
            match node:
                case ast.FunctionDef(name=function) if not function.startswith("_"):
                    found.names.add(function)
                    _add_arguments(found, function, node.args)
                case ast.AnnAssign(target=ast.Name(id=constant)) if not constant.startswith("_"):
                    found.names.add(constant)
                case _:
                    continue
    return found


def _add_arguments(found: _Interface, function: str, given: ast.arguments) -> None:
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found.arguments[function, argument.arg] = None if default is None else ast.unparse(default)
        for node in ast.walk(argument.annotation) if argument.annotation else ():
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                options = found.options.setdefault(argument.arg, set())
                words = (each.value for each in ast.walk(node.slice) if isinstance(each, ast.Constant))
                options.update(str(word) for word in words)
