"""Emit parser.py: construct declarations of a format, the readable reference that parses and builds."""

import re
from collections.abc import Iterator
from typing import assert_never

from wireloom.emit.code import WIDTH, Code, Group, call, display, literal, mapping, render
from wireloom.emit.construct.encodings import PARSERS
from wireloom.emit.construct.expressions import ranges_name
from wireloom.emit.construct.structs import constant_of, struct
from wireloom.emit.construct.types import Scope, constant, has_declaration, structural_depth, subcon
from wireloom.emit.frames import framed, heading
from wireloom.encodings import Encoding
from wireloom.expr.ast import ParameterRef
from wireloom.model.format import CrcAlgorithm, DigestAlgorithm, Format, Ranges, SumAlgorithm
from wireloom.model.traversal import encodings_around, expands, plain, references, unpacks
from wireloom.model.types import Struct, Type

_RUNTIME = ("checksums", "elements", "packed", "record", "regions", "structure", "unions")


def emit(format: Format) -> str:
    """Generate the text of parser.py."""
    constants = list(_constants(format))
    declarations = list(_declarations(format))
    constructs = render(mapping({literal(root.name): _record(root.type, format) for root in format.roots}), lead=13)
    body = "\n".join((*constants, *declarations, constructs))
    return framed(
        __file__,
        "parser.py.jinja",
        format,
        docstring=heading(f"{format.title}, as construct declarations"),
        modules=", ".join(name for name in sorted({*_RUNTIME, *PARSERS}) if re.search(rf"\b{name}\.", body)),
        functions="fn." in body,
        siblings="PARAMETERS, descriptor" if "descriptor." in body else "PARAMETERS",
        constants=constants,
        declarations=declarations,
        constructs=constructs,
        default=literal(format.roots[0].name),
    )


# --- constants -----------------------------------------------------------------------------------------------------


def _constants(format: Format) -> Iterator[str]:
    if any(used.laid_out for used in (format.encoding, *_encodings(format).values())):
        order = format.byte_order
        text = literal(order.fixed) if order.parameter is None else _parameter_order(order.parameter)
        yield f"ORDER: binary.Order = {text}"
    yield f"DEPTH = {format.depth if isinstance(format.depth, int) else _depth(format.depth)}"
    for checksum in format.checksums:
        yield f"{constant_of(checksum.name)} = {_checksum(checksum)}"
    for ranges in format.ranges:
        yield _ranges(ranges)


def _parameter_order(name: str) -> str:
    return f"binary.parameter_order({literal(name)})"


def _depth(parameter: str) -> str:
    return f"lambda ctx: ctx._params[{literal(parameter)}]  # noqa: E731 - read as a declaration"


def _checksum(checksum: CrcAlgorithm | SumAlgorithm | DigestAlgorithm) -> str:
    match checksum:
        case CrcAlgorithm():
            return _crc(checksum)
        case SumAlgorithm():
            return _sum(checksum)
        case DigestAlgorithm(name, digests, size):
            lead = len(constant_of(name)) + 3
            return render(call("checksums.Digest", display(digests), size=str(size)), 0, lead)
        case _:
            assert_never(checksum)


def _crc(crc: CrcAlgorithm) -> str:
    digits = -(-crc.width // 4)
    return render(
        call(
            "checksums.Crc",
            width=str(crc.width),
            poly=f"0x{crc.poly:0{digits}X}",
            init=f"0x{crc.init:0{digits}X}",
            xorout=f"0x{crc.xorout:0{digits}X}",
            reflected=str(crc.reflected),
        ),
        0,
        len(crc.name) + 7,
    )


def _sum(sum: SumAlgorithm) -> str:
    return render(
        call(
            "checksums.Sum",
            literal(sum.rule),
            width=str(sum.width),
            modulus=str(sum.modulus) if sum.modulus else None,
            init=str(sum.init),
            xorout=f"0x{sum.xorout:X}",
        ),
        0,
        len(sum.name) + 7,
    )


def _ranges(ranges: Ranges) -> str:
    head = f"{ranges_name(ranges.name)} = "
    entries = display(tuple((item.name, item.minimum, item.maximum) for item in ranges.ranges))
    return head + render(entries, lead=len(head))


# --- declarations --------------------------------------------------------------------------------------------------


def _declarations(format: Format) -> Iterator[str]:
    """Declare the named types, each after the types it uses; recursive uses refer to a name that is resolved later."""
    declared: frozenset[str] = frozenset()
    encodings = _encodings(format)
    for name in _in_order_of_use(format):
        scope = Scope(format, encodings.get(name, format.encoding), declared)
        target = format.type(name)
        code = struct(target, scope) if isinstance(target, Struct) else subcon(target, scope)
        title = head = constant(name)
        if isinstance(code, Group) and f"lambda: {title})" in render(code):  # recursive
            head = f"{title}: {code.opening.removesuffix('(')}"
        yield _as_it_is(f"{head} = {render(code, lead=len(head) + 3)}")
        declared |= {name}


def _as_it_is(declaration: str) -> str:
    """Exclude a declaration from formatting if it has an expression that `render` cannot break into short lines."""
    long = any(len(line) > WIDTH and "ctx" in line for line in declaration.splitlines())
    return f"# fmt: off\n{declaration}\n# fmt: on" if long else declaration


def _in_order_of_use(format: Format) -> tuple[str, ...]:
    ordered: dict[str, None] = {}
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in ordered or name in visiting:
            return
        visiting.add(name)
        for used in references(format.type(name)):
            visit(used)
        if has_declaration(format.type(name)):
            ordered[name] = None

    for root in format.roots:
        for name in references(root.type):
            visit(name)
    return tuple(ordered)


def _encodings(format: Format) -> dict[str, Encoding]:
    """The encoding in which each named type is used; a struct has its own."""
    around = encodings_around(format.named, (root.type for root in format.roots), format.encoding)
    targets = {name: format.type(name) for name in around}
    return {name: each.encoding if isinstance(each, Struct) else around[name][0] for name, each in targets.items()}


def _record(type: Type, format: Format) -> Code:
    scope = Scope(format, format.encoding, frozenset(name for name, _ in format.types))
    inner = scope.parsers.record(subcon(type, scope), structural_depth(type, format))
    order = format.byte_order
    byte_order = None
    if order.parameter is not None:
        member_name = literal(member) if (member := _member_of_parameter(type, format, order.parameter)) else None
        byte_order = call("record.ByteOrder", literal(order.parameter), literal(order.wrong_when), told=member_name)
    size = None if format.size is None else literal(format.size)
    expansion = literal(format.expansion) if expands(format) else None
    ratio = literal(format.ratio) if unpacks(format) else None
    limits = {"size": size, "expansion": expansion, "ratio": ratio}
    return call("record.Record", inner, "PARAMETERS", order=byte_order, **limits)


def _member_of_parameter(type: Type, format: Format, parameter: str) -> str:
    """The visible member of the root that is computed as the parameter alone; empty if there is none."""
    root = plain(type, format.named)
    fields = root.fields if isinstance(root, Struct) else ()
    for field in fields:
        match field.compute:
            case ParameterRef(name=name, members=()) if name == parameter and not field.hidden:
                return field.name
            case _:
                pass
    return ""
