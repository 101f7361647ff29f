"""The types of structs: their fields in order, and their steps.

Kaitai reads a `seq` in order, but an instance only when something uses it. So a value that depends on the position is
an instance, and an empty attribute in the `seq` uses it at the right position (marks, `here`). A check is an empty
attribute, too, with the rule in its `valid`.
"""

from dataclasses import replace
from typing import assert_never

from wireloom.emit import frames
from wireloom.exporting.kaitai import names
from wireloom.exporting.kaitai.expressions import Seen, UnsayableError, in_charset, literal, quoted, strict, translated
from wireloom.exporting.kaitai.folding import FALSE, TRUE, Values, folded
from wireloom.exporting.kaitai.forms import CutError, Forms, both, constant, field_ids, if_of
from wireloom.exporting.kaitai.scopes import NO_NAME, Keys, Scope, called
from wireloom.exporting.values import Names
from wireloom.expr.ast import Binary, Expression, FieldRef, Kind, Literal, Position, integer_of, references
from wireloom.expr.types import kind as expression_kind
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import fields
from wireloom.model.traversal import references as named_types
from wireloom.model.types import (
    Array,
    Bit,
    Blocks,
    Boolean,
    Bytes,
    Check,
    Delimiter,
    Discard,
    End,
    Field,
    Float,
    Frame,
    Integer,
    Last,
    Mapping,
    Mark,
    Need,
    Packing,
    Padded,
    Prefix,
    Reference,
    Scalar,
    Select,
    Step,
    Struct,
    Terminator,
    Text,
    Type,
    Verify,
    charset_of,
    not_null,
)
from wireloom.runtime.columns.logical import Encoded, Named
from wireloom.spec.places import Site

_MEANINGS = {
    "timestamp": "a time",
    "date": "a date",
    "duration": "a duration",
    "decimal": "a decimal",
    "integer": "another number",
    "uuid": "a UUID",
    "ipv4": "an address",
    "ipv6": "an address",
    "mac": "an address",
}
_NOWHERE = Scope("", None, (), Site())
_NO_CODEC, _ZLIB = "none", "zlib"


