"""Writes structs: fields and steps in a sensible order, mostly in patterns of real formats."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from proof.chance import Chance
from proof.fields import CHARSETS, ENDINGS, Plan, bits, known, last_when, salvage, written_field
from proof.formulas import Formulas
from proof.scope import ABSENT, Known, Scope, document
from proof.types import FORMS, Typed, Types, integer
from wireloom.resolve.bind.builtins import DIGESTS
from wireloom.resolve.bind.header import digest_size
from wireloom.spec.language import CheckStep, Digest, DiscardStep, Entry, NeedStep, StructType, VerifyStep, Version

_REFUSED = 0.03  # the share of parts that the loader refuses
_FEW = 8  # most types of a spec with recursive structs: in larger ones too much else is refused
_MOST_DECIMALS = 18
_LONG = 63  # most bits of a field that shares its bytes
_WHOLE = ("when", "as", "raw", "bits", "values", "range", "const")  # keys that need whole bytes or many values
_WIDEST_STORED = 32  # most bits of a checksum with a replacement value
_NO_ELEMENT = {"when", "since", "until", "derive", "const", "flatten", "hidden", "null"}
_DEFAULTS = {"bool": False, "int": 0, "uint8": 7, "int16": -1, "str": "a", "float": 0.5}


_AS_IT_STANDS: tuple[str, ...] = (
    "as",
    "when",
    "optional",
    "hidden",
    "values",
    "bits",
    "null",
    "logical",
    "scale",
    "raw",
    "derive",
)
_AS_IT_STANDS += (
    "flatten",
    "refers",
    "const",
    "since",
    "until",
    "at",
    "inline",
    "counted",
    "table",
    "compute",
    "oneOf",
    "default",
)


def written_entry(scope: Scope) -> str:
    """A struct for map entries, added to the types; returns its name."""
    draft, chance = scope.draft, scope.draft.chance
    name = draft.new_type()
    draft.types[name] = ABSENT  # reserves its position
    writer = StructWriter(scope, name, last=False)
    writer.form = FORMS[scope.encoding]
    types, plain = Types(scope), dict.fromkeys(_AS_IT_STANDS, ABSENT)
    key = chance.one(["str", "bytes", "bool", "uint8", "int64", "int32"])
    if scope.encoding == "binary":
        key = {"str": "str(uint8)", "bytes": "bytes(2)"}.get(key, key)
        if chance.often(0.1):  # both in one byte
            writer.entries += chance.one([[{"key": "uint4"}, {"value": "int4"}], [{"value": "uint7"}, {"key": "bit"}]])
    charset = chance.one(CHARSETS) if key.startswith("str") and scope.encoding != "json" and chance.often(0.15) else ""
    for title, typed in (
        ()
        if writer.entries
        else (
            ("key", Typed(key, "", "any")),
            ("value", types.scalar() if types.is_deep else types.anything()),
        )
    ):
        if chance.often(0.1):
            writer.add(types.integer(), const=chance.one([0, 1]), hidden=True, **_without(plain, "const", "hidden"))
        called, named = (title, plain) if chance.often(0.6) else (draft.name("f"), plain | {"as": title})
        kept = ("when", "optional", "default", "values", "logical", "scale", "derive") if title == "value" else ()
        told: dict[str, Any] = {"charset": charset} if title == "key" and charset else {}
        if title == "key" and scope.encoding in ("json", "protobuf") and chance.often(0.3):
            told |= {"optional": True, "default": {"str": "", "bytes": "", "bool": False}.get(key, 0)}
        writer.add(typed, called, **_without(named, *kept) | told)
    draft.types[name] = _entry_of(scope, writer.entries)
    return name


def _entry_of(scope: Scope, fields: list[dict[str, Any]]) -> dict[str, Any]:
    encoding = scope.encoding if scope.encoding != scope.draft.encoding else ABSENT
    others = dict.fromkeys(("form", "byteOrder", "charset", "versions", "depth", "doc"), ABSENT)
    return document(StructType, {"fields": fields, "encoding": encoding} | others)


def _without(preset: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: each for name, each in preset.items() if name not in names}


def written_struct(scope: Scope, *, last: bool) -> Typed:
    """A new named struct in this scope."""
    name = scope.draft.new_type()
    scope.draft.types[name] = ABSENT  # reserves its position
    return StructWriter(scope, name, last).written()


@dataclass
class StructWriter:
    """Writes one struct. `last` if its last field may take all remaining bytes."""

    scope: Scope
    name: str
    last: bool
    form: str = ""
    entries: list[dict[str, Any]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    tags: int = 0
    offset: int | None = 0
    deferred: list[Callable[[], None]] = field(default_factory=list)  # fields that earlier ones refer to
    shared: list[str] = field(default_factory=list)  # fields that share bytes, which are in every version

    @property
    def chance(self) -> Chance:
        """The source of choices."""
        return self.scope.draft.chance

    @property
    def binary(self) -> bool:
        """Whether the struct is binary."""
        return self.scope.encoding == "binary"

    def tag(self) -> int:
        """The next field number."""
        self.tags += self.chance.one([1, 1, 1, 2, 15])
        return self.tags

    def written(self) -> Typed:
        """Write the struct, add it to the types, and return its type."""
        chance, encoding = self.chance, self.scope.encoding
        self.form = FORMS[encoding]
        stated: Any = ABSENT
        if encoding in ("msgpack", "json") and chance.often(0.3):
            stated = self.form = chance.one(["array", "object"])
        steps = chance.weighted(self.scope.draft.temper.fields)
        for step in range(steps):
            self._pattern(last=self.last and step == steps - 1)
        for defer in self.deferred:
            defer()
        if not any(self._is_wire(entry) for entry in self.entries) and (self.scope.in_list or chance.often(0.8)):
            self.add(Types(self.scope).integer())
        small = len(self.scope.draft.types) < _FEW and not (self.binary and self.last) and not self._looks_outward()
        depth = self._recursion() if small and chance.often(0.06) else ABSENT
        if encoding in ("msgpack", "json") and chance.often(0.13 if self.form == "object" else 0.003):
            self._rest()
        versions = self._versions()
        if encoding == "msgpack" and self.form == "array" and versions is ABSENT and chance.often(0.3):
            self._leave_out_last()
        self._end()
        own = encoding != (self.scope.outer.encoding if self.scope.outer else self.scope.draft.encoding)
        self.scope.draft.types[self.name] = document(
            StructType,
            {
                "fields": self.entries,
                "encoding": encoding if encoding != self.scope.draft.encoding or own or chance.often(0.05) else ABSENT,
                "form": stated,
                "byteOrder": chance.one(["big", "little"]) if self.binary and chance.often(0.12) else ABSENT,
                "charset": chance.one(CHARSETS) if encoding != "json" and chance.often(0.05) else ABSENT,
                "versions": versions,
                "depth": depth,
                "doc": "A struct." if chance.often(0.05) else ABSENT,
            },
        )
        greedy = self.binary and self.last
        return Typed(self.name, "struct", "struct", greedy=greedy, members=tuple(self.scope.known))

    # --- fields ---

    def add(self, typed: Typed, name: str = "", **preset: Any) -> Plan:
        """Add a field of the type; later fields may use its name."""
        name = name or self.scope.draft.name("f")
        plan = Plan(self, name, typed, {key.rstrip("_"): value for key, value in preset.items()})
        written = written_field(plan)
        short = set(written) == {"type"} and isinstance(written["type"], str) and self.chance.often(0.8)
        self.entries.append({name: written["type"] if short else written})
        self.scope.known += known(plan)
        if plan.on_wire:
            fixed = typed.size is not None and "when" not in written and "size" not in written
            self.offset = self.offset + typed.size if fixed and self.offset is not None and typed.size else None
        return plan

    def _pattern(self, *, last: bool) -> None:
        chance, encoding = self.chance, self.scope.encoding
        makers: list[tuple[float, Callable[[], Any]]] = [
            (5, lambda: self.add(Types(self.scope, last).anything())),
            (1.2, self._computed),
            (0.3, self._put_together),
            (0.9, self._check),
        ]
        if encoding == "binary":
            makers += [
                (2, self._counted_list),
                (0.9, self._ended),
                (1.5, self._sized),
                (1, self._region),
                (1, self._flags),
                (1, self._shared),
                (0.8, self._checksum),
                (0.6, self._mark),
                (0.5, self._need),
                (0.3, self._frame),
                (0.4, self._at),
                (0.18, self._elsewhere),
                (1.3, self._discard),
                (0.3, self._foreign),
                (0.3, lambda: self._attempt(last=last)),
                (0.5, self._wide),
            ]
        elif encoding == "protobuf":
            makers += [(1, self._table), (0.8, self._salvage)]
        elif encoding == "msgpack":
            makers.append((0.2, lambda: self._attempt(last=last)))
        if encoding != "protobuf":
            makers.append((0.01, self._salvage))
        if encoding != "binary" and chance.often(_REFUSED):
            makers.append((1, lambda: self._attempt(last=last)))
        chance.does(makers)

    def _computed(self) -> None:
        types, formulas = Types(self.scope), Formulas(self.scope)
        kinds = [(4, "int"), (2, "bool"), (1, "text"), (0.5, "float"), (0.3, "wide")]
        kind = self.chance.weighted(kinds + [(0.4, "octets") for _ in formulas.named("bytes")[:1]])
        match kind:
            case "int":
                typed = types.integer()
                plain = str(typed.form).lstrip("u").startswith(("int", "var", "zig")) or self.chance.often(_REFUSED)
                if not plain or (typed.form != "int" and self.chance.often(0.6)):
                    typed = integer("int64")
                self.add(typed, compute=formulas.integer())
            case "bool":
                self.add(types.boolean(), compute=formulas.boolean())
            case "text":
                self.add(Typed("str", "text", "text"), compute=formulas.text())
            case "octets":
                self.add(Typed("bytes", "bytes", "bytes"), compute=formulas.octets())
            case "float":
                typed = types.real()
                self.add(
                    Typed("float", "float", "float") if typed.form == "float16" else typed, compute=formulas.number()
                )
            case _:
                self.add(Typed("uint128", "int", "int", 128), compute=f"md5({formulas.text()})")

    def _put_together(self) -> None:
        """A number that is in one field or, if that is too small, in two."""
        chance, draft, types = self.chance, self.scope.draft, Types(self.scope)
        head, rest, whole = draft.name("f"), draft.name("f"), draft.name("f")
        most = chance.one([1, 13, 100])
        plain = {"range": ABSENT, "values": ABSENT, "scale": ABSENT}
        derive, left = f"{whole} < {most} ? {whole} : {most}", f"{whole} - {most}"
        when = self._maybe(Formulas(self.scope).boolean(), 0.1)
        number = types.amount if self.binary else types.unsigned
        self.add(number(), head, derive=derive, hidden=self._maybe(True, 0.8), when=ABSENT, **plain)
        self.add(number(), rest, when=f"{head} == {most}", derive=left, hidden=True, **plain)
        self._between()
        total = f"{head} == {most} ? {rest} + {most} : {head}"
        typed = integer(chance.one(["int64", "int64", "uint16", "uint32"]))
        if not self.binary or chance.often(0.6):
            self.add(typed, whole, compute=total, when=when, hidden=ABSENT)
            return
        data = draft.name("f")
        hidden = self._maybe(True, 0.7)
        self.add(typed, whole, compute=total, derive=f"len({data})", when=ABSENT, hidden=hidden)
        self.add(Typed("bytes", "bytes", "bytes"), data, size=whole, when=ABSENT)

    def _wide(self) -> None:
        """A hidden constant, such as a magic, or padding to a multiple of a number."""
        if self.chance.often(0.4) and self.scope.encoding == "binary":
            self.add(Typed(f"bytes(-here % {self.chance.randint(2, 5)})", "bytes", "bytes"), hidden=True)
            return
        self.add(integer(self.chance.one(["uint16", "uint32"])), const=0x4D2, hidden=True)

    # --- steps ---

    def step(self, key: str, value: Any) -> None:
        """Add a step."""
        assert key in Entry.keys()  # noqa: SIM118 - a class method, no mapping
        self.entries.append({key: value})

    def _check(self) -> None:
        if not self.scope.known:
            return
        formulas, chance = Formulas(self.scope, checks=True), self.chance
        names = [each.name for each in self.scope.known if each.kind in ("int", "text", "bool")]
        that = formulas.boolean()
        if that in ("true", "false"):
            return  # an end step states its error itself
        self.step(
            "check",
            document(
                CheckStep,
                {
                    "that": that,
                    "else": self.scope.draft.code(),
                    "field": chance.one(names) if names and chance.often(0.4) else ABSENT,
                    "when": formulas.boolean() if chance.often(0.25) else ABSENT,
                    "doc": "Why." if chance.often(0.1) else ABSENT,
                },
            ),
        )

    def _mark(self, name: str = "") -> str:
        name = name or self.scope.draft.name("p")
        self.step("mark", name)
        self.scope.marks.append(name)
        return name

    def _elsewhere(self) -> None:
        """A value at an offset in a field, from a mark of this struct or an outer one; the rest is ignored."""
        chance, marks = self.chance, list(self.scope.marks)
        around = self.scope.outer
        while around is not None and around.encoding == "binary":
            marks += around.marks
            around = around.outer
        if not marks or chance.often(0.3):
            marks = [self._mark()]
        offset = self.scope.draft.name("f")
        self.add(
            integer(chance.one(["uint8", "uint8", "int8"])), offset, **dict.fromkeys(("when", "values", "null"), ABSENT)
        )
        place = chance.one([offset, offset, f"{offset} + 1", f"{offset} - 2", "1", "4"])
        typed = self._inner() if chance.often(0.4) else Types(self.scope).element()
        free = () if chance.often(0.03) else ("derive", "checksum", "bits", "hidden", "flatten")
        self.add(typed, at=place, from_=chance.one(marks), **dict.fromkeys(free, ABSENT))
        if self.scope.depth == 0 and not self.deferred and chance.often(0.8):
            self.deferred.append(self._ignore_the_rest)

    def _ignore_the_rest(self) -> None:
        """The rest of the record as ignored bytes."""
        rest = Typed("bytes", "bytes", "bytes", greedy=True)
        self.add(rest, hidden=True, **dict.fromkeys(("when", "derive", "const", "delimiter", "terminator"), ABSENT))
        self.scope.known.pop()

    def _need(self) -> None:
        formulas, chance = Formulas(self.scope), self.chance
        names = [each.name for each in self.scope.known if each.kind == "int"]
        self.step(
            "need",
            document(
                NeedStep,
                {
                    "bytes": formulas.integer() if chance.often(0.5) else str(chance.randint(0, 6)),
                    "field": chance.one(names) if names and chance.often(0.5) else ABSENT,
                },
            ),
        )

    def _frame(self) -> None:
        """A length at the start that covers the whole struct."""
        if self.entries or (self.scope.depth > 0 and self.chance.often(0.5)):
            self._mark()
            return
        name = self.scope.draft.name("f")
        self.add(Types(self.scope).unsigned(), name, derive="size", hidden=self._maybe(True, 0.5))
        self.step("check", {"that": f"{name} >= here", "else": self.scope.draft.code()})
        self.step("frame", name)

    def _end(self) -> None:
        if self.binary and self.chance.often(0.12 if self.last and not self.scope.in_list else 0.003):
            self.step("end", self.scope.draft.code())

    def _maybe(self, value: Any, share: float) -> Any:
        return value if self.chance.often(share) else ABSENT

    # --- patterns of binary ---

    def _counted_list(self) -> None:
        chance, draft = self.chance, self.scope.draft
        count, name = draft.name("f"), draft.name("f")
        how = chance.weighted(
            [(5, "derive"), (1, "given"), (1, "computed"), (0.5, "fixed"), (2, "in front"), (1, "in blocks")]
        )
        formula, nullable = count, False
        match how:
            case "derive":
                derive = f"count({name})" if chance.often(0.85) else f"count({name}) + 1"
                formula = count if derive.endswith(")") else f"{count} - 1"
                self.add(Types(self.scope).amount(), count, derive=derive, hidden=self._maybe(True, 0.5), when=ABSENT)
            case "given":
                self.add(Types(self.scope).unsigned(), count)
            case "computed":
                formula = f"min(3, {Formulas(self.scope).integer()})"
            case "in front":
                front = Types(self.scope).front()
                formula, nullable = front.form, front.signed and chance.often(0.5)
            case "in blocks":
                front = Types(self.scope).front()
                sizes = f", {Types(self.scope).front().form}" if front.signed and chance.often(0.7) else ""
                formula = f"blocks({front.form}{sizes})"
            case _:
                formula = str(
                    chance.randint(0, 3) if chance.often(0.95) else chance.one([17, 100_000, 1 << 30, 1 << 63])
                )
        self._between()
        packed = chance.often(_REFUSED if how == "in blocks" else 0.15)
        element = Types(self.scope).bits() if packed else Types(self.scope).element()
        if packed and how == "fixed" and chance.often(0.7):
            formula = str(chance.randint(4, 40))
        preset: dict[str, Any] = {"count": formula}
        if how != "derive" or chance.often(0.8):
            preset["when"] = ABSENT
        form, shape = f"list({element.form}){'?' if nullable else ''}", "list"
        if not packed and not Types(self.scope).is_deep and draft.budget > 0 and chance.often(0.08):
            element = replace(Types(self.scope).entries(), members=())
            form, shape = f"{element.form}{'?' if nullable else ''}", "map"
        listed = Typed(
            form, shape, "list", nullable=nullable, packed=packed, elements=element.members, ending=element.ending
        )
        self.add(listed, name, **preset)

    def _ended(self) -> None:
        """A text or list that ends at certain bytes or at an element."""
        chance = self.chance
        if chance.often(0.5):
            word = chance.one(["str", "bytes"])
            kind = "text" if word == "str" else "bytes"
            self.add(Typed(word, kind, kind, greedy=True), delimiter=chance.one(ENDINGS))
            return
        inner = Types(self.scope)
        element = inner.struct(in_list=True) if self.scope.draft.budget > 0 and chance.often(0.6) else inner.element()
        listed = Typed(
            f"list({element.form})", "list", "list", greedy=True, elements=element.members, ending=element.ending
        )
        ending = {"terminator": ABSENT, "lastWhen": last_when(self.scope, listed)}
        if ending["lastWhen"] is ABSENT or chance.often(0.5):
            ending = {"terminator": chance.one(ENDINGS), "lastWhen": ABSENT}
        self.add(listed, **ending)

    def _between(self) -> None:
        """Sometimes other fields between a length and its field."""
        if self.chance.often(0.2):
            self.add(Types(self.scope).integer())

    def _sized(self) -> None:
        chance, draft = self.chance, self.scope.draft
        length, name = draft.name("f"), draft.name("f")
        word = chance.one(["str", "bytes"])
        kind = "text" if word == "str" else "bytes"
        how = chance.weighted([(5, "derive"), (1, "given"), (1, "computed")])
        formula = length
        if how == "computed":
            formula = Formulas(self.scope).integer()
        else:
            preset = {"derive": f"len({name})", "when": ABSENT} if how == "derive" else {}
            self.add(Types(self.scope).amount(), length, hidden=self._maybe(True, 0.5) if preset else ABSENT, **preset)
            self._between()
        if chance.often(0.25):
            self.add(Typed(word, kind, kind), name, size=formula)
        else:
            self.add(Typed(f"{word}({formula})", kind, kind), name)

    def _region(self) -> None:
        """A struct, list or select in a region whose size is derived from marks."""
        draft = self.scope.draft
        if self.chance.often(0.3):
            self.add(self._inner(), size=Types(self.scope).front().form)
            return
        if self.chance.often(0.4):
            self._measured()
            return
        if draft.budget > 0 and self.chance.often(0.3):
            self._told_within()
            return
        length = draft.name("f")
        start, end = draft.name("p"), draft.name("p")
        self.add(Types(self.scope).unsigned(), length, derive=f"{end} - {start}", hidden=self._maybe(True, 0.5))
        self._mark(start)
        self.add(self._inner(), size=length, when=ABSENT)
        self._mark(end)

    def _measured(self) -> None:
        """A region whose size field has a variable width; sometimes after the region."""
        chance, draft = self.chance, self.scope.draft
        start, end, short, long = draft.name("p"), draft.name("p"), draft.name("f"), draft.name("f")
        number, unit, most = f"{end} - {start}", integer(chance.one(["uint16", "uint24"])), chance.randint(0, 9)
        is_wide = f"{number} > {most}"
        if chance.often(0.4):
            whole = chance.one([end, end, f"{is_wide} ? {end} : 0", f"{is_wide} ? {end} - {start} : 7"])
            self.add(integer("uint16"), derive=whole, hidden=self._maybe(True, 0.7), when=ABSENT)
        preset: dict[str, Any] = {"hidden": True, "when": ABSENT, "range": ABSENT, "values": ABSENT}
        how = chance.one(["marker", "marker", "bit", "word"])
        flag = short
        if how == "marker":
            self.add(integer("uint8"), short, derive=f"{is_wide} ? 255 : {number}", **preset)
            flag = f"{short} == 255"
        elif how == "bit":
            flag = draft.name("b")
            bit = {"at": chance.randint(0, 7), "derive": is_wide, "hidden": True}
            self.add(integer("uint8"), short, bits={flag: bit}, derive=ABSENT, **preset)
        else:
            self.add(integer("uint8"), short, derive=is_wide, **(preset | {"values": {"0": False, "1": True}}))
        self.add(unit, long, derive=number, **(preset | {"when": flag}))
        size = f"{flag} ? {long} : {short}"
        if how != "marker":
            other = draft.name("f")
            self.add(integer("uint8"), other, derive=number, **(preset | {"when": f"not {flag}"}))
            size = f"{flag} ? {long} : {other}"
        self._mark(start)
        self.add(self._inner(), size=size, when=ABSENT)
        self._mark(end)

    def _told_within(self) -> None:
        """A field derived from a number that an inner struct derives from its layout."""
        chance, draft = self.chance, self.scope.draft
        number, within = draft.name("f"), draft.name("f")
        melts = chance.often(0.35)
        path = number if melts else f"{within}.{number}"
        derive = chance.one([path, f"{path} + 1", f"{path} > 9 ? 7 : {path}"])
        preset: dict[str, Any] = {"derive": derive, "when": ABSENT, "range": ABSENT, "values": ABSENT}
        if before := chance.often(0.5):
            self.add(integer("uint16"), hidden=self._maybe(True, 0.6), **preset)
        self.add(self._measuring(number), within, flatten=True if melts else ABSENT, when=ABSENT, as_=ABSENT)
        if before or chance.often(0.5):
            self.add(Types(self.scope).anything(), when=f"{path} > {chance.randint(0, 9)}")
        else:
            self.add(integer("uint16"), hidden=self._maybe(True, 0.6), **preset)

    def _measuring(self, number: str) -> Typed:
        """A struct with a number that is its length, or that of a part."""
        chance, name = self.chance, self.scope.draft.new_type()
        self.scope.draft.types[name] = ABSENT
        writer = StructWriter(self.scope.inner("binary"), name, last=False)
        derive = "size"
        if chance.often(0.4):
            start, end = writer._mark(), self.scope.draft.name("p")
            derive = f"{end} - {start}"
            writer.deferred.append(lambda: writer.step("mark", end))
        hidden = self._maybe(True, 0.5)
        writer.add(integer("uint16"), number, derive=derive, hidden=hidden, when=ABSENT, range=ABSENT, values=ABSENT)
        return writer.written()

    def _inner(self) -> Typed:
        """The content of a region."""
        inner = Types(self.scope, last=True)
        if self.chance.often(0.5):
            return inner.anything()
        return inner.struct() if self.scope.draft.budget > 0 else inner.listing()

    def _flags(self) -> None:
        """Bits that say whether fields are present."""
        chance, draft = self.chance, self.scope.draft
        flag, name = draft.name("b"), draft.name("f")
        bit: dict[str, Any] = {"at": chance.randint(0, 7), "derive": f"present({name})"}
        if chance.often(0.6):
            bit["hidden"] = True
        self.add(
            integer(chance.one(["uint8", "uint16"])), bits={flag: bit}, hidden=self._maybe(True, 0.7), derive=ABSENT
        )
        self.scope.known.append(Known(flag, "bool"))
        self._between()
        self.add(Types(self.scope).anything(), name, when=flag)

    def _shared(self) -> None:
        """Fields of any number of bits that share whole bytes."""
        chance = self.chance
        left = 8 * chance.weighted([(6, chance.randint(1, 3)), (3, chance.randint(4, 8)), (3, chance.randint(9, 14))])
        left += chance.randint(0, 7) if chance.often(_REFUSED / 3) else 0
        ordered = any("big" in each.get("oneOf", ()) for each in self.scope.draft.parameters.values())
        order = chance.one(["big", "little"]) if chance.often(1 - _REFUSED if ordered else 0.3) else ABSENT
        while left > 0:
            widths = [
                (4, chance.randint(1, 7)),
                (3, chance.randint(2, 20)),
                (2, chance.randint(9, 63)),
                (6 if left >= _LONG else 0, _LONG),
            ]
            width = min(left, chance.weighted(widths))
            width -= width == 8 and order is not ABSENT
            left -= width
            signed = width > 1 and chance.often(0.4)
            whole = dict.fromkeys(_WHOLE, ABSENT) | {"byteOrder": order}
            if width >= 3:
                known = {0: "none", -1: "less", 3: "three"} if signed else {0: "none", 1: "one", 3: "three"}
                whole["values"] = known if chance.often(0.1) else ABSENT
                whole["range"] = chance.one(["0 .. 3", "1 ..", ".. 2"]) if chance.often(0.1) else ABSENT
                free = whole["values"] is whole["range"] is ABSENT
                whole["const"] = (-2 if signed else 2) if chance.often(0.1) and free else ABSENT
            elif width == 1:
                whole["values"] = {"true": "on", "false": "off"} if chance.often(0.05) else ABSENT
            if whole["values"] is not ABSENT and chance.often(0.4):
                whole["raw"] = self.scope.draft.name("a")
            whole["hidden"] = self._maybe(True, 0.01 if whole.get("const", ABSENT) is ABSENT else 0.5)
            if chance.often(_REFUSED / 3):
                whole.pop(chance.one(sorted(whole)))
            if width == 1:
                typed = Typed("bit", "bool", "bool")
            else:
                typed = Typed(f"{'int' if signed else 'uint'}{width}", "int", "int", width, signed=signed)
            self.shared.append(self.add(typed, **whole).name)
            if chance.often(0.05):
                self._check()

    def _sum_of(self, width: int) -> Typed:
        """A type for a checksum of `width` bits: bytes or digits."""
        digits = {"HEX": -(-width // 4), "hex": -(-width // 4), "oct": -(-width // 3), "dec": len(str(1 << width))}
        fitting = [f"{base}{count}" for base, count in digits.items() if base != "dec" or count <= _MOST_DECIMALS]
        return integer(self.chance.one(fitting) if self.chance.often(0.25) else f"uint{-(-width // 8) * 8}")

    def _checksum(self) -> None:
        """A checksum over earlier or later bytes."""
        chance, draft = self.chance, self.scope.draft
        algorithm = chance.one([*sorted(draft.checksums), *DIGESTS])
        width = draft.checksums.get(algorithm, {}).get("width")
        typed = self._sum_of(width) if width else self._digest_of(algorithm)
        name, mark = draft.name("f"), draft.name("p")
        ahead = chance.often(0.3)
        start = "0" if not ahead or chance.often(0.3) else mark
        said = {"hidden": self._maybe(True, 0.5), "stored": self._stored(name, width)}
        if chance.often(0.2):  # it covers itself
            self.add(typed, name, checksum=algorithm, over=self._over(f"0 .. {mark}"), **said)
            self.add(Types(self.scope).scalar())
            self._mark(mark)
        elif ahead:
            tail = draft.name("p")
            self.add(typed, name, checksum=algorithm, over=self._over(f"{mark} .. {tail}"), **said)
            self._mark(mark)
            self.add(Types(self.scope).scalar())
            self._mark(tail)
        else:
            end = self._mark(mark)
            self.add(typed, name, checksum=algorithm, over=self._over(f"{start} .. {end}"), **said)
        verify = {"field": name, "when": Formulas(self.scope).boolean() if chance.often(0.3) else ABSENT}
        self.step("verify", document(VerifyStep, verify))

    def _digest_of(self, algorithm: str) -> Typed:
        """A type for a digest: bytes or digits."""
        declared = self.scope.draft.checksums.get(algorithm)
        size = DIGESTS[algorithm] if declared is None else digest_size(Digest(**declared))
        if self.chance.often(0.3):
            return Typed(f"str({2 * size})", "text", "str")
        return Typed(f"bytes({size})", "bytes", "bytes")

    def _over(self, covered: str) -> str | list[str]:
        """A range of bytes, and further parts before or after it."""
        chance = self.chance
        if not chance.often(0.2):
            return covered
        extras = [self._extra() for _ in range(chance.randint(1, 3))]
        at = chance.randint(0, len(extras))
        return [*extras[:at], *([] if chance.often(_REFUSED / 3) else [covered]), *extras[at:]]

    def _extra(self) -> str:
        """A part outside of the range that a checksum also covers."""
        chance, known = self.chance, self.scope.named("bytes")
        if known and chance.often(0.4):
            return f"bytes({chance.one(known).name})"
        return f"{chance.one(('uint', 'int'))}{8 * chance.randint(1, 8)}({Formulas(self.scope, late=True).integer()})"

    def _stored(self, name: str, width: int | None) -> Any:
        """The stored form of a checksum: reversed or inverted bits, or a replacement for one value."""
        chance = self.chance
        if not chance.often(0.004 if width is None or width > _WIDEST_STORED else 0.4):
            return ABSENT
        other = str(chance.randint(0, 255)) if chance.often(0.5) else Formulas(self.scope, late=True).integer()
        half = (width or 8) // 2
        return chance.weighted(
            [
                (1, f"({name} >> {half} | {name} << {half}) + {other}"),
                (1, f"{name} ^ {other}"),
                (0.5, f"~{name}"),
                (1, f"{name} == 0 ? {other} : {name}"),
                (0.3, f"{name} // {other}"),
                (0.1, other),
            ]
        )

    def _at(self) -> None:
        """A field at an offset: its natural one, or one from the end."""
        if self.chance.often(0.12):
            self.add(Types(self.scope).scalar(), at=Formulas(self.scope).integer())
            return
        if self.offset is not None and self.chance.often(0.7):
            self.add(Types(self.scope).scalar(), at=self.offset, when=ABSENT)
            return
        if not self.last:
            self.add(Types(self.scope).scalar())
            return
        size = self.chance.randint(1, 4)
        self.deferred.append(lambda: self._from_end(size))

    def _from_end(self, size: int) -> None:
        if self.entries and "at" not in str(self.entries[-1]):
            rest = f"bytes(size - {size} - here)" if self.chance.often(0.9) else "bytes(size - here)"
            self.add(Typed(rest, "bytes", "bytes"), when=ABSENT)
            self.add(Typed(f"bytes({size})", "bytes", "bytes", size=size), at=-size, when=ABSENT)

    def _discard(self) -> None:
        chance, draft = self.chance, self.scope.draft
        lists = [each for each in self.scope.known if each.kind == "list" and each.elements]
        if not lists:
            self._counted_list()
            return
        chosen, count = chance.one(lists), draft.name("n")
        self.add(integer("int64"), count, counted=True)
        inner = Scope(draft, "", known=list(chosen.elements), outer=self.scope)
        self.step(
            "discard",
            document(
                DiscardStep,
                {
                    "list": chosen.name,
                    "keep": Formulas(inner).boolean(),
                    "count": count,
                    "when": Formulas(self.scope).boolean() if chance.often(0.6) else ABSENT,
                },
            ),
        )

    def _foreign(self) -> None:
        """A struct of another encoding."""
        if Types(self.scope).is_deep:
            self.add(Types(self.scope).scalar())
            return
        draft = self.scope.draft
        if self.chance.often(0.3) and self.last:
            self.deferred.append(self._foreign_to_the_end)
            return
        length, start, end = draft.name("f"), draft.name("p"), draft.name("p")
        self.add(Types(self.scope).unsigned(), length, derive=f"{end} - {start}", hidden=self._maybe(True, 0.5))
        self._mark(start)
        self.add(Types(self.scope).foreign(), size=length, when=ABSENT)
        self._mark(end)

    def _foreign_to_the_end(self) -> None:
        self.add(Types(self.scope).foreign(), size="size - here")

    def _attempt(self, *, last: bool) -> None:
        if self.scope.depth >= self.scope.draft.temper.depth - 1 or self.scope.draft.budget <= 1:
            self.add(Types(self.scope, last).scalar())
            return
        self.add(Types(self.scope, last).attempt())

    # --- patterns of protobuf ---

    def _table(self) -> None:
        """A table, and a list of messages that refer to it."""
        draft, chance = self.scope.draft, self.chance
        if draft.budget <= 0:
            return
        name = draft.name("f")
        entry = chance.one(["str", "bytes", "str", "uint32"])
        hidden = self._maybe(True, 0.4)
        self.add(Typed(f"list({entry})", "list", "list"), name, table=True, hidden=hidden, optional=ABSENT, when=ABSENT)
        inner = self.scope.inner("protobuf", in_list=True)
        type_name = draft.new_type()
        draft.types[type_name] = ABSENT
        writer = StructWriter(inner, type_name, last=False)
        writer.form = "message"
        index = integer(chance.one(["uint32", "uint64"]))
        kind = {"str": "text", "bytes": "bytes"}.get(entry, "int")
        shown = Typed(index.form, index.shape, kind, index.bits)
        plain = dict.fromkeys(("const", "values", "range", "default", "derive", "wire"), ABSENT)
        writer.add(shown, refers=name, **plain)
        typed = writer.written()
        one = chance.often(0.3)
        form = typed.form if one else f"list({typed.form})"
        self.add(
            Typed(
                form,
                "struct" if one else "list",
                "struct" if one else "list",
                members=typed.members if one else (),
                elements=() if one else typed.members,
            )
        )

    def _salvage(self) -> None:
        draft = self.scope.draft
        lost = draft.name("n")
        self.add(integer("int64"), lost, counted=True)
        element = Types(self.scope).element() if self.chance.often(0.3) else None
        if element is None and draft.budget > 0:
            element = Types(self.scope).struct(in_list=True)
        if element is None:
            return
        self.add(
            Typed(f"list({element.form})", "list", "list", elements=element.members, ending=element.ending),
            salvage=salvage(self.scope, lost),
        )

    # --- patterns of objects ---

    def _rest(self) -> None:
        """A field for the members that no other field names."""
        types = Types(self.scope)
        value = self.chance.does([(1, types.recursive), (3, types.scalar), (1.5, types.element), (0.5, types.union)])
        key = "str" if self.chance.often(0.99) else "int"
        preset = dict.fromkeys(("optional", "flatten", "member", "hidden"), ABSENT)
        self.add(Typed(f"map({key}, {value.form})", "map", "list"), inline=True, **preset)
        self.scope.draft.rests.add(self.name)

    # --- recursion ---

    def _looks_outward(self) -> bool:
        """Whether it uses names of the outer struct, which inside itself would be its own."""
        around = {each.name for each in self.scope.outer.known} if self.scope.outer else set[str]()
        return not around.isdisjoint(re.findall(r"\w+", repr(self.entries)))

    def _recursion(self) -> Any:
        """A field in which the struct contains itself, and its depth."""
        itself = Typed(self.name, "struct", "struct", size=None)
        listed = Typed(f"list({self.name})", "list", "list", greedy=True)
        if self.chance.often(0.2) and self.scope.encoding != "msgpack":  # through the entries of a map
            listed = Typed(f"map({self._entry_of_itself()})", "map", "list", greedy=True)
        match self.scope.encoding:
            case "binary":
                self._binary_recursion(itself, listed)
            case "protobuf":
                single = self.chance.often(0.5)
                self.add(itself if single else listed, flatten=ABSENT, optional=True if single else ABSENT)
            case "json":
                mapped = Typed(f"map(str, {self.name})", "map", "list")
                null = Typed(f"{self.name}?", "struct", "struct", nullable=True)
                chosen = self.chance.one([null, listed, mapped])
                if self.chance.often(0.3):  # through a type alias
                    name = self.scope.draft.name("T")
                    self.scope.draft.types[name] = chosen.form
                    chosen = replace(chosen, form=name)
                self.add(chosen, flatten=ABSENT, inline=ABSENT)
            case _:
                return ABSENT
        return self.chance.one([1, 2, 2, 3])

    def _entry_of_itself(self) -> str:
        """A struct for map entries whose value is the struct itself, added to the types; returns its name."""
        draft, chance = self.scope.draft, self.chance
        name, protobuf = draft.new_type(), self.scope.encoding == "protobuf"
        held = chance.one([self.name, self.name, f"list({self.name})"])
        tags = [{"tag": 1}, {"tag": 2, "optional": True}] if protobuf else [{}, {}]
        value: dict[str, Any] = {"type": self.name if protobuf else held} | tags[1]
        if self.scope.encoding == "binary":
            single = chance.one([{}, {"when": "key > 2"}, {"size": "uint8"}])
            value |= single if held == self.name else {"count": "uint8"}
        draft.types[name] = _entry_of(self.scope, [{"key": {"type": "uint8"} | tags[0]}, {"value": value}])
        return name

    def _binary_recursion(self, itself: Typed, listed: Typed) -> None:
        chance, draft = self.chance, self.scope.draft
        count, name = draft.name("f"), draft.name("f")
        match chance.one(["count", "prefix", "blocks", "terminator", "when", "region"]):
            case "count":
                asks = chance.often(0.3)  # whether the list is optional
                derived = f"present({name}) ? count({name}) : -1" if asks else f"count({name})"
                typed = integer("int8") if asks else Types(self.scope).amount()
                self.add(typed, count, derive=derived, hidden=True if not asks else self._maybe(True, 0.5), when=ABSENT)
                when = f"{count} >= 0" if asks else ABSENT
                self.add(listed, name, count=count, when=when, terminator=ABSENT, lastWhen=ABSENT)
            case "prefix":
                self.add(listed, name, count=Types(self.scope).front().form, terminator=ABSENT, lastWhen=ABSENT)
            case "blocks":
                blocks = f"blocks({Types(self.scope).front().form})"
                self.add(listed, name, count=blocks, terminator=ABSENT, lastWhen=ABSENT)
            case "terminator":
                self.add(listed, name, terminator=chance.one(ENDINGS), lastWhen=ABSENT)
            case "when":
                self.add(integer("uint8"), count, bits={f"{count}b": {"at": 0, "derive": f"present({name})"}})
                self.add(itself, name, when=f"{count}b", flatten=ABSENT)
            case _:
                self.add(listed, name, size=Types(self.scope).front().form, terminator=ABSENT, lastWhen=ABSENT)

    # --- versions ---

    def _versions(self) -> Any:
        """Versions: by arity in arrays, elsewhere by a condition over parameters."""
        chance = self.chance
        if not chance.often(0.12):
            return ABSENT
        fields = [entry for entry in self.entries if self._is_wire(entry) and not self.shared_with(entry)]
        if self.form == "array":
            return self._by_arity(fields)
        if not self.scope.draft.known_parameters:
            return ABSENT
        free = fields if chance.often(0.1) else [entry for entry in fields if not _is_of_group(entry)]
        self._mark_fields(fields, chance.some(free, 1) if free else [])
        first = Formulas(self.scope, parameters=True).boolean()
        rest = f"not ({first})" if chance.often(0.7) else "true"
        return {"old": document(Version, {"arity": ABSENT, "when": first}), "new": _version_when(rest)}

    def _leave_out_last(self) -> None:
        """Make the last elements of an array optional; scalar ones may get a default."""
        for entry in reversed([entry for entry in self.entries if self._is_wire(entry)]):
            (written,) = entry.values()
            stated = written.get("type") if isinstance(written, dict) else written
            if isinstance(written, dict) and _NO_ELEMENT & written.keys() and not self.chance.often(0.1):
                return
            _set(entry, "optional", True)
            plain = isinstance(written, str) or written.keys() <= {"type", "doc", "as"}
            default = _DEFAULTS.get(str(stated).rstrip("?")) if plain else None
            if default is not None and self.chance.often(0.5):
                _set(entry, "default", default)
            if self.chance.often(0.4):
                return

    def shared_with(self, entry: dict[str, Any]) -> bool:
        """Whether a field shares its bytes with others."""
        return any(name in self.shared for name in entry)

    def _is_wire(self, entry: dict[str, Any]) -> bool:
        (key,) = entry
        value = entry[key]
        if key in Entry.keys():  # noqa: SIM118 - a class method, no mapping
            return False
        return not isinstance(value, dict) or not {"compute", "counted"} & set(value)

    def _by_arity(self, fields: list[dict[str, Any]]) -> Any:
        chance = self.chance
        conditional = any(
            isinstance(written, dict) and "when" in written for entry in fields for written in entry.values()
        )
        if len(fields) < 2 or (conditional and not chance.often(0.1)):
            return ABSENT
        later = fields[chance.randint(1, len(fields) - 1) :]
        ended = chance.often(0.25)
        key = "until" if ended else "since"
        for entry in later:
            _set(entry, key, "old" if ended else "new")
        few, many = len(fields) - len(later), len(fields)
        arities = (many, few) if ended else (few, many)
        return {
            name: document(Version, {"arity": arity, "when": ABSENT})
            for name, arity in zip(("old", "new"), arities, strict=True)
        }

    def _mark_fields(self, fields: list[dict[str, Any]], chosen: list[dict[str, Any]]) -> None:
        for entry in fields:
            if entry in chosen:
                _set(entry, *self.chance.one([("since", "new"), ("until", "old")]))


def _is_of_group(entry: dict[str, Any]) -> bool:
    """Whether an entry is a field of a protobuf group, which cannot have versions."""
    return any(isinstance(written, dict) and "oneOf" in written for written in entry.values())


def _version_when(text: str) -> dict[str, Any]:
    return document(Version, {"arity": ABSENT, "when": text})


def _set(entry: dict[str, Any], key: str, value: Any) -> None:
    (name,) = entry
    if not isinstance(entry[name], dict):
        entry[name] = {"type": entry[name]}
    entry[name][key] = value


__all__ = ["StructWriter", "bits", "written_struct"]
