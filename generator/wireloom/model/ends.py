"""Whether a record tells its own end; only such records may follow each other without framing."""

from collections.abc import Iterator, Mapping

from wireloom.encodings import Encoding
from wireloom.expr.ast import Expression, Position, Unary, integer_of, references
from wireloom.model import types
from wireloom.model.traversal import parts, within
from wireloom.model.types import Amount, Struct, Type

Types = Mapping[str, Type]


def endless(root: Type, named: Types, encoding: Encoding) -> str:
    """The part of a root that reads to the end of the input; empty if every record tells its own end."""
    if encoding.text:
        return "a JSON text"
    return _endless(root, named, encoding, set())


def _endless(type: Type, named: Types, encoding: Encoding, seen: set[tuple[str, Encoding]]) -> str:
    """The part that reads to the end of the input; empty if the type ends by itself, or is in `seen`."""
    match type:
        case types.Reference(name=name):
            if (name, encoding) in seen:
                return ""
            seen.add((name, encoding))
            return _endless(named[name], named, encoding, seen)
        case types.Struct(encoding=Encoding(open_ended=True), name=name):
            return name
        case types.Struct(encoding=Encoding(laid_out=True)):
            return _endless_field(type, named, seen)
        case types.Select(tag=types.FieldTag(expression=tag)) if _needs_end(tag):
            return "a choice"
        case types.Attempt(trials=trials) if any(map(_falls_back_at_end, trials[:-1])):
            return "an attempt"
        case types.Select() | types.Attempt():
            pass
        case types.Bytes(size=size) | types.Text(size=size) if encoding.laid_out:
            return "a value" if _takes_all(size) else ""
        case types.Array(count=count, element=element) if encoding.laid_out:
            return "a list" if _takes_all(count) else _endless(element, named, encoding, seen)
        case _:
            return ""
    return next((found for each in parts(type) if (found := _endless(each, named, encoding, seen))), "")


def _endless_field(struct: Struct, named: Types, seen: set[tuple[str, Encoding]]) -> str:
    asks = ""  # the struct's name once a check needs the end; the name of a later field is more precise
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
        if step.at is not None and (
            isinstance(step.at, Unary) or (integer_of(step.at) or 0) < 0 or _needs_end(step.at)
        ):
            return name
        if step.size is not None:
            if _takes_all(step.size) or _reads_elsewhere(step.type, named):
                return name
        elif found := _endless(step.type, named, struct.encoding, seen):
            return found if "." in found else name
    return asks


def _reads_elsewhere(type: Type, named: Types) -> bool:
    """Whether a part of the type may be read from outside the type's region."""
    waiting, seen = [type], set[str]()
    while waiting:
        for each in within(waiting.pop(), named):
            if isinstance(each, Struct) and each.name not in seen:
                seen.add(each.name)
                if any(field.base for field in each.fields):
                    return True
                waiting += [field.type for field in each.fields]
    return False


def looks_at_end(type: Type, named: Types) -> str:
    """A field whose condition needs the end of the region, in the type or in any struct that shares the region.

    Empty if there is none. Builders know that end only if no other field follows.
    """
    waiting, seen = [type], set[str]()
    while waiting:
        for each in within(waiting.pop(), named, types.Select, types.Attempt):
            if not isinstance(each, Struct) or not each.encoding.laid_out or each.name in seen:
                continue
            seen.add(each.name)
            for field in each.fields:
                if field.in_struct and field.when is not None and _needs_end(field.when):
                    return f"{each.name}.{field.wire_name}"
            waiting += [field.type for field in each.fields if field.in_struct and field.size is None]
    return ""


def _falls_back_at_end(trial: types.Trial) -> bool:
    """Whether the trial passes on when bytes are missing; in a stream, the bytes may be the next record's."""
    return any("truncated" in fallback.codes for fallback in trial.fallbacks)


def _looking(step: types.Step) -> Iterator[Expression]:
    """The expressions of a step that decide how a record is parsed."""
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


def _takes_all(amount: Amount | None) -> bool:
    """Whether the size needs the end of the input: it takes the rest, or depends on the bytes after the value."""
    if amount is None or (isinstance(amount, types.Terminator) and amount.behind is not None):
        return True
    if isinstance(amount, types.Delimiter):
        return amount.ending.looks_behind
    expression = types.stated(amount)
    return expression is not None and _needs_end(expression)


def _needs_end(expression: Expression) -> bool:
    return Position("size") in tuple(references(expression))
