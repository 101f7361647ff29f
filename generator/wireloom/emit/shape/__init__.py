"""Emit shape.py: a format's logical records as constants of the classes in `runtime.columns.logical`."""

from dataclasses import MISSING, fields, is_dataclass

from wireloom.emit.code import Code, Prose, call, literal, mapping, render, tuple_of
from wireloom.emit.frames import framed, heading
from wireloom.emit.shape.extensions import extensions
from wireloom.model.format import Format
from wireloom.runtime.columns.logical import Record


def emit(format: Format) -> str:
    """Generate the text of `shape.py`: a constant for each record, ROOTS by name, and EXTENSIONS of open values."""
    records, roots = _constants(format)
    return framed(
        __file__,
        "shape.py.jinja",
        format,
        docstring=heading(f"The logical shape of {format.name}: {format.title}"),
        records=[_assigned(f"{name}: Final = ", logical(record)) for name, record in records.items()],
        roots=_assigned(_ROOTS, mapping({literal(root): name for root, name in roots.items()})),
        extensions=_assigned(_EXTENSIONS, logical(extensions(format))),
    )


_TEXTS = ("doc", "unit")  # members that are prose
_ROOTS = "ROOTS: Final[Mapping[str, logical.Record]] = "
_EXTENSIONS = "EXTENSIONS: Final[tuple[logical.ExtensionType, ...]] = "


def _constants(format: Format) -> tuple[dict[str, Record], dict[str, str]]:
    """The distinct records by constant name, and the constant of each root."""
    names: dict[Record, str] = {}
    roots = {root.name: names.setdefault(root.logical, root.name.upper()) for root in format.roots}
    return {name: record for record, name in names.items()}, roots


def _assigned(target: str, value: Code) -> str:
    return target + render(value, lead=len(target))


def logical(part: object) -> Code:
    """The expression that builds a logical type or a part of it, omitting values that equal the defaults."""
    match part:
        case tuple():
            return tuple_of(map(logical, part))
        case _ if is_dataclass(part):
            stated = [each for each in fields(part) if each.compare and getattr(part, each.name) != each.default]
            named = {each.name: _argument(each.name, getattr(part, each.name)) for each in stated}
            leading = (each for each in stated if each.default is MISSING or each == fields(part)[0])
            positional = [named.pop(each.name) for each in leading if each.type is not bool]
            return call(f"logical.{type(part).__name__}", *positional, **named)
        case _:
            return literal(part)


def _argument(name: str, value: object) -> Code:
    return Prose(" ".join(value.split())) if name in _TEXTS and isinstance(value, str) else logical(value)
