"""Emit a format's Spark column functions, and the package's `functions.py` that exports those of all formats.

The emitted functions declare names, types and documentation; `wireloom.spark` does the work. pyspark is imported only
when a function is called.
"""

from collections.abc import Iterator, Sequence

from wireloom.emit import prose
from wireloom.emit.frames import framed, template
from wireloom.model.format import Format, Parameter
from wireloom.runtime.parameters import option_name

GENERAL = (
    ("mode", "FAILFAST (the default) fails the job at a bad record, PERMISSIVE gives null in its place."),
    ("columnNameOfError", "Adds a member to the struct: code, path, offset, expected and actual of a bad record."),
    ("columnNameOfCorruptRecord", "Adds a member to the struct: the bytes of a bad record."),
    ("root", "What the bytes are."),
    ("openValues", "variant (the default), json or binary: the form of values of any type."),
)
PREFIXES = ("convert", "decode", "from", "schema_of", "to", "validate")


def emit(format: Format) -> str:
    """Generate the text of a format's `functions.py`."""
    return framed(
        __file__,
        "functions.py.jinja",
        format,
        docstring=prose.docstring(_paragraphs(format)),
        format_name=format.name,
        exports=sorted([*_names(format), "register"]),
    )


def index(formats: Sequence[Format], mark: str) -> str:
    """Generate the text of the package's `functions.py`, with the functions of all formats."""
    modules = [(format.name, _names(format)) for format in sorted(formats, key=lambda format: format.name)]
    exports = sorted([*(name for _, names in modules for name in names), "register"])
    return template(__file__, "index.py.jinja").render(mark=mark, modules=modules, exports=exports)


def _names(format: Format) -> list[str]:
    return [f"{prefix}_{format.name}" for prefix in PREFIXES]


def _paragraphs(format: Format) -> Iterator[str]:
    yield prose.summary(f"Column functions of {format.name}: {format.title}")
    yield prose.paragraph(
        "Options are texts, and the case of their names does not matter. Besides those of the format, below, there are:"
    )
    general = GENERAL if len(format.roots) > 1 else tuple(each for each in GENERAL if each[0] != "root")
    yield prose.definitions((name, _root(format, text) if name == "root" else text) for name, text in general)
    if format.parameters:
        yield "Options of the format:\n" + prose.definitions(map(_documented, format.parameters))


def _root(format: Format, text: str) -> str:
    names = [root.name for root in format.roots]
    return f"{text.rstrip('.')}: {names[0]} (the default), {', '.join(names[1:])}."


def _documented(parameter: Parameter) -> tuple[str, str]:
    words = f" One of {', '.join(parameter.options)}." if parameter.options else ""
    default = str(parameter.default).lower() if isinstance(parameter.default, bool) else parameter.default
    standard = "" if default is None else f" The default is {default}."
    return option_name(parameter.name), (prose.sentence(parameter.doc) if parameter.doc else "") + words + standard