class Structs(Forms):
    """The types and enumerations of a format."""

    def __init__(self, format: Format, values: Values, root: str, cut: frozenset[str]) -> None:
        super().__init__(format, values, root, cut)
        self.enums: dict[str, dict[Scalar, str | Keys]] = {}
        self.tables: dict[tuple[tuple[Scalar, str], ...], str] = {}
        self.enum_names = Names()
        self.found_cut: set[str] = set()
        self.regional = _regional(format)

    def described(self, type: Type, id: str) -> Keys:
        """The description's main type, for a record. Adds all types that it needs."""
        plain = self.plain(type)
        if isinstance(plain, Struct) and plain.encoding.laid_out:
            self.struct_ids[plain.name] = id
            made = self._struct(plain, at_start=plain.name not in _used(self.format))
        else:
            scope = Scope(id, None, self.format.ranges, Site(type.name if isinstance(type, Reference) else ""))
            self.put(scope, type, scope.own("record"), NO_NAME, {})
            made = scope.made()
        while self.waiting:
            name = self.waiting.pop(0)
            struct = self.format.named[name]
            assert isinstance(struct, Struct)  # noqa: S101 - nothing else waits
            self.types[self.struct_ids[name]] = self._struct(struct, at_start=name in self.regional)
        return made

    def _struct(self, struct: Struct, *, at_start: bool) -> Keys:
        scope = Scope(self.struct_ids[struct.name], struct, self.format.ranges, Site(struct.name), at_start=at_start)
        scope.ids, scope.within = field_ids(struct), self._within
        scope.taken = Names((*scope.ids.values(), "begin"))
        scope.take(self.needs.of_structs[struct.name])
        scope.instances["begin"] = {"value": "_io.pos"}
        scope.seq.append({"id": scope.own("at_begin"), "-at": "begin", "size": 0, "if": "begin >= 0"})
        scope.jumps = _jumps(struct)
        try:
            for place, step in enumerate(struct.steps):
                self._step(scope, step, struct, is_last=not any(_reads(each) for each in struct.steps[place + 1 :]))
        except CutError as error:
            self.found_cut.add(struct.name)
            if str(error):
                self.tell("cut", scope.site, str(error), f"{struct.name} is not read from here on")
        return scope.made(" ".join(struct.doc.split()))

    # --- steps -------------------------------------------------------------------------------------------------------

    def _step(self, scope: Scope, step: Step, struct: Struct, *, is_last: bool) -> None:
        match step:
            case Field():
                scope.site = Site(struct.name, step.bits[0].name if step.shared else step.wire_name)
                self._field(scope, step, struct, is_last=is_last)
            case Check(that, code, field, when, doc):
                scope.site = Site(struct.name, field)
                self._check(scope, that, when, f"{code}: {' '.join(doc.split())}" if doc else code)
            case Mark(name):
                id = scope.marks[name] = scope.own(name)
                self._here(scope, id, {"value": "_io.pos"}, mark=True)
            case Frame(amount):
                id = scope.own("frame_end")
                try:
                    length = translated(folded(amount, self.values), scope)
                except UnsayableError as error:
                    self.tell("frame", scope.site, f"a `frame` that uses {error}", "the record ends with its stream")
                    return
                start = scope.start()
                self._here(scope, id, {"value": length if start == "0" else f"{start} + {length}"})
                scope.end = id
            case End(code):
                self._rule(scope, f"_io.pos == {scope.end}" if scope.end else "_io.eof", code, {})
            case Verify(field):
                self.tell("checksum", Site(struct.name, field), "a checksum", "it is read, and not verified")
            case Discard(field):
                self.tell("discard", Site(struct.name, field), "the list is emptied on a condition", "the list is kept")
            case Need():
                pass  # a record that is too short fails anyway
            case _:
                assert_never(step)

    def _here(self, scope: Scope, id: str, instance: Keys, *, mark: bool = False) -> None:
        """Add an instance, and an empty attribute that uses it at this position."""
        scope.instances[id] = instance
        look: Keys = {"id": scope.own(f"at_{id}"), "size": 0, "if": f"{id} == {id}"}
        scope.seq.append(look | ({"-at": id} if mark else {}))

    def _check(self, scope: Scope, that: Expression, when: Expression | None, code: str) -> None:
        scope.assumed = ""
        rule, condition = folded(that, self.values), None if when is None else folded(when, self.values)
        if rule == TRUE or condition == FALSE:
            return
        try:
            guard = {} if condition is None or condition == TRUE else {"if": self.text(condition, scope)}
            scope.assumed = guard.get("if", "")
            self._rule(scope, self.text(rule, scope), code, guard)
        except UnsayableError as error:
            self.tell("check", scope.site, f"a check ({code.partition(':')[0]}) that uses {error}", "it is not checked")

    def _rule(self, scope: Scope, rule: str, code: str, own: Keys) -> None:
        id = scope.own(f"check_{code.partition(':')[0]}")
        scope.seq.append({"id": id, "doc": code, "size": 0, "valid": {"expr": rule}, **own})

    # --- fields ------------------------------------------------------------------------------------------------------

    def _field(self, scope: Scope, field: Field, struct: Struct, *, is_last: bool) -> None:
        name, id, scope.assumed = field.wire_name, scope.ids[field.wire_name], ""
        condition = presence_condition(field, struct)
        condition = None if condition is None else folded(condition, self.values)
        for each in (name, *(bit.name for bit in field.bits)):
            scope.lost[each] = ""
        if condition == FALSE:
            return
        own: Keys = {"doc": doc} if (doc := frames.described(field.doc, field.unit)) else {}
        if condition is not None and condition != TRUE:
            try:
                own["if"] = self.text(condition, scope)
            except UnsayableError as error:
                self._lose(scope, field, "has a condition that Kaitai cannot express")
                if not field.on_wire:
                    return
                raise CutError(f"a condition that uses {error}") from error
        scope.assumed = own.get("if", "")
        if field.compute is not None:
            self._computed(scope, field, id, own)
        elif field.counted:
            self._lose(scope, field, "counts elements that are left out")
            self.tell("discard", scope.site, "it counts elements that are left out", "it is left out")
        else:
            try:
                self._read(scope, field, id, own, is_last=is_last)
            except (CutError, UnsayableError) as error:
                self._lose(scope, field, "is not described")
                raise error if isinstance(error, CutError) else CutError(str(error)) from error

    def _lose(self, scope: Scope, field: Field, why: str) -> None:
        for each in (field.wire_name, *(bit.name for bit in field.bits)):
            scope.lost[each] = why

    def _find(self, scope: Scope, name: str, seen: Seen) -> None:
        scope.lost.pop(name, None)
        scope.seen[name] = seen

    def _computed(self, scope: Scope, field: Field, id: str, own: Keys) -> None:
        assert field.compute is not None  # noqa: S101
        expression = folded(field.compute, self.values)
        try:
            value = self.text(expression, scope)
            for each in strict(expression, scope):
                own["if"] = both(own.get("if"), each)
        except UnsayableError as error:
            self._lose(scope, field, "is not described")
            self.tell("compute", scope.site, f"a computed value that uses {error}", "it is left out")
            return
        if isinstance(field.type, Float) and expression_kind(expression) is Kind.INTEGER:
            value = f"({value}) * 1.0"
        named = called(id, field.wire_name)
        here = any(isinstance(each, Position) for each in references(expression))
        self._tell_meaning(scope, field)
        table = {} if field.mappings is None else self._words(scope, field.mappings, field.wire_name, own)
        instance = {**named, "value": value, **own, **table}
        if here and "if" not in own:
            self._here(scope, id, instance)
        else:
            scope.instances[id] = instance
        self._seen(scope, field.wire_name, id, own, field.mappings)

    def _read(self, scope: Scope, field: Field, id: str, own: Keys, *, is_last: bool) -> None:
        """Add a field that has bytes."""
        name = field.wire_name
        if field.checksum is not None or field.refers is not None:
            self.tell("checksum", scope.site, "a checksum", "it is read, and not verified")
        self._tell_meaning(scope, field)
        apart = bool(field.base) or (field.at is not None and scope.jumps)
        if scope.jumps and field.at is None:
            raise CutError("a field after fields at offsets that are not in order")
        if not apart:
            self._skip(scope, field)
        form = self._region(scope, field, id, own, is_last=is_last, apart=apart)
        computed = "-value" in form
        if field.mappings is not None and not _same(field.mappings) and (meant := self._meant(field.mappings)):
            form["-value"] = meant.replace("{raw}", f"({form['-value']})") if computed else meant
            valid = {"valid": {"any-of": [constant(each.wire) for each in field.mappings]}}
            form |= {} if computed else valid
            field = replace(field, mappings=None)
        try:
            own = self._constraints(scope, field, own, computed=computed)
        except UnsayableError as error:
            self.tell("check", scope.site, f"a check that uses {error}", "it is not checked")
        original = name if not field.shared else NO_NAME
        if apart:
            self._elsewhere(scope, field, id, form, own)
        else:
            self.put(scope, field.type, id, original, own, form)
        plain = not_null(self.plain(field.type))
        if isinstance(plain, Array) and plain.packed:  # reading zero bytes skips the leftover bits of the last byte
            scope.seq.append({"id": scope.own(f"after_{id}"), "size": 0})
        if isinstance(plain, Struct) and plain.encoding.laid_out:
            scope.holders[name] = plain.name
        if isinstance(plain, Select) or (isinstance(plain, Array) and isinstance(plain.count, Terminator)):
            scope.choices.add(name)
        self._seen(scope, name, id, own, field.mappings, charset_of(plain))
        if field.meaning is not None and isinstance(field.meaning.shown, Named):
            scope.seen[name] = replace(scope.seen[name], may_lack=True)
        for bit in field.bits:
            self._bit(scope, bit, id, own)
        if self.ends_early(field.type) and "size" not in form:
            raise CutError

    def _seen(  # noqa: PLR0913 - what is said of the field
        self, scope: Scope, name: str, id: str, own: Keys, mappings: tuple[Mapping, ...] | None, charset: str = ""
    ) -> None:
        guard = f"({own['if']})" if "if" in own else ""
        words = None if mappings is None else self._words_of(mappings, own, charset)
        if words is None:
            self._find(scope, name, Seen(id, guard, charset))
            return

        def spelled() -> str:
            known = f"{id}_word"
            if known not in scope.instances:
                text = '""'
                for word, values in reversed(list(words.items())):
                    either = " or ".join(f"{id} == {each}" for each in values)
                    text = f"({either} ? {quoted(word)} : {text})"
                scope.instances[known] = {"value": text}
            return known

        self._find(scope, name, Seen(id, guard, "", words, spelled, may_lack=len(words) < len(mappings or ())))

    def _words_of(self, mappings: tuple[Mapping, ...], own: Keys, charset: str) -> dict[str, tuple[str, ...]] | None:
        """The values that each word stands for; None if the table has no words."""
        table = self._table(mappings)
        if table is None:
            return None
        found: dict[str, tuple[str, ...]] = {}
        enum = own.get("enum")
        for wire, word in table:
            value = translated(in_charset(wire, charset), _NOWHERE) if charset else literal(wire)
            if enum is not None:
                entry = self.enums[enum][wire]
                value = f"{enum}::{entry if isinstance(entry, str) else entry['id']}"
            found[word] = (*found.get(word, ()), value)
        return found

    def _meant(self, mappings: tuple[Mapping, ...]) -> str:
        """The expression for the value that readers see, if it is a number or a boolean; otherwise empty."""
        pairs = [(each.wire, folded(each.value, self.values)) for each in mappings]
        if not all(isinstance(found, Literal) and isinstance(found.value, int) for _, found in pairs):
            return ""
        *others, last = [(literal(wire), translated(found, _NOWHERE)) for wire, found in pairs]
        return "".join(f"{{raw}} == {wire} ? {value} : " for wire, value in others) + last[1]

    def _table(self, mappings: tuple[Mapping, ...]) -> tuple[tuple[Scalar, str], ...] | None:
        """The values and their words; None if values do not mean words."""
        pairs = [(each.wire, folded(each.value, self.values)) for each in mappings]
        words = [(wire, found.value) for wire, found in pairs if isinstance(found, Literal) and found.value is not None]
        texts = tuple((wire, word) for wire, word in words if isinstance(word, str))
        others = sum(found != Literal(None) for _, found in pairs)
        return texts if texts and len(texts) == others else None

    def _words(self, scope: Scope, mappings: tuple[Mapping, ...], name: str, own: Keys) -> Keys:
        """The enumeration of a number with words; also adds it to `own`."""
        table = self._table(mappings)
        if table is None:
            if not _same(mappings):
                self.tell("values", scope.site, "its values stand for other values", "it has the value on the wire")
            return {}
        if not all(isinstance(wire, int) and not isinstance(wire, bool) for wire, _ in table):
            if any(wire != word for wire, word in table):
                self.tell("values", scope.site, "its texts stand for other words", "it has the text on the wire")
            return {}
        if table not in self.tables:
            enum = self.tables[table] = names.free(self.enum_names, name)
            taken = Names()
            ids = [(wire, word, names.free(taken, word)) for wire, word in table]
            self.enums[enum] = {
                wire: found if found == word else {"id": found, "-orig-id": word} for wire, word, found in ids
            }
        own["enum"] = self.tables[table]
        return {"enum": self.tables[table]}

    # --- constraints ----------------------------------------------------------------------------------------------

    def _tell_meaning(self, scope: Scope, field: Field) -> None:
        shown = None if field.meaning is None else field.meaning.shown
        if shown is None or isinstance(shown, Named | Encoded):
            return
        message = f"readers see {_MEANINGS[getattr(shown, 'kind', 'integer')]}"
        self.tell("meaning", scope.site, message, "it has the value on the wire")

    def _constraints(self, scope: Scope, field: Field, own: Keys, *, computed: bool) -> Keys:
        """The keys of constants, ranges and words; notes what Kaitai does not check."""
        own = dict(own)
        valid: Keys = {}
        charset = charset_of(self.plain(field.type))

        def stated(value: Scalar) -> str | int:
            return constant(in_charset(value, charset).value if charset else value)

        if field.mappings is not None:
            self._words(scope, field.mappings, field.wire_name, own)
            if field.meaning is None or not isinstance(field.meaning.shown, Named):
                wires = [stated(each.wire) for each in field.mappings]
                valid = {"any-of": wires} if "enum" not in own else {"in-enum": True}
                if "enum" in own and len(self.enums[own["enum"]]) < len(wires):
                    valid = {"expr": " or ".join(f"_.to_i == {each}" for each in wires)}
        if field.const is not None:
            valid = {"eq": stated(field.const)}
        for key, value in (("min", field.minimum), ("max", field.maximum)):
            if value is not None and "eq" not in valid:
                valid[key] = value
        if field.spelling is not None:
            least, most = field.spelling.minimum, field.spelling.maximum
            rules = [f"_.length >= {least}"] if least is not None else []
            rules += [f"_.length <= {most}"] if most is not None else []
            if rules and not valid:
                valid = {"expr": " and ".join(rules)}
            if field.spelling.pattern:
                self.tell("pattern", scope.site, "a pattern of the text", "it is not checked")
        if valid and isinstance(self.plain(field.type), Array | Struct | Select):
            valid = {}
        if valid and computed:
            self.tell("check", scope.site, "the values of a computed number", "they are not checked")
            valid = {}
        return own | ({"valid": valid} if valid else {})

    def _bit(self, scope: Scope, bit: Bit, id: str, own: Keys) -> None:
        """Bits of a number, as an instance."""
        name = scope.ids[bit.name]
        number = f"({id} >> {bit.low})" if bit.low else id
        value = f"{number} & {(1 << bit.width) - 1}"
        flag = bit.flag or (bit.width == 1 and any(isinstance(each.wire, bool) for each in bit.mappings or ()))
        if flag:
            value = f"({value}) != 0"
        elif bit.signed:
            limit = 1 << bit.width
            value = f"({value}) >= {limit >> 1} ? ({value}) - {limit} : ({value})"
        keys = called(name, bit.name)
        if doc := frames.described(bit.doc, bit.unit):
            keys["doc"] = doc
        mine = if_of(own)
        if bit.mappings is not None and not flag:
            self._words(scope, bit.mappings, bit.name, mine)
        scope.instances[name] = {**keys, "value": value, **mine}
        self._seen(scope, bit.name, name, mine, bit.mappings if not flag else None)
        if bit.mappings is None or (bit.meaning is not None and isinstance(bit.meaning.shown, Named)):
            return
        known = {each.wire for each in bit.mappings}
        if len(known) < 1 << bit.width:
            text = f"{name}.to_i" if "enum" in mine else name
            rule = " or ".join(f"{text} == {literal(each.wire)}" for each in bit.mappings)
            self._rule(scope, rule, bit.code, if_of(own))

    # --- offsets and regions --------------------------------------------------------------------------------------

    def _skip(self, scope: Scope, field: Field) -> None:
        """Add an attribute that skips the bytes before a field at an offset."""
        if field.at is not None:
            id = scope.own(f"before_{scope.ids[field.wire_name]}")
            scope.seq.append({"id": id, "size": f"{self._offset(scope, field)} - _io.pos"})

    def _offset(self, scope: Scope, field: Field) -> str:
        """The offset of a field in its stream; raises UnsayableError."""
        assert field.at is not None  # noqa: S101 - who calls has looked
        at = folded(field.at, self.values)
        if field.base:
            if field.base not in scope.marks:
                raise UnsayableError("a mark of an outer struct")
            base = scope.marks[field.base]
            scope.used.add(base)
        else:
            base = (scope.end or "_io.size") if (integer_of(at) or 0) < 0 else scope.start()
        place = translated(at, scope)
        return place if base == "0" else f"{base} + {place}"

    def _elsewhere(self, scope: Scope, field: Field, id: str, form: Keys, own: Keys) -> None:
        """Add a field that is not read in the order of the `seq`, as an instance with its offset."""
        keys = dict(form)
        value = keys.pop("-value", "")
        own = {key: each for key, each in own.items() if not (value and key == "valid")}
        try:
            place = {"pos": self._offset(scope, field)}
        except UnsayableError as error:
            self._lose(scope, field, "is not described")
            self.tell("offset", scope.site, f"an offset that uses {error}", "it is left out")
            return
        named = called(id, field.wire_name)
        if value:
            raw = scope.own(f"{id}_raw")
            scope.instances[raw] = {**place, **keys, **if_of(own)}
            scope.instances[id] = {**named, "value": value.format(raw=raw), **own}
        else:
            scope.instances[id] = {**named, **place, **keys, **own}

    def _region(  # noqa: PLR0913 - how the field stands in the struct
        self, scope: Scope, field: Field, id: str, own: Keys, *, is_last: bool, apart: bool
    ) -> Keys:
        """How a field is read within its region. If it is read `apart`, as an instance, no attribute may precede it."""
        if field.size is None:
            plain = self.plain(field.type)
            if apart and not isinstance(plain, Struct | Integer | Float | Boolean):
                return self.wrapped(scope, field.type, f"{id}_apart")
            form = self.form(scope, field.type, id, own)
            if scope.end and is_last and isinstance(plain, Struct | Select) and "type" in form:
                form["size"] = f"{scope.end} - _io.pos"
            return form
        match field.size:
            case Prefix() if apart:
                raise CutError("a region at an offset, with its length before it")
            case Prefix():
                size: str | int = self.prefix(scope, field.size, f"len_{id}", own)
            case Blocks() | Delimiter() | Padded() | Last() | Terminator():
                raise CutError("a region in blocks")
            case _:
                size = self._sayable(field.size, scope)
        if field.packing is not None:
            return self._packed(scope, field, field.packing, id, own, str(size))
        return self._sized(scope, field.type, id) | {"size": size}

    def _sized(self, scope: Scope, type: Type, id: str) -> Keys:
        """A type that fills a region."""
        plain = self.plain(type)
        match plain:
            case Struct() | Select():
                form = self.form(scope, plain, id, {})
            case Text(None) | Bytes(None):
                form = self.form(scope, plain, id, {})
            case _:
                form = self.wrapped(scope, type, f"{id}_region")
        return {key: each for key, each in form.items() if key != "size-eos"}

    def _packed(  # noqa: PLR0913 - the field, and what is known of it
        self, scope: Scope, field: Field, packing: Packing, id: str, own: Keys, size: str
    ) -> Keys:
        """A compressed region: Kaitai unpacks only zlib. If a tag can say that it is not compressed, that is read."""
        plain_values = [value for values, codec in packing.cases if codec == _NO_CODEC for value in values]
        codecs = {codec for _, codec in packing.cases if codec != _NO_CODEC}
        if packing.tag is None and codecs == {_ZLIB}:
            return self.wrapped(scope, field.type, f"{id}_unpacked") | {"size": size, "process": _ZLIB}
        codes = ", ".join(sorted(codecs))
        if packing.tag is None or not plain_values:
            self.tell("codec", scope.site, f"it is compressed ({codes})", "its bytes are kept as they are")
            return {"size": size}
        try:
            tag = folded(packing.tag, self.values)
            either = [translated(_equal(tag, each), scope) for each in plain_values]
        except UnsayableError as error:
            raise CutError(f"a choice of a codec that uses {error}") from error
        condition = f"({' or '.join(either)})"
        self.tell("codec", scope.site, f"it may be compressed ({codes})", f"compressed bytes are kept, in {id}_packed")
        packed = both(own.get("if"), f"(not {condition})")
        scope.seq.append({"id": scope.own(f"{id}_packed"), "size": size, "if": packed})
        own["if"] = both(own.get("if"), condition)
        return self._sized(scope, field.type, id) | {"size": size}

    # --- fields of inner structs ----------------------------------------------------------------------------------

    def _within(self, scope: Scope, reference: FieldRef) -> Seen:
        """A field of an inner struct, by its path or flattened."""
        first, *members = (reference.name, *reference.members)
        if first in scope.holders:
            return self._inner(scope, first, members or [first])
        for holder in scope.holders:
            if first in field_ids(self._inner_struct(scope.holders[holder])):
                return self._inner(scope, holder, [first, *members])
        raise UnsayableError(f"{first}, which is read later, or in a choice")

    def _inner_struct(self, name: str) -> Struct:
        struct = self.format.named[name]
        assert isinstance(struct, Struct)  # noqa: S101 - holders are structs
        return struct

    def _inner(self, scope: Scope, holder: str, path: list[str]) -> Seen:
        seen, name = scope.seen[holder], scope.holders[holder]
        text, charset = seen.text, ""
        for part in path:
            struct = self._inner_struct(name)
            field = next((each for each in struct.fields if each.wire_name == part), None)
            if part not in field_ids(struct):
                raise UnsayableError(f"{part} of an inner struct")
            if field is None or presence_condition(field, struct) is not None or field.mappings is not None:
                raise UnsayableError(f"{part} of an inner struct, which may be missing or has words")
            text = f"{text}.{field_ids(struct)[part]}"
            inner = self.plain(field.type)
            charset = charset_of(inner)
            name = inner.name if isinstance(inner, Struct) else name
        return replace(seen, text=text, charset=charset)


