"""Fields: constants, derived values, bits, mappings, checksums, or simply the value of the column.

`field` writes each field; if its value depends on positions (a length, an offset), it reserves bytes and returns a
`Placed`. `settle` fills these in after the struct is written: derived values first, then checksums, inner ones before
outer ones.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import (
    ALWAYS,
    MD5,
    held_width,
    is_computed,
    member,
    needs,
    number_form,
    word_of,
)
from wireloom.runtime.engine.compiler.switches import has_beyond, hashed
from wireloom.runtime.engine.encoder.members import in_order
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Item, Node, Placed, Scope, UnsettledError
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import KINDS, Code, Compiled, Constant, Term, Tree
from wireloom.runtime.primitives.packing import NAMES
from wireloom.runtime.values import FILLED

_CHECKSUM = 8  # the words of a checksum in the table
_TOGETHER, _AT_ONCE = -1, -2  # an MD5: computed together with those of other records, or at once
_WORD = 64


class Fields(Part):
    """Writes a field of a struct that is present."""

    def field(self, item: Item) -> list[Placed]:
        """Write a field; reserve bytes for a value that depends on positions."""
        if not isinstance(item.field.size, nodes.Prefix):
            with self.compiler.certainty.region(item):
                return self._packed_region(item)
        placed: list[Placed] = []
        self.compiler.binary.region(item.field.size, lambda: placed.extend(self._packed_region(item)))
        if any(each.item.field.checksum is not None for each in placed):
            raise Uncovered("a checksum in a field whose `size` is the type of a number")
        if placed:
            raise UnsettledError(item.scope.struct)
        return placed

    def _packed_region(self, item: Item) -> list[Placed]:
        """Write a field, and compress its region if the format says so."""
        if item.field.packing is None:
            return self._written(item)
        tag, cases = item.field.packing.tag, item.field.packing.cases
        codec, register = NAMES.index(cases[0][1]), None
        if tag is not None:
            compiled = self.expressions.compiled(tag, item.scope)
            if item.scope.is_assumed(tag):
                raise Uncovered("a choice by a value computed from offsets")
            codec, register = self._codec(compiled, cases)
        start = self.assembly.register("int").read()
        self.assembly.emit("PROTO_SEGMENT", start)
        placed = self._written(item)
        self.assembly.emit("PACKED", start, codec, register)
        return placed

    def _codec(self, tag: Compiled, cases: Sequence[Any]) -> tuple[int, Register | None]:
        """The index of the codec that a tag selects, or the register with it."""
        found = {value: NAMES.index(codec) for values, codec in cases for value in values}
        if isinstance(tag, Constant):
            if tag.value not in found:
                raise Uncovered("an `unpack` tag without a codec")
            return found[tag.value], None
        if any(wire is not None and Constant(wire).kind != tag.kind for wire in found):
            raise Uncovered("a choice whose cases have another type than the tag")
        value = self.assembly.register(tag.kind).read()
        self.compiler.compute(tag, value)
        return 0, self._looked_up(value, [(codec, wire) for wire, codec in found.items()])

    def _written(self, item: Item) -> list[Placed]:
        field, node = item.field, self.compiler.reader.resolved(item.type)
        if field.const is not None:
            self._constant(field.const, node, item.scope)
        elif field.checksum is not None or item.scope.waits(field.derive):
            return [self._held(item, node)]
        elif _is_late(field, item.scope):
            self._settled(item, node)
        elif item.field.bits and isinstance(node, nodes.Int):
            self._packed(item, node)
        elif field.flatten:
            self.compiler.records.members(node, item.scope, item.scope.record, None)
        elif field.values is not None:
            self._mapped(item, node)
        elif (filler := _filler(field, node)) is not None:
            self._fill(filler, node, item.scope)
        elif field.derive is not None:
            self._derived(item, node)
        else:
            self.compiler.value(node, item.scope, item.column)
        return []

    def _settled(self, item: Item, node: Node) -> None:
        """Write a value that depends on positions, from those that passes assume."""
        if not isinstance(node, nodes.Int | nodes.Bool):
            raise Uncovered(f"a {word_of(node)} computed from offsets")
        if item.field.bits and isinstance(node, nodes.Int):
            self._packed(item, node)
        elif item.field.values is not None:
            self._mapped(item, node)
        else:
            self._derived(item, node)

    def _derived(self, item: Item, node: Node) -> None:
        """Write a derived integer or boolean."""
        register = self._known(item.name, item.scope) or self.derived(item.field.derived, item.scope)
        if isinstance(node, nodes.Bool) and register.kind == "bool" and item.scope.encoding == "binary":
            self.assembly.emit("PUT", register, 1, False, True)  # noqa: FBT003 - operands
        else:
            self._number(register, node, item.scope)

    def derived(self, tree: Tree, scope: Scope) -> Register:
        """A register with a derived value, computed at this point."""
        compiled = self.expressions.compiled(tree, scope)
        match compiled:
            case Code("int" | "bool" as kind, Term("LOAD", _, Register(kind=same) as register)) if same == kind:
                return register.read()
            case _:
                register = self.assembly.register(compiled.kind).read()
                self.compiler.compute(compiled, register)
                return register

    def _known(self, name: str, scope: Scope) -> Register | None:
        """The register of a derived value that is known since the start of the struct."""
        found = scope.names.get(name)
        if scope.in_passes or name in scope.pending or name in scope.following or found is None:
            return None
        return found.read() if found.kind in ("int", "bool") else None

    def _constant(self, const: Any, node: Node, scope: Scope) -> None:
        self.compiler.encodings[scope.encoding].constant(const, node)

    def _fill(self, filler: bytes | str | float, node: Node, scope: Scope) -> None:
        """Write the filler of a hidden field; if its size is computed, fill up to that size."""
        size = node.size if isinstance(node, nodes.Bytes) and scope.encoding == "binary" else None
        if not is_computed(size):
            self._constant(filler, node, scope)
            return
        count = self.expressions.number(self.compiler.structs.from_here(size, scope), scope)
        self.assembly.emit("FILL", self.expressions.place(count), FILLED)

    def _number(self, register: Register, node: Node, scope: Scope) -> None:
        """Write the integer in a register."""
        if register.kind not in ("int", "bool", "list") or not isinstance(node, nodes.Int):
            raise Uncovered(f"a derived value of type {word_of(node)}")
        if register.kind == "bool":
            self.compiler.fail()  # a boolean is not an integer
        else:
            self.compiler.encodings[scope.encoding].number(register, node)

    # --- bits and mappings -----------------------------------------------------------------------------------------

    def _packed(self, item: Item, node: nodes.Int) -> None:
        """Write the column's integer, else 0, with the bits that have values of their own."""
        scope, field = item.scope, item.field
        if field.derive is not None:
            raise Uncovered("`bits` of an integer with `derive`")
        if node.bits > _WORD:
            raise Uncovered("`bits` of an integer of more than 64 bits")
        whole = self.assembly.register("int").read()
        nulls = sum(_null(bit) for bit in field.bits)
        if nulls:
            self.compiler.compute(Constant(nulls - (1 << _WORD) if nulls >> _WORD - 1 else nulls), whole)
        else:
            given = self.compiler.names.value(item.column, textual=False)
            if given.kind not in ("int", "bool"):
                raise Uncovered(f"bits of {given.kind}")
            self.compiler.compute(Code("int", Term("zero", (Term("LOAD", (), given.read()),))), whole)
        for bit in field.bits:
            if bit.width == _WORD:
                raise Uncovered("a name in `bits` for all 64 bits")
            needed = needs(bit, shared=item.field.shared)
            bits = needed << 17 | _is_negative(bit) << 16 | bit.low << 8 | bit.width
            self._bit(whole, bits, bit.values, self._bit_value(bit, scope))
        if not node.signed and any(bit.low + bit.width == _WORD for bit in item.field.bits):
            self._unsigned(whole, node, scope)
            return
        scope.names[item.name] = whole
        scope.pending.discard(item.name)
        self._number(whole, node, scope)

    def _unsigned(self, whole: Register, node: Node, scope: Scope) -> None:
        """Write an unsigned 64-bit integer; registers hold it as a signed number, so expressions cannot use it."""
        size, _, big = number_form(node, self.compiler.big)
        if scope.encoding != "binary" or not size:
            raise Uncovered("the highest bit of a 64-bit integer, named in `bits`")
        self.assembly.emit("PUT", whole, size, True, big)  # noqa: FBT003 - an operand

    def _bit_value(self, bit: nodes.Bits, scope: Scope) -> Register:
        if bit.derive is not None:
            return self._known(bit.name, scope) or self.derived(bit.derive, scope)
        column = member(scope.record, bit.title)
        value = self.compiler.names.value(column, textual=bit.values is not None)
        if self.compiler.sentinels.is_refused(column):
            scope.names[f"\0{bit.name} there"] = value
            with self.compiler.during(
                self.expressions.condition(nodes.negated(nodes.present(nodes.own(f"\0{bit.name} there"))), scope)
            ):
                self.compiler.fail()
        return value.read()

    def _bit(self, whole: Register, bits: int, values: Any, value: Register) -> None:
        if values is None:
            if value.kind not in ("int", "bool"):
                raise Uncovered(f"bits of {value.kind}")
            self.assembly.emit("BITS", whole, value, bits)
            return
        words: list[int] = []
        for wire, meaning in self._numbers(values, value.kind):
            words += [wire, meaning is None, 0 if meaning is None else self.compiler.records.word(meaning)]
        self.assembly.emit("BITS_MAPPED", whole, value, bits, self.assembly.table([len(words) // 3, *words]))

    def _mapped(self, item: Item, node: Node) -> None:
        """Write the first wire value with the column's meaning."""
        if isinstance(node, nodes.Text | nodes.Bytes | nodes.Bool) or has_beyond(item.field.values or ()):
            self.stated(item, lambda wire: self._constant(wire, node, item.scope))
            return
        if not isinstance(node, nodes.Int):
            raise Uncovered("`values` of a type that is not an integer")
        self._number(self.mapped(item), node, item.scope)

    def meant(self, node: nodes.Held, scope: Scope, column: Column | None) -> None:
        """Write the first wire value with the meaning of a list element's column."""
        held = nodes.Field("", node.type, code=node.code, values=node.values)
        self._mapped(Item(held, scope, column), self.compiler.reader.resolved(node.type))

    def _meant(self, item: Item) -> Register:
        """A register with the meaning in the column."""
        if item.field.derive is not None:
            return self.derived(item.field.derived, item.scope)
        return self.compiler.names.value(item.column, textual=True).read()

    def mapped(self, item: Item) -> Register:
        """A register with the first wire integer that has the column's meaning."""
        value = self._meant(item)
        return self._looked_up(value, self._numbers(item.field.values or (), value.kind))

    def _looked_up(self, value: Register, numbers: Sequence[tuple[int, Any]]) -> Register:
        """A register with the first of the numbers that have a meaning."""
        places: dict[int | None, int] = {}
        for place, (_, meaning) in enumerate(numbers):
            places.setdefault(None if meaning is None else self.compiler.records.word(meaning), place)
        register, table = self.assembly.register("int").read(), self.assembly.table(hashed(places))
        found = self.assembly.table([len(numbers), *(number for number, _ in numbers)])
        self.assembly.emit("MAP", value, table, found, register)
        return register

    def stated(self, item: Item, write: Callable[[Any], None]) -> None:
        """Write the first wire value with the column's meaning, as constants, since no register can hold it."""
        value = self._meant(item)
        targets: dict[int | None, Label] = {}
        arms: list[tuple[Label, Any]] = []
        for wire, meaning in self.meanings(item.field.values or (), value.kind):
            word = None if meaning is None else self.compiler.records.word(meaning)
            if word not in targets:
                targets[word] = Label()
                arms.append((targets[word], wire))
        self.compiler.switch(targets, value)
        self.assembly.arms((label, partial(write, wire)) for label, wire in arms)

    def _numbers(self, values: Sequence[nodes.Meaning], kind: str) -> list[tuple[int, Any]]:
        """The integers on the wire and their meanings."""
        if any(not isinstance(each.wire, int) or isinstance(each.wire, bool) for each in values):
            raise Uncovered("`values` of a type that is not an integer")
        return self.meanings(values, kind)

    def meanings(self, values: Sequence[nodes.Meaning], kind: str) -> list[tuple[Any, Any]]:
        """The wire values and their meanings, which must be of the column's kind or null."""
        found: list[tuple[Any, Any]] = []
        for each in values:
            meaning = self.expressions.compiled(each.means, Scope("", None))
            if not isinstance(meaning, Constant):
                raise Uncovered("`values` whose meanings depend on the record")
            if meaning.kind not in (kind, "null"):
                raise Uncovered(f"`values` that mean {KINDS[meaning.kind]}, for a column of {KINDS[kind]}")
            found.append((each.wire, meaning.value))
        return found

    # --- once the struct is laid out -------------------------------------------------------------------------------

    def _held(self, item: Item, node: Node) -> Placed:
        if item.scope.encoding != "binary":
            raise Uncovered("a value computed from offsets, outside of binary")
        if {"values", "bits"} & item.field.stated.keys() and item.field.checksum is not None:
            raise Uncovered("a checksum with `values` or `bits`")
        if {"values", "bits"} & item.field.stated.keys():
            raise UnsettledError(item.scope.struct)
        match node:
            case nodes.Int():
                size = held_width(node)
                if not size:
                    raise UnsettledError(item.scope.struct)
            case nodes.Bytes(int(size)) | nodes.Text(int(size)) if item.field.checksum is not None:
                pass
            case nodes.Bool():
                raise UnsettledError(item.scope.struct)
            case _:
                raise Uncovered(f"a {word_of(node)} computed from offsets")
        register = self.assembly.register("int").read()
        self.assembly.emit("HOLD", size, register)
        return Placed(item, register)

    def settle(self, placed: Sequence[Placed], scope: Scope) -> None:
        """Fill in the derived values in the order of their dependencies, then the checksums, inner ones first."""
        derived = {each.item.name: each for each in placed if each.item.field.checksum is None}
        for name in in_order({name: each.item.field.derived for name, each in derived.items()}):
            self._settle(derived[name], scope)
        summed = [each for each in placed if each.item.field.checksum is not None]
        layout = self.compiler.reader.layout
        # digests that are computed together are not there yet when the record is read back
        alone = len(summed) == 1 and self._is_unseen(summed[0].item) and self.compiler.records.outermost(scope)
        alone = (
            alone and not _may_reach_digests((layout["types"], layout["roots"])) and not _covers_itself(summed[0].item)
        )
        words = [word for each in summed for word in self._checksum(each, alone=alone)]
        if words:
            assert scope.start_register is not None
            table = self.assembly.table([len(words) // _CHECKSUM, *words])
            self.assembly.emit("CHECKSUMS", table, scope.start_register.read())
            for each in summed:
                self.compiler.certainty.summed(each)

    def _is_unseen(self, item: Item) -> bool:
        """Whether neither readers nor expressions see a checksum."""
        return item.column is None and item.name not in self.compiler.given.asked()

    def _settle(self, placed: Placed, scope: Scope) -> None:
        name, node = placed.item.name, self.compiler.reader.resolved(placed.item.type)
        form = held_width(node), *number_form(node, self.compiler.big)
        is_held = Code("bool", Term("present", (Term("LOAD", (), placed.register),)))
        with self.compiler.during(is_held if isinstance(placed.item.present, Code) else ALWAYS):
            value = scope.names[name] = self.derived(placed.item.field.derived, scope)
            scope.pending.discard(name)
            if value.kind not in ("int", "list"):
                raise Uncovered(f"a derived value of type {value.kind}")
            self.assembly.emit("PATCH", placed.register, value, *form)

    def _checksum(self, placed: Placed, *, alone: bool) -> list[Any]:
        if placed.item.field.stated.keys() & {"stored", "covers"}:  # readers need it only if they verify it
            raise Uncovered("a checksum with `stored`, or over several ranges or expressions")
        sum = placed.item.field.checksum
        assert sum is not None, "what is placed here is a checksum"
        algorithm, first, last = sum.algorithm, sum.start, sum.end
        bounds = [self.expressions.place(self.expressions.number(each, placed.item.scope)) for each in (first, last)]
        where = *bounds, placed.register
        match self.compiler.reader.resolved(placed.item.type):
            case nodes.Int() as node if algorithm in self.compiler.crcs:
                form = held_width(node), *number_form(node, self.compiler.big)
                return [self.compiler.crcs.index(algorithm), *where, *form]
            case nodes.Bytes(size) if algorithm == MD5:
                return [_TOGETHER if alone else _AT_ONCE, *where, size, 0, 0, 0]
            case _:
                raise Uncovered(f"the checksum {algorithm}")


def _covers_itself(item: Item) -> bool:
    """Whether a checksum may cover its own bytes, as zeros: readers then check other bytes than those written."""
    return item.field.checksum is not None and item.field.checksum.hole


def _may_reach_digests(part: Any) -> bool:
    """Whether a field in a part of a layout may overlap a digest.

    That is possible for a choice by bytes that are read ahead, and for a field at a computed offset.
    """
    match part:
        case nodes.Peek():
            return True
        case Mapping():
            return not isinstance(part.get("at", 0), int) or any(map(_may_reach_digests, part.values()))
        case tuple() | list():
            return any(map(_may_reach_digests, part))
        case _:
            return False


def _null(bit: nodes.Bits) -> int:
    """The bits to write if their column is null: those that mean null, else zeros."""
    return (int(bit.null or 0) & ((1 << bit.width) - 1)) << bit.low


def _filler(field: nodes.Field, node: Node) -> bytes | str | float | None:
    """The constant in a hidden field that is not an integer and does not depend on the record."""
    match field.derived if field.hidden else None, node:
        case nodes.BytesConstant(data), nodes.Bytes():
            return data
        case nodes.TextConstant(text), nodes.Bytes() | nodes.Text():
            return text.encode() if isinstance(node, nodes.Bytes) else text
        case int(number), nodes.Bool() | nodes.Float():
            return number
        case _:
            return None


def _is_negative(bit: nodes.Bits) -> bool:
    """Whether bits accept negative numbers; `values` list theirs without a sign."""
    return bit.signed and bit.width > 1 and bit.values is None


def _is_late(field: nodes.Field, scope: Scope) -> bool:
    """Whether a field, or some of its bits, depend on positions that passes assume."""
    trees = [field.derive, *(bit.derive for bit in field.bits)]
    return scope.in_passes and any(scope.follows_places(tree) for tree in trees)
