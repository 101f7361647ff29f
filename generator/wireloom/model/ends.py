"""What tells where a record ends: records may stand back to back only where each tells its own end."""

from collections.abc import Iterator, Mapping

from wireloom.expr.ast import Expression, Literal, Position, Unary, references
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Amount, Encoding, Struct, Type

Types = Mapping[str, Type]


def endless(root: Type, named: Types, encoding: Encoding) -> str:
    """What of a root takes all bytes there are; empty where it ends by itself."""
    if encoding is Encoding.JSON:
        return "a JSON text"
    return _endless(root, named, encoding, frozenset())


def _endless(type: Type, named: Types, encoding: Encoding, seen: frozenset[str]) -> str:
    """What takes all bytes there are; empty where the type ends by itself."""
    match type:
        case types.Reference(name=name):
            return "" if name in seen else _endless(named[name], named, encoding, seen | {name})
        case types.Struct(encoding=Encoding.PROTOBUF | Encoding.JSON, name=name):
            return name
        case types.Struct(encoding=Encoding.BINARY):
            return _endless_field(type, named, seen)
        case types.Select(tag=types.FieldTag(expression=tag)) if _needs_end(tag):
            return "a choice"
        case types.Attempt(trials=trials) if any(map(_falls_back_at_end, trials[:-1])):
            return "an attempt"
        case types.Select() | types.Attempt():
            pass
        case types.Bytes(size=size) | types.Text(size=size) if encoding is Encoding.BINARY:
            return "a value" if _takes_all(size) else ""
        case types.Array(count=count, element=element) if encoding is Encoding.BINARY:
            return "a list" if _takes_all(count) else _endless(element, named, encoding, seen)
        case _:
            return ""
    return next((found for each in parts(type) if (found := _endless(each, named, encoding, seen))), "")


def _endless_field(struct: Struct, named: Types, seen: frozenset[str]) -> str:
    asks = ""  # the struct, where one of its checks asks for the end; a field says more
    covered = {field.wire_name: field.checksum for field in struct.fields if field.checksum is not None}
    for step in struct.steps:
        if isinstance(step, types.Frame):
            return struct.name if _needs_end(step.bytes) else asks
        is_asking = isinstance(step, types.End) or any(map(_needs_end, _looking(step)))
        if isinstance(step, types.Verify) and (checksum := covered.get(step.field)) is not None:
            is_asking |= _needs_end(checksum.start) or _needs_end(checksum.end)
        if not isinstance(step, types.Field):
            asks = struct.name if is_asking else asks
            continue
        name = f"{struct.name}.{step.wire_name}"
        if is_asking:
            return name
        if not step.on_wire:
            continue
        if step.base:
            return name
        if step.at is not None and (_counts_from_end(step.at) or _needs_end(step.at)):
            return name
        if step.size is not None:
            if _takes_all(step.size) or _reads_elsewhere(step.type, named, set()):
                return name
        elif found := _endless(step.type, named, Encoding.BINARY, seen):
            return found if "." in found else name
    return asks


def _reads_elsewhere(type: Type, named: Types, seen: set[str]) -> bool:
    """Whether something within may stand outside of the region that the type has. Types in `seen` do not."""
    match type:
        case types.Reference(name=name):
            if name in seen:
                return False
            seen.add(name)
            return _reads_elsewhere(named[name], named, seen)
        case types.Struct(fields=fields):
            return any(bool(field.base) or _reads_elsewhere(field.type, named, seen) for field in fields)
        case _:
            return any(_reads_elsewhere(each, named, seen) for each in parts(type))


def looks_at_end(type: Type, named: Types) -> str:
    """A field, of any struct that stands in the same region, whose condition looks at where that ends; else empty.

    Builders can tell where it ends as long as nothing else stands behind.
    """
    return _looks_at_end(type, named, set())


def _looks_at_end(type: Type, named: Types, seen: set[str]) -> str:
    """The same of types that are not in `seen`, in which there is no such field."""
    match type:
        case types.Reference(name=name):
            if name in seen:
                return ""
            seen.add(name)
            return _looks_at_end(named[name], named, seen)
        case types.Struct(encoding=Encoding.BINARY, name=name, fields=fields):
            for field in fields:
                if field.in_struct and field.when is not None and _needs_end(field.when):
                    return f"{name}.{field.wire_name}"
            below = tuple(field.type for field in fields if field.in_struct and field.size is None)
        case types.Select() | types.Attempt():
            below = parts(type)
        case _:
            return ""
    return next((found for each in below if (found := _looks_at_end(each, named, seen))), "")


def _falls_back_at_end(trial: types.Trial) -> bool:
    """Whether the next alternative is tried where this one has too few bytes: behind it there may be others' bytes."""
    return any("truncated" in fallback.codes for fallback in trial.fallbacks)


def _looking(step: types.Step) -> Iterator[Expression]:
    """The expressions of a step that decide what a parser makes of a record."""
    match step:
        case types.Field(when=when, compute=compute):
            yield from (each for each in (when, compute) if each is not None)
        case types.Check(that=that, when=when):
            yield from (each for each in (that, when) if each is not None)
        case types.Verify(when=expression) | types.Discard(when=expression) if expression is not None:
            yield expression
        case types.Need(bytes=needed):
            yield needed
        case _:
            return


def _counts_from_end(offset: Expression) -> bool:
    return isinstance(offset, Unary) or (
        isinstance(offset, Literal) and isinstance(offset.value, int) and offset.value < 0
    )


def _takes_all(amount: Amount | None) -> bool:
    """Whether an amount is all that is left, or what is left behind it has a say in it."""
    if amount is None or (isinstance(amount, types.Terminator) and amount.behind is not None):
        return True
    if isinstance(amount, types.Delimiter):
        return amount.ending.looks_behind
    expression = types.stated(amount)
    return expression is not None and _needs_end(expression)


def _needs_end(expression: Expression) -> bool:
    return Position("size") in tuple(references(expression))
