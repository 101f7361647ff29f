"""Emit layout.py: the wire types of a format as one literal.

The table states the spec independently of parameter values and selected columns; the engine binds both when it loads
the table (`runtime/engine`).
"""

from ast import literal_eval

from wireloom.emit.code import Code, display, literal, mapping, render, tuple_of
from wireloom.emit.construct.types import structural_depth
from wireloom.emit.frames import framed, heading
from wireloom.emit.layout.types import node
from wireloom.model.format import CrcAlgorithm, DigestAlgorithm, Format, Ranges, SumAlgorithm
from wireloom.model.types import Struct
from wireloom.runtime.engine.contract import LAYOUT_VERSION, digest


def emit(format: Format) -> str:
    """Generate the text of layout.py."""
    lead = len("LAYOUT: Final[dict[str, Any]] = ")
    return framed(
        __file__,
        "layout.py.jinja",
        format,
        docstring=heading(f"{format.title}, as the native engine reads it"),
        layout=render(_layout(format), lead=lead),
    )


def _layout(format: Format) -> Code:
    order = format.byte_order
    parts: dict[str, Code] = {
        "version": str(LAYOUT_VERSION),
        "format": literal(format.name),
        "order": display(order.fixed if order.parameter is None else (order.parameter, order.wrong_when)),
        "depth": literal(format.depth),
        "expansion": literal(format.expansion),
        "ratio": literal(format.ratio),
        "crcs": mapping(
            {literal(crc.name): display(_crc(crc)) for crc in format.checksums if not isinstance(crc, DigestAlgorithm)}
        ),
        "ranges": mapping({literal(ranges.name): _ranges(ranges) for ranges in format.ranges}),
        "types": mapping({literal(name): _stated(node(type)) for name, type in format.types}),
        "roots": mapping({literal(root.name): _stated(node(root.type)) for root in format.roots}),
    }
    structs = (type for _, type in format.types if isinstance(type, Struct))
    if needs := {literal(each.name): display(each.needs) for each in structs if each.needs}:
        parts["needs"] = mapping(needs)
    if format.encoding.text:
        depths = {literal(root.name): str(structural_depth(root.type, format)) for root in format.roots}
        parts |= {"unknown": literal(format.unknown_members), "structure": mapping(depths)}
    elif format.unknown_members is not None:
        parts["unknown"] = literal(format.unknown_members)
    if format.invalid_text is not None:
        parts["replaced"] = literal(format.invalid_text)
    stated = literal_eval(render(mapping({literal(name): part for name, part in parts.items()})))
    parts["digest"] = literal(digest(stated))
    return mapping({literal(name): part for name, part in parts.items()})


def _stated(part: object) -> Code:
    """Write a node as a tuple."""
    match part:
        case tuple():
            return tuple_of(map(_stated, part))
        case dict():
            return mapping({literal(name): _stated(each) for name, each in part.items()})
        case _:
            return literal(part)


def _crc(crc: CrcAlgorithm | SumAlgorithm) -> tuple[int | bool | str, ...]:
    if isinstance(crc, SumAlgorithm):
        return crc.rule, crc.width, crc.modulus, crc.init, crc.xorout
    return crc.width, crc.poly, crc.init, crc.xorout, crc.reflected


def _ranges(ranges: Ranges) -> Code:
    return tuple_of(display((item.name, item.minimum, item.maximum)) for item in ranges.ranges)
