"""How to read values: numbers, texts, lists, choices. A length before a value becomes an attribute in `seq`."""

from collections.abc import Callable
from typing import Any, assert_never

from wireloom.exporting.differences import Difference
from wireloom.exporting.kaitai import names
from wireloom.exporting.kaitai.expressions import Scope as Place
from wireloom.exporting.kaitai.expressions import Seen, UnsayableError, bare, in_charset, literal, translated
from wireloom.exporting.kaitai.folding import FALSE, TRUE, Values, folded
from wireloom.exporting.kaitai.needs import Needs, Outer, sorted_needs
from wireloom.exporting.kaitai.numbers import number
from wireloom.exporting.kaitai.scopes import NO_NAME, Element, Keys, Scope, called
from wireloom.exporting.values import Names
from wireloom.expr.ast import Expression, FieldRef, Kind
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import plain
from wireloom.model.types import (
    Array,
    Attempt,
    Blocks,
    Boolean,
    Bytes,
    Case,
    Check,
    Delimiter,
    FieldTag,
    Float,
    Integer,
    Last,
    MemberTag,
    Nullable,
    Padded,
    PeekTag,
    Prefix,
    Reference,
    Refusal,
    Scalar,
    Select,
    Struct,
    Terminator,
    Text,
    Type,
)
from wireloom.spec.places import Site

_CHARSETS = {"cp437": "IBM437", "latin-1": "ISO-8859-1"}
"""Kaitai's names of character sets, if they differ from the upper-case name."""


class CutError(Exception):
    """The length of a part is unknown, so nothing after it can be read."""


