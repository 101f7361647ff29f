"""What was written on the command line: refuses empty texts, and tells whether an option was used."""

from typing import Any

from typer.core import TyperCommand

from wireloom.failures import MisuseError


class Stated(TyperCommand):
    """A command of which no option or argument is an empty text: a path of no names would be the current folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as typer has it
        """Look at the texts as they are, and then make values of them."""
        given = {} if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))[0]
        for parameter in self.params:
            if given.get(str(parameter.name)) == "":
                raise MisuseError(
                    f"{_called(parameter)} is empty, perhaps because a variable is not set; give it a value"
                )
        return super().parse_args(ctx, args)


def is_given(context: Any, name: str) -> bool:  # noqa: ANN401 - as typer has it
    """Whether an option stands on the command line, and is not the one that is taken otherwise."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _called(parameter: Any) -> str:  # noqa: ANN401 - as typer has it
    """What users call it."""
    if parameter.param_type_name == "argument":
        return str(parameter.human_readable_name).strip("[]{}")
    return str(max(parameter.opts, key=len))
