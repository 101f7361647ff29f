"""Looks at what the user typed: refuses empty texts, and tells whether an option was given."""

from typing import Any

from typer.core import TyperCommand

from wireloom.failures import MisuseError


class Stated(TyperCommand):
    """A command that refuses an empty text for any option or argument: an empty path would mean the current folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as typer has it
        """Check the texts before they are converted to values."""
        given = {} if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))[0]
        for parameter in self.params:
            if given.get(str(parameter.name)) == "":
                raise MisuseError(
                    f"{_called(parameter)} is empty, perhaps because a variable is not set; give it a value"
                )
        return super().parse_args(ctx, args)


def is_given(context: Any, name: str) -> bool:  # noqa: ANN401 - as typer has it
    """Whether the user gave the option, so that its value is not the default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _called(parameter: Any) -> str:  # noqa: ANN401 - as typer has it
    """The name of a parameter in messages."""
    if parameter.param_type_name == "argument":
        return str(parameter.human_readable_name).strip("[]{}")
    return str(max(parameter.opts, key=len))