class Forms:
    """The values of a format. The structs in `cut` are known to end early."""

    def __init__(self, format: Format, values: Values, root: str, cut: frozenset[str]) -> None:
        self.format, self.values, self.cut = format, values, cut
        order = format.byte_order
        stated = order.fixed if order.parameter is None else values.get(order.parameter)
        self.order = "le" if stated == "little" else "be"
        self.needs = Needs(format.named)
        self.types: dict[str, Keys] = {}
        self.names = Names([root])
        self.struct_ids: dict[str, str] = {}
        self.waiting: list[str] = []
        self.differences: list[Difference] = []

    def tell(self, kind: str, where: Site, message: str, instead: str) -> None:
        """Note a difference."""
        self.differences.append(Difference(kind, where, message, instead))

    def text(self, expression: Expression, scope: Place) -> str:
        """An expression with the parameters of the format set."""
        return bare(translated(folded(expression, self.values), scope))

    # --- types -------------------------------------------------------------------------------------------------------

    def plain(self, type: Type) -> Type:
        """The type that a name refers to. For an attempt, the one alternative that the description reads."""
        while isinstance(type, Reference | Attempt):
            type = self.format.named[type.name] if isinstance(type, Reference) else self._tried(type)
        return type

    def _tried(self, attempt: Attempt) -> Type:
        """The first alternative that is possible with the values of the parameters."""
        possible = [each for each in attempt.trials if not self._fails(each.type)] or list(attempt.trials)
        if len(possible) > 1:
            site = Site(next((name for name, each in self.format.types if each is attempt), ""))
            others = ", ".join(each.name for each in possible[1:])
            self.tell(
                "attempt", site, "alternatives are tried in turn", f"{possible[0].name} is always read, never {others}"
            )
        return possible[0].type

    def _fails(self, type: Type) -> bool:
        """Whether an alternative checks what the values of the parameters exclude."""
        struct = plain(type, self.format.named)
        steps = struct.steps if isinstance(struct, Struct) else ()
        checks = (step for step in steps if isinstance(step, Check))
        return any(
            folded(each.that, self.values) == FALSE and (each.when is None or folded(each.when, self.values) == TRUE)
            for each in checks
        )

    def _reference(self, scope: Scope, struct: Struct) -> str:
        """A struct's type, with its arguments."""
        if struct.name not in self.struct_ids:
            self.struct_ids[struct.name] = names.free(self.names, struct.name)
            self.waiting.append(struct.name)
        needs = sorted_needs(self.needs.of_structs[struct.name])
        return _called(self.struct_ids[struct.name], [self._argument(scope, each, own=1) for each in needs])

    def _argument(self, scope: Scope, outer: Outer, *, own: int) -> str:
        """The arguments of a type. Seen from the type, fields of the scope's struct are `own` structs outwards."""
        if outer.is_index:
            return scope.position("index")
        return bare(translated(FieldRef(outer.up - own, outer.name, outer.members, outer.kind), scope))

    def around(self, scope: Scope, type: Type, name: str, *, in_list: bool = False) -> tuple[Scope, str]:
        """A new, empty type that will contain values of a type, and the text that uses it."""
        inner = Scope(names.free(self.names, f"{scope.id}_{name}"), None, self.format.ranges, scope.site)
        inner.take(self.needs.of_type(type))
        self.types[inner.id] = {}  # reserves its position among the types
        was, scope.in_list = scope.in_list, scope.in_list or in_list
        try:
            return inner, _called(inner.id, [self._argument(scope, each, own=0) for each in inner.params])
        finally:
            scope.in_list = was

    def wrapped(self, scope: Scope, type: Type, name: str, *, in_list: bool = False) -> Keys:
        """A type that contains one value."""
        inner, named = self.around(scope, type, name, in_list=in_list)
        self.put(inner, type, inner.own("value"), NO_NAME, {})
        self.types[inner.id] = inner.made()
        return {"type": named}

    def refusal(self) -> str:
        """A type whose reading always fails."""
        if "refused" not in self.types:
            self.names.free("refused")
            never = {"id": "never", "size": 0, "valid": {"expr": "false"}}
            self.types["refused"] = {"doc": "No record has this.", "seq": [never]}
        return "refused"

    # --- values ------------------------------------------------------------------------------------------------------

    def put(  # noqa: PLR0913 - the value, its names, and the keys that are known
        self, scope: Scope, type: Type, id: str, original: str, own: Keys, form: Keys | None = None
    ) -> None:
        """Add the attribute `id` with the keys `own`; a value that must be computed also gets an instance."""
        keys = dict(self.form(scope, type, id, own) if form is None else form)
        value = keys.pop("-value", "")
        named = called(id, original)
        if not value:
            scope.seq.append({"id": id, **named, **keys, **own})
            return
        raw = scope.own(f"{id}_raw")
        scope.seq.append({"id": raw, **keys, **if_of(own)})
        scope.instances[id] = {**named, "value": value.format(raw=raw), **own}

    def form(self, scope: Scope, type: Type, id: str, own: Keys) -> Keys:
        """The keys that say how a value is read. `own` are its other keys; a condition may be added to them."""
        plain = self.plain(type)
        match plain:
            case Integer() | Float() | Boolean():
                return self._number(scope, plain)
            case Text() | Bytes():
                return self._characters(scope, plain, id, own)
            case Nullable(inner):
                return self.form(scope, inner, id, own)
            case Struct():
                return self._structure(scope, plain)
            case Array():
                return self._array(scope, plain, id, own)
            case Select():
                return self._select(scope, plain, id)
            case _:
                raise CutError("a value that is not binary")

    def _number(self, scope: Scope, type: Integer | Float | Boolean) -> Keys:
        try:
            made = number(type, self.order)
        except UnsayableError as error:
            width = type.width if isinstance(type, Integer) else type.bits // 8 if isinstance(type, Float) else None
            if width is None:
                raise CutError(str(error)) from error
            self.tell("number", scope.site, str(error), "its bytes are kept as they are")
            return {"size": width}
        for name, keys in made.types.items():
            if name not in self.types:
                self.types[name] = keys
                self.names.free(name)
        return made.keys | ({"-value": made.value} if made.value else {})

    def _structure(self, scope: Scope, struct: Struct) -> Keys:
        if not struct.encoding.laid_out:
            message = f"{struct.name} is {struct.encoding.name}"
            self.tell("encoding", scope.site, message, "its bytes are kept as they are")
            return _rest(scope)
        return {"type": self._reference(scope, struct)}

    def _characters(self, scope: Scope, type: Text | Bytes, id: str, own: Keys) -> Keys:
        charset = "utf-8" if isinstance(type, Text) else type.charset
        keys: Keys = {"type": "str", "encoding": _CHARSETS.get(charset, charset.upper())} if charset else {}
        match type.size:
            case None:
                return keys | _rest(scope)
            case Prefix():
                length = self.prefix(scope, type.size, f"len_{id}", own)
                scope.lengths[id] = length
                return keys | {"size": length}
            case Padded(padded, fill):
                if len(fill) == 1:
                    return keys | {"size": padded, "pad-right": fill[0]}
                self.tell("pad", scope.site, "the padding has several bytes", "it stays in the value")
                return keys | {"size": padded}
            case Delimiter() as end:
                if not _has_terminator(end):
                    raise CutError("a delimiter of several bytes, or with an escape")
                ended: Keys = {"type": "strz"} if charset else {}
                byte: Keys = {"terminator": end.data[0]} if len(end.data) == 1 else {}
                return keys | ended | byte | ({"include": True} if end.kept else {})
            case Blocks() | Last() | Terminator():
                raise CutError("a value in blocks")
            case _:
                size = self._sayable(type.size, scope)
                scope.lengths[id] = str(size)
                return keys | {"size": size}

    def _sayable(self, expression: Expression, scope: Scope) -> str | int:
        """A size or count; raises CutError if Kaitai cannot express it."""
        try:
            text = self.text(expression, scope)
            return int(text) if text.isdigit() else text
        except UnsayableError as error:
            raise CutError(f"a size or a count that uses {error}") from error

    def prefix(self, scope: Scope, prefix: Prefix, name: str, own: Keys) -> str:
        """Add the attribute of a length or count before its value. If the value may be null, -1 means null."""
        form = self._number(scope, prefix.number)
        if "size" in form and "type" not in form:
            raise CutError("a length in a form that Kaitai cannot read")
        id = scope.own(name)
        self.put(scope, prefix.number, id, NO_NAME, if_of(own), form)
        if prefix.null:
            own["if"] = both(own.get("if"), f"{id} >= 0")
        return id

    # --- lists -------------------------------------------------------------------------------------------------------

    def _array(self, scope: Scope, array: Array, id: str, own: Keys) -> Keys:
        if array.unique is not None or array.held is not None:
            self.tell("check", scope.site, "the elements are checked", "they are not checked")
        if array.salvage is not None:
            self.tell("salvage", scope.site, "elements before a bad one are kept", "a bad element is an error")
        match array.count:
            case None if array.packed:  # leftover bits of the last byte are not elements
                bits = f"({scope.end or '_io.size'} - _io.pos) * 8"
                repeat: Keys = {"repeat": "expr", "repeat-expr": f"{bits} / {array.packed}"}
            case None if not scope.end:
                repeat = {"repeat": "eos"}
            case None:
                repeat = {"repeat": "until", "repeat-until": f"_io.pos >= {scope.end}"}
                some = f"_io.pos < {scope.end}"
                own["if"] = both(own.get("if"), some)
            case Prefix():
                repeat = {"repeat": "expr", "repeat-expr": self.prefix(scope, array.count, f"num_{id}", own)}
            case Last(holds):
                return self._until(scope, array, holds, id)
            case Terminator():
                return self._terminated(scope, array, array.count, id)
            case Blocks() | Delimiter() | Padded():
                raise CutError("a list in blocks")
            case _:
                repeat = {"repeat": "expr", "repeat-expr": self._sayable(array.count, scope)}
        return self._element(scope, array.element, id) | repeat

    def _element(self, scope: Scope, type: Type, id: str) -> Keys:
        """How an element is read: directly, or in a type of its own if it needs other attributes."""
        plain = self.plain(type)
        match plain:
            case Struct():
                simple = True
            case Select(tag):
                simple = isinstance(tag, FieldTag)
            case Text(size) | Bytes(size):
                simple = not isinstance(size, Prefix)
            case Integer() if plain.is_partial:
                keys = self._number(scope, plain)
                if keys.pop("-value", ""):
                    self.tell("number", scope.site, f"signed elements of {plain.bits} bits", "they are read unsigned")
                return keys
            case Integer() | Float() | Boolean():
                simple = "-value" not in self._number(scope, plain)
            case _:
                simple = False
        if not simple:
            return self.wrapped(scope, type, f"{id}_element", in_list=True)
        was, scope.in_list = scope.in_list, True
        try:
            return self.form(scope, plain, id, {})
        finally:
            scope.in_list = was

    def _until(self, scope: Scope, array: Array, holds: Expression, id: str) -> Keys:
        struct = self.plain(array.element)
        if not isinstance(struct, Struct):
            raise CutError("a list of other values than structs, whose last element is found by a condition")
        element = Element(scope, plain_ids(struct), self.format.ranges)
        try:
            last = self.text(holds, element)
        except UnsayableError as error:
            raise CutError(f"a list whose end uses {error}") from error
        return self._element(scope, array.element, id) | {"repeat": "until", "repeat-until": last}

    def _terminated(self, scope: Scope, array: Array, end: Terminator, id: str) -> Keys:
        """A list with a terminator: its items are elements, the terminator, or a pointer to the rest."""
        if end.behind is not None:
            raise CutError("a list that ends at certain bytes, or with its region")
        item, named = self.around(scope, array.element, f"{id}_item", in_list=True)
        value, octets = item.own("value"), len(end.data)
        item.instances |= {
            "ahead": {"pos": "_io.pos", "size": octets},
            "is_end": {"value": f"ahead == {literal(end.data)}"},
            "is_last": {"value": "is_end or is_jump" if end.jump else "is_end"},
        }
        item.seq.append({"id": "terminator", "size": octets, "if": "is_end"})
        repeat = {"repeat": "until", "repeat-until": "_.is_last"}
        if end.jump is not None:
            jump = self._number(scope, end.jump.number)["type"]
            bounds = f"ahead_number >= {end.jump.minimum} and ahead_number <= {end.jump.maximum}"
            item.instances |= {
                "ahead_number": {"pos": "_io.pos", "type": jump},
                "is_jump": {"value": f"not is_end and {bounds}"},
            }
            item.seq.append({"id": "jump", "type": jump, "if": "is_jump"})
            if item.params:
                raise CutError("a list with `jump`, whose elements use outer structs")
            rest = names.free(self.names, f"{item.id}s")
            self.types[rest] = {"seq": [{"id": "items", "type": named, **repeat}]}
            led = {"io": "_root._io", "pos": f"jump - {end.jump.start}", "type": rest, "if": "is_jump"}
            item.instances["rest"] = led
        self.put(item, array.element, value, NO_NAME, {"if": "not is_last"})
        self.types[item.id] = item.made()
        elsewhere = end.jump is not None
        message = "the list ends at certain bytes" + (", or continues elsewhere" if elsewhere else "")
        instead = "an item is an element, or the end" + (", or a pointer to the rest" if elsewhere else "")
        self.tell("list", scope.site, message, instead)
        return {"type": named, **repeat}

    # --- choices -----------------------------------------------------------------------------------------------------

    def _select(self, scope: Scope, select: Select, id: str) -> Keys:
        case_key: Callable[[Any], str | int] = constant
        match select.tag:
            case FieldTag(expression):
                try:
                    tag, case_key = self._tag(folded(expression, self.values), scope)
                except UnsayableError as error:
                    raise CutError(f"a choice that uses {error}") from error
            case PeekTag(type, octets):
                if octets or type.width is None or not type.is_plain:
                    raise CutError("a choice by the next bytes, in a form that Kaitai cannot read ahead")
                tag = scope.own(f"{id}_ahead")
                scope.instances[tag] = {"pos": "_io.pos", **self._number(scope, type)}
            case MemberTag():
                raise CutError("a choice by a member")
            case _:
                assert_never(select.tag)
        cases: dict[str | int, str] = {}
        for case in select.cases:
            made = self._case(scope, case, id)
            cases |= {case_key(value): made for value in case.values} if case.values else {"_": made}
        return {"type": {"switch-on": tag, "cases": cases | {"_": cases.pop("_", None) or self.refusal()}}}

    def _tag(self, expression: Expression, scope: Scope) -> tuple[str, Callable[[Any], str | int]]:
        if isinstance(expression, FieldRef):
            seen = scope.field(expression)
            if seen.words and not seen.guard:
                return seen.text, lambda value: _only(seen, value)
            if seen.charset and not seen.guard:
                return seen.text, lambda value: literal(in_charset(value, seen.charset).value)
        text = bare(translated(expression, scope))
        if isinstance(expression, FieldRef) and expression.kind is Kind.BOOLEAN:
            return f"{text} ? 1 : 0", int
        return text, constant

    def _case(self, scope: Scope, case: Case, id: str) -> str:
        if isinstance(case.type, Refusal):
            return self.refusal()
        plain = self.plain(case.type)
        if isinstance(plain, Struct) and plain.encoding.laid_out:
            return self._reference(scope, plain)
        return str(self.wrapped(scope, case.type, f"{id}_case")["type"])

    def ends_early(self, type: Type) -> bool:
        """Whether a value may be a struct that ends early."""
        plain = self.plain(type)
        match plain:
            case Struct(name):
                return name in self.cut
            case Select(cases=cases):
                return any(not isinstance(each.type, Refusal) and self.ends_early(each.type) for each in cases)
            case Array(element):
                return self.ends_early(element)
            case _:
                return False