def _same(mappings: tuple[Mapping, ...]) -> bool:
    """Whether a table only lists the allowed values."""
    return all(each.value == Literal(each.wire) for each in mappings if not isinstance(each.wire, float))


def _equal(tag: Expression, value: Scalar) -> Expression:
    return Binary("==", tag, Literal(value if isinstance(value, int | bool | str | bytes) else None))


def _jumps(struct: Struct) -> bool:
    """Whether fields at offsets are not in the order of their offsets."""
    places = [integer_of(each.at) for each in struct.fields if each.at is not None and not each.base]
    known = [place if place >= 0 else (1 << 63) + place for place in places if place is not None]
    return known != sorted(known)


def _reads(step: Step) -> bool:
    return isinstance(step, Field) and step.on_wire and not step.base


def _used(format: Format) -> set[str]:
    """The names of types that fields use."""
    return {name for field in fields(format) for name in named_types(field.type)}


def _regional(format: Format) -> frozenset[str]:
    """The structs that are at the start of a region in every use."""
    found: dict[str, bool] = {}

    def note(type: Type, *, at_start: bool, seen: frozenset[str]) -> None:
        match type:
            case Reference(name):
                inner = format.named[name]
                if isinstance(inner, Struct):
                    found[name] = found.get(name, True) and at_start
                elif name not in seen:
                    note(inner, at_start=at_start, seen=seen | {name})
            case Array(element):
                note(element, at_start=False, seen=seen)
            case _:
                for name in named_types(type):
                    note(Reference(name), at_start=at_start and not isinstance(type, Struct), seen=seen)

    for field in fields(format):
        if field.on_wire:
            note(field.type, at_start=field.size is not None, seen=frozenset())
    for root in format.roots:
        note(root.type, at_start=not root.elements, seen=frozenset())
    return frozenset(name for name, at_start in found.items() if at_start)
