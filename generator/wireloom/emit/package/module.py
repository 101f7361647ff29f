"""Emit a format's `__init__.py`: names, documentation and typed functions around one Codec."""

from wireloom.emit import prose
from wireloom.emit.code import Code, Group, Prose, call, display, literal, mapping, render, tuple_of
from wireloom.emit.frames import framed, heading
from wireloom.emit.package.interface import functions
from wireloom.emit.package.signature import annotated, declared, one_of
from wireloom.model.ends import endless
from wireloom.model.format import Format, Root, Versions
from wireloom.model.kinds import kinds
from wireloom.model.meaning import meaning
from wireloom.runtime import CONTRACT


def module(format: Format) -> str:
    """Generate the text of the module's `__init__.py`."""
    return framed(
        __file__,
        "module.py.jinja",
        format,
        docstring=prose.docstring(_paragraphs(format)),
        constants=_constants(format),
        root=annotated("root", one_of(tuple(root.name for root in format.roots)), literal(format.roots[0].name)),
        default_root=literal(format.roots[0].name),
        functions=functions(format),
        of_documents=format.encoding.text,
    )


def columns(format: Format) -> str:
    """Generate the text of `columns.py`, which derives the Arrow schemas from the shape when it is imported."""
    return framed(
        __file__, "columns.py.jinja", format, docstring=heading(f"The Arrow columns of {format.name}: {format.title}")
    )


def spark(format: Format) -> str:
    """Generate the text of `spark.py`, whose `struct_type` derives the columns when it is called."""
    heads = heading(f"The Spark columns of {format.name}: {format.title}")
    return framed(__file__, "spark.py.jinja", format, docstring=heads, default=literal(format.roots[0].name))


def _paragraphs(format: Format) -> list[str]:
    """The module's docstring: the format's title, documentation and source, its roots, and its error codes."""
    return [
        prose.summary(format.title),
        prose.paragraph(format.doc),
        prose.paragraph(f"Source: {format.source}") if format.source else "",
        "Roots:\n" + prose.definitions((root.name, root.doc) for root in format.roots) if len(format.roots) > 1 else "",
        "Error codes:\n" + prose.definitions((error.code, error.doc) for error in format.errors),
    ]


def _constants(format: Format) -> list[str]:
    values: dict[str, Code] = {
        "FORMAT": literal(format.name),
        "TITLE": Prose(format.title),
        "DIGEST": literal(format.digest),
        "MEANING": literal(meaning(format)),
        "CONTRACT": literal(CONTRACT),
        "ENCODING": literal(format.encoding.name),
        "FRAMING": literal(format.framing.text),
        "CODES": mapping({literal(error.code): Prose(" ".join(error.doc.split())) for error in format.errors}),
        "PARAMETERS": tuple_of(declared(each, format) for each in format.parameters),
        "CODEC": _codec(format),
    }
    types = {"PARAMETERS": "Final[tuple[_codec.Parameter, ...]]"}
    return [_assigned(f"{name}: {types.get(name, 'Final')} = ", value) for name, value in values.items()]


def _assigned(target: str, value: Code) -> str:
    return target + render(value, lead=len(target))


def _codec(format: Format) -> Group:
    return call(
        "_codec.Codec",
        home="__name__",
        format="FORMAT",
        digest="DIGEST",
        parameters="PARAMETERS",
        roots=mapping({literal(root.name): _root(format, root) for root in format.roots}),
        framing="FRAMING",
        layout="_layout.LAYOUT",
        codes="CODES",
        named_versions=None if format.named_versions is None else _versions(format.named_versions),
    )


def _versions(versions: Versions) -> Code:
    is_by_name = versions.path == (versions.column,)
    names, values = display(versions.names), display(versions.names if is_by_name else versions.values)
    parts: dict[str, Code] = {"names": names, "values": values, "roots": display(versions.roots)}
    parts |= {"path": display(versions.path)} if versions.path else {}
    parts |= {"parameter": literal(versions.parameter)} if versions.parameter else {}
    return mapping({literal(name): part for name, part in parts.items()})


def _root(format: Format, root: Root) -> Group:
    name, telling = literal(root.name), kinds(format, root)
    return call(
        "_codec.Root",
        "__name__",
        name,
        size=None if format.size is None else literal(format.size),
        elements="True" if root.elements else None,
        rows=display(root.rows) if root.rows else None,
        kinds=display(telling) if telling else None,
        unplaced=display(root.unplaced) if root.unplaced else None,
        endless=literal(found) if (found := endless(root.type, format.named, format.encoding)) else None,
    )