def constant(value: Scalar) -> str | int:
    """A constant for YAML: a number, or the text of a literal."""
    text = literal(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else text


def _only(seen: Seen, value: Any) -> str:  # noqa: ANN401 - a value of a case
    found = (seen.words or {}).get(value, ())
    if len(found) != 1:
        raise UnsayableError("a word of several numbers")
    return found[0]


def if_of(own: Keys) -> Keys:
    """The `if` key of an attribute, for another attribute that belongs to it."""
    return {"if": own["if"]} if "if" in own else {}


def both(one: str | None, other: str) -> str:
    """Both conditions; the first may be missing."""
    return f"({one}) and {other}" if one else other


def _called(id: str, arguments: list[str]) -> str:
    return f"{id}({', '.join(arguments)})" if arguments else id


def _rest(scope: Scope) -> Keys:
    """All bytes up to the end."""
    return {"size": f"{scope.end} - _io.pos"} if scope.end else {"size-eos": True}


def _has_terminator(end: Delimiter) -> bool:
    if end.escape is not None or end.others:
        return False
    return len(end.data) == 1 or (end.data == b"\0\0" and end.unit == len(end.data))


def field_ids(struct: Struct) -> dict[str, str]:
    """The identifiers of the fields and bits of a struct."""
    taken = Names()
    found: dict[str, str] = {}
    for each in struct.fields:
        found[each.wire_name] = names.free(taken, f"bits_of_{each.bits[0].name}" if each.shared else each.wire_name)
        found |= {bit.name: names.free(taken, bit.name) for bit in each.bits}
    return found


def plain_ids(struct: Struct) -> dict[str, str]:
    """The identifiers of fields that are always present and whose value has no other meaning."""
    ids = field_ids(struct)
    certain = [each for each in struct.fields if presence_condition(each, struct) is None]
    own = [each.wire_name for each in certain if each.mappings is None]
    bits = [bit.name for each in certain for bit in each.bits if bit.mappings is None]
    return {name: ids[name] for name in (*own, *bits)}
