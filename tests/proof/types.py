"""Writes types for one place: scalars, lists, maps, unions, selects, attempts, structs of any encoding."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proof.chance import Chance
from proof.formulas import Formulas
from proof.scope import ABSENT, Known, Scope, document
from wireloom.spec.language import (
    AttemptType,
    Fallback,
    MemberTag,
    OneOfType,
    PeekTag,
    Refusal,
    SelectType,
    Trial,
)

_WIDTHS = (8, 8, 16, 16, 24, 32, 32, 40, 48, 56, 64, 64)
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in _WIDTHS)
_VARINTS = ("varint32", "varint64", "zigzag32", "zigzag64")
_NUMERALS = {
    "vlq32": 32,
    "vlq64": 64,
    "quic62": 62,
    "sqlite64": 64,
    "flac36": 36,
    "ebml56": 56,
    "sleb32": 32,
    "sleb64": 64,
}
_MARKED = {
    "extended(253, uint16, uint32, uint64)": 64,
    "extended(2, -, uint8, uint24, uint16)": 24,
    "extended(255, uint8)": 8,
    "extended(0, -, uint56)": 56,
}
_NUMERALS |= _MARKED
_DECIMALS = ("bcd1", "bcd2", "bcd18", "packed1", "packed5", "packed18", "upacked1", "upacked1", "upacked1", "upacked18")
_ZONED = tuple(
    f"{form}{digits}" for form in ("zoned", "uzoned", "lzoned", "overpunch", "loverpunch") for digits in (1, 18)
)
_COLUMNS = (
    "dec1",
    "dec4",
    "dec18",
    "sdec1",
    "sdec1",
    "sdec3",
    "sdec18",
    "oct1",
    "oct1",
    "oct21",
    "oct21",
    "oct21",
)  # oct1 is refused most often
_HEXADECIMALS = ("hex1", "hex1", "hex8", "hex16", "HEX1", "HEX9", "HEX16")
_DELIMITED = ("dec", "dec", "sdec", "hex", "HEX", "oct")
_BEHIND_DIGITS = ("0d0a", "20", "00", "3b", "2c20")
_ENCODINGS = ("binary", "msgpack", "protobuf", "json")
FORMS = {"binary": "sequence", "msgpack": "array", "json": "object", "protobuf": "message"}
"""The default `form` of a struct in each encoding."""
_WORD = 64  # bits of the machine's numbers
BEYOND = (1 << 63, (1 << 63) + 5, (1 << 64) - 1)
"""Numbers that need 64 bits."""
_REFUSED = 0.03  # the share of types that the loader refuses, so that refusals are tested too
_OF_INTEGERS = re.compile(r"list\(([a-zA-Z]+[0-9]*)\??\)\??")
_OF_TEXTS = re.compile(r"list\((str|bytes)(\([^()]*\))?\??\)\??")
_OF_SCALARS = re.compile(r"list\((u?int[0-9]*|bool|str|bytes)(\([^()]*\))?\)\??")
_NO_INTEGERS = {"bit", "bool", "float16", "float32", "float64", "float", "str", "bytes", "nil", "json", "variant"}


@dataclass(frozen=True, slots=True)
class Typed:
    """A type's notation, and its properties."""

    form: Any
    shape: str  # int, bool, float, text, bytes, list, map, struct, select, union, ext, json, nil
    kind: str = "any"
    bits: int = 0
    signed: bool = False
    nullable: bool = False
    greedy: bool = False  # binary without an end of its own
    packed: bool = False  # a list whose elements are no whole bytes
    size: int | None = None  # size in bytes in binary, if fixed
    ending: str = ""  # the delimiter that it needs
    members: tuple[Known, ...] = ()
    elements: tuple[Known, ...] = ()

    @property
    def is_beyond(self) -> bool:
        """Whether it has numbers beyond 63 bits, up to 64."""
        return self.shape == "int" and (str(self.form) == "int65" or (self.bits == _WORD and not self.signed))

    @property
    def single(self) -> "Typed":
        """The element type of a list of scalars; otherwise the type itself."""
        is_whole = self.shape == "list" and not self.packed
        found = _OF_SCALARS.fullmatch(str(self.form)) if is_whole else None
        if found is None:
            return self
        word, size = found[1], found[2]
        if word in ("str", "bytes"):
            kind = "text" if word == "str" else "bytes"
            return Typed(word, kind, kind, size=int(size[1:-1]) if size and size[1:-1].isdigit() else None)
        return Typed("bool", "bool", "bool") if word == "bool" else integer(word)

    def known(self, name: str, values: tuple[Any, ...] | None = None) -> Known:
        """The name of a field of this type, as expressions see it."""
        inner = _OF_INTEGERS.fullmatch(str(self.form))
        integers = inner is not None and inner[1] not in _NO_INTEGERS
        words = _OF_TEXTS.fullmatch(str(self.form))
        texts = {"str": "text", "bytes": "bytes"}[words[1]] if words is not None else ""
        return Known(name, self.kind, values, self.members, self.elements, integers=integers, texts=texts)


def integer(name: str) -> Typed:
    """An integer type by its name."""
    if name in _VARINTS:
        return Typed(name, "int", "int", int(name[-2:]), signed=name.startswith("zigzag"))
    if name in _NUMERALS:
        return Typed(name, "int", "int", _NUMERALS[name], signed=name.startswith(("sqlite", "sleb")))
    if name.startswith(("bcd", "packed", "upacked")):
        digits, packed = int("".join(filter(str.isdigit, name))), "packed" in name
        bits, size = (10**digits).bit_length() - 1, digits // 2 + 1 if packed else (digits + 1) // 2
        return Typed(name, "int", "int", bits, signed=name.startswith("packed"), size=size)
    if name in _ZONED:
        digits = int("".join(filter(str.isdigit, name)))
        return Typed(name, "int", "int", (10**digits).bit_length() - 1, signed=not name.startswith("u"), size=digits)
    if name.lower().lstrip("s").startswith(("dec", "hex", "oct")):
        digits, signed = int("".join(filter(str.isdigit, name))), name.startswith("s")
        base = 16 if name.lower().startswith("hex") else 8 if name.startswith("oct") else 10
        return Typed(name, "int", "int", (base**digits).bit_length() - 1, signed=signed, size=digits + signed)
    bits = int(name.lstrip("uint") or 64)
    return Typed(name, "int", "int", bits, signed=not name.startswith("u"), size=bits // 8)


def joined(kinds: Iterable[str]) -> str:
    """The common kind of values of these kinds."""
    found = set(kinds) - {"nil"}
    return found.pop() if len(found) == 1 else "nil" if not found else "any"


_NAMED_KINDS = {"bool": "bool", "int": "int", "str": "text", "bytes": "bytes", "nil": "nil", "float": "float"}


def kind_of(notation: str) -> str:
    """The kind of an alternative, by its notation."""
    if notation.startswith(("list", "map")):
        return "list"
    if notation.startswith("ext"):
        return "text" if "str" in notation else "bytes"
    return _NAMED_KINDS.get(notation, "any")


Maker = tuple[float, Callable[[], Typed]]
"""Weight and maker of a type."""


@dataclass(frozen=True)
class Types:
    """Makes types for one place. `last` if nothing follows on the wire."""

    scope: Scope
    last: bool = False

    @property
    def chance(self) -> Chance:
        """The source of choices."""
        return self.scope.draft.chance

    @property
    def is_deep(self) -> bool:
        """Whether no further struct should be nested here."""
        return self.scope.depth >= self.scope.draft.temper.depth or self.scope.draft.budget <= 0

    @property
    def encoding(self) -> str:
        """The encoding of the current struct."""
        return self.scope.encoding

    # --- scalars ---

    def integer(self) -> Typed:
        """An integer."""
        if self.encoding != "binary" and self.chance.often(0.25):
            return integer("int")
        if self.encoding in ("binary", "protobuf") and self.chance.often(0.15):
            return integer(self.chance.one(_VARINTS))
        if self.encoding == "binary" and self.chance.often(0.36):
            return integer(self.chance.one([*_NUMERALS, *_DECIMALS, *_ZONED, *_COLUMNS, *_HEXADECIMALS]))
        if self.encoding == "binary" and self.chance.often(0.04):
            return self._delimited()
        if self.encoding in ("msgpack", "json") and self.chance.often(0.1):
            return Typed("int65", "int", "int", 64, signed=True)
        return integer(self.chance.one(_INTEGERS))

    def unsigned(self) -> Typed:
        """A small unsigned integer for counts and sizes."""
        if self.encoding == "binary" and self.chance.often(0.1):
            return integer(self.chance.one(["dec3", "bcd4", "HEX3", "oct5"]))
        return integer(self.chance.one(["uint8", "uint8", "uint16", "uint24", "uint32"]))

    def amount(self) -> Typed:
        """A count or size that does not depend on offsets."""
        if self.encoding == "binary" and self.chance.often(0.08):
            return self._delimited()
        return integer(self.chance.one(_VARINTS[:2])) if self.chance.often(0.2) else self.unsigned()

    def _delimited(self) -> Typed:
        """Digits up to a delimiter."""
        name = self.chance.one(_DELIMITED)
        ending = "61" if self.chance.often(_REFUSED) else self.chance.one(_BEHIND_DIGITS)
        return Typed(name, "int", "int", 64, signed=name == "sdec", ending=ending)

    def real(self) -> Typed:
        """A float."""
        name = self.chance.one(["float32", "float64", "float"])
        if self.encoding == "binary" and self.chance.often(0.2):
            return Typed("float16", "float", "float", size=2)
        return Typed(name, "float", "float", size=4 if name == "float32" else 8)

    def boolean(self) -> Typed:
        """A boolean."""
        return Typed("bool", "bool", "bool", size=1)

    def text(self) -> Typed:
        """A text; in binary with a size, unless it is last."""
        return self._sized("str", "text")

    def octets(self) -> Typed:
        """Bytes."""
        return self._sized("bytes", "bytes")

    def _sized(self, name: str, kind: str) -> Typed:
        if self.encoding == "binary":
            if self.last and self.chance.often(0.6):
                return Typed(name, kind, kind, greedy=True)
            if self.chance.often(0.3):
                return self._behind_size(name, kind)
            size = self.chance.randint(0, 5)
            return Typed(f"{name}({size})", kind, kind, size=size)
        if self.encoding != "binary" and self.chance.often(0.25 if name == "bytes" else _REFUSED):
            stated = self.chance.randint(0, 4) if self.chance.often(0.7) else None
            formula = Formulas(self.scope).integer() if stated is None else str(stated)
            return Typed(f"{name}({formula})", kind, kind, size=stated)
        return Typed(name, kind, kind)

    def _behind_size(self, name: str, kind: str) -> Typed:
        """A text or bytes after a size, which may mean null, or in blocks."""
        size = self.front()
        if self.chance.often(0.25):
            return Typed(f"{name}(blocks({size.form}))", kind, kind)
        nullable = size.signed and self.chance.often(0.5)
        return Typed(f"{name}({size.form}){'?' if nullable else ''}", kind, kind, nullable=nullable)

    def front(self) -> Typed:
        """The type of a size or count before its value."""
        plain = ("uint8", "uint16", "int8", "int16", "uint24", "int32", "int")
        found = integer(self.chance.one([*_VARINTS, *_NUMERALS, "bcd2", "packed5", "dec4", "hex8", "sdec3", *plain]))
        return self._named(found) if self.chance.often(0.05) else found

    def scalar(self) -> Typed:
        """Any scalar."""
        makers = [(5, self.integer), (1, self.real), (1.5, self.boolean), (2, self.text), (1.5, self.octets)]
        if self.encoding == "json":
            makers.append((0.6, self.json))
        if self.encoding == "msgpack":
            makers.append((0.5, self.extension))
        found: Typed = self.chance.does(makers)
        if self.encoding in ("msgpack", "json"):
            if self.chance.often(0.2):
                return replace(found, form=f"{found.form}?", nullable=True)
            if self.chance.often(0.03):
                return Typed("nil", "nil", "nil")
        return found

    def json(self) -> Typed:
        """A JSON value kept as text."""
        return Typed(self.chance.one(["json", "json(object)", "json(array)", "json(any)"]), "json", "text")

    def extension(self) -> Typed:
        """A MessagePack ext value."""
        content = self.chance.one(["bytes", "str"])
        return Typed(f"ext({self.chance.randint(-128, 127)}, {content})", "ext", kind_of(f"ext {content}"))

    # --- composites ---

    def anything(self) -> Typed:
        """Any type that is allowed here."""
        chance, binary = self.chance, self.encoding == "binary"
        deep = self.is_deep
        makers: list[Maker] = [(10, self.scalar)]
        if not binary or self.last:
            makers.append((1.5, self.listing))
        if not deep:
            makers.append((1.5 if self.scope.draft.temper.depth < 5 else 6, self.struct))
            if self.encoding != "protobuf" or chance.often(_REFUSED):
                makers.append((1, self.select))
        if self.encoding == "protobuf":
            makers.append((0.8, self.mapping))
        if not binary and not deep:
            makers.append((0.2, self.foreign))
        if self.encoding in ("msgpack", "json"):
            makers += [(0.8, self.mapping), (0.7, self.union)]
            if not deep:
                makers += [(0.6, self.named_union), (0.7, self.recursive)]
        if not deep and chance.often(0.1):
            makers += [(1, self.alias)]
        found: Typed = chance.does(makers)
        return found

    def element(self) -> Typed:
        """The element type of a list or value type of a map."""
        inner = Types(self.scope)
        deep = self.is_deep
        makers: list[Maker] = [(3, inner.scalar)]
        if not deep:
            makers += [(3, lambda: inner.struct(in_list=True)), (0.4, inner.alias)]
            makers += [(0.2, inner.foreign)] if self.encoding != "binary" else []
        if self.encoding in ("msgpack", "json"):
            makers += [(0.4, inner.listing), (0.3, inner.mapping), (0.3, inner.union)]
        found: Typed = self.chance.does(makers)
        if self.encoding == "binary" and found.size == 0 and not self.chance.often(_REFUSED):
            return integer("uint8")
        return found

    def bits(self) -> Typed:
        """An integer that is no whole number of bytes, or a bit."""
        if self.chance.often(0.4):
            return Typed("bit", "bool", "bool")
        width = self.chance.one([2, 3, 4, 5, 7, 10, 12, 12, 31, 33, 58, 63])
        signed = self.chance.often(0.4)
        return Typed(f"{'int' if signed else 'uint'}{width}", "int", "int", width, signed=signed)

    def listing(self) -> Typed:
        """A list; in binary it fills its region."""
        if not self.is_deep and self.scope.draft.budget > 0 and self.chance.often(0.12):
            return self.entries()
        if self.encoding == "binary" and self.chance.often(0.15):
            return Typed(f"list({self.bits().form})", "list", "list", greedy=True, packed=True)
        element = self.element()
        listed = Typed(f"list({element.form})", "list", "list", greedy=True, elements=element.members)
        return replace(listed, ending=element.ending)

    def entries(self) -> Typed:
        """A list of structs that are map entries; in binary it fills its region."""
        from proof.structs import written_entry

        name = written_entry(self.scope.inner(self.encoding, in_list=True))
        return Typed(f"map({name})", "map", "list", greedy=True)

    def mapping(self) -> Typed:
        """A map."""
        if self.encoding == "json" or self.chance.often(0.5):
            key = "str"
        elif self.encoding == "protobuf" and not self.chance.often(_REFUSED):
            key = self.chance.one(["int", "str", "uint8", "bool", "zigzag32"])
        else:
            key = self.chance.one(["int", "str", "bytes", "uint8", "bool", "float", "int | str"])
        return Typed(f"map({key}, {self.element().form})", "map", "list")

    def union(self) -> Typed:
        """A union by kind."""
        number = self.chance.one(["int", "int", "uint8", "int64", "uint64", "int8"])
        options = ["bool", number, self.chance.one(["float", "float32"]), "str", "nil"]
        options.append(self.chance.one(["list(int)", "list(str)", "list(int?)", "list(float32)", "list(bool | int)"]))
        options.append(self.chance.one(["map(str, int)", "map(str, int?)"]))
        if self.encoding == "msgpack":
            options += [self.chance.one(["bytes", "ext(5, bytes)"])]
        if self.encoding == "json" and self.chance.often(0.15):
            options = [each for each in options if each != "str" and not each.startswith(("list", "map"))]
            texts = self.chance.some(["json(object)", "json(array)"], 1)
            chosen = [*texts, *self.chance.sample(options, self.chance.randint(len(texts) == 1, 2))]
        else:
            chosen = self.chance.sample(options, self.chance.randint(2, 4))
        return Typed(" | ".join(chosen), "union", joined(map(kind_of, chosen)))

    def named_union(self) -> Typed:
        """A closed `oneOf`, named or inline."""
        options = [("num", "int"), ("flag", "bool"), ("txt", "str"), ("real", "float"), ("none", "nil")]
        options += [("items", "list(int)")]
        if self.encoding == "msgpack":
            options += [self.chance.one([("raw", "bytes"), ("e1", "ext(1, bytes)")])]
            if self.chance.often(0.3):
                options = [("e2", "ext(2, str)") if name == "txt" else (name, type) for name, type in options]
        chosen = dict(self.chance.sample(options, self.chance.randint(1, 4)))
        if self.chance.often(0.3 if self.encoding == "json" else _REFUSED):
            chosen |= self._structs(chosen)
        return self._placed_union(chosen, in_place=self.chance.often(0.4))

    def _structs(self, beside: Mapping[str, str]) -> dict[str, str]:
        """Structs as alternatives: an object, an array, or one of each."""
        structs = dict[str, str]()
        for _ in range(self.chance.randint(1, 2)):
            struct = self.struct() if self.scope.draft.budget > 0 else None
            form = "" if struct is None else self.scope.draft.types[struct.form].get("form", FORMS[self.encoding])
            taken = form in structs or (form == "array" and "items" in beside)
            if struct is not None and (not taken or self.chance.often(_REFUSED)):
                structs[form] = struct.form
        return structs

    def recursive(self) -> Typed:
        """A recursive `oneOf`."""
        name = self.scope.draft.new_type("V")
        options = {"none": "nil", "flag": "bool", "num": "int", "real": "float", "txt": "str"}
        if self.encoding == "msgpack":
            options |= {"raw": "bytes", "e7": "ext(7, str)" if self.chance.often(0.1) else "ext(7, bytes)"}
        chosen = dict(self.chance.some(list(options.items()), 1))
        nested = {"items": f"list({name})", "entries": f"map({self._open_key(name)}, {name})"}
        chosen |= dict(self.chance.some(list(nested.items()), 1))
        return self._placed_union(chosen, name=name)

    def _open_key(self, name: str) -> str:
        return "str" if self.encoding == "json" else self.chance.one(["str", name, "int"])

    def _placed_union(self, options: dict[str, str], name: str = "", *, in_place: bool = False) -> Typed:
        chance, draft = self.chance, self.scope.draft
        form = document(
            OneOfType,
            {
                "oneOf": options,
                "else": draft.code() if chance.often(0.15) else ABSENT,
                "extElse": draft.code() if self.encoding == "msgpack" and chance.often(0.35) else ABSENT,
                "doc": self.doc(),
            },
        )
        kind = joined(map(kind_of, options.values()))
        if in_place:
            return Typed(form, "union", kind)
        name = name or draft.new_type("U")
        draft.types[name] = form
        return Typed(name, "union", kind)

    def alias(self) -> Typed:
        """A type alias in text form."""
        return self._named(self.scalar())

    def _named(self, typed: Typed) -> Typed:
        name = self.scope.draft.new_type("A")
        self.scope.draft.types[name] = typed.form
        return replace(typed, form=name)

    def struct(self, *, in_list: bool = False, encoding: str = "") -> Typed:
        """A new struct; by default in the encoding of the outer struct."""
        from proof.structs import written_struct

        again = [typed for known, typed in self.scope.draft.made if known == (encoding or self.encoding)]
        again = [typed for typed in again if self.last or not typed.greedy]
        if again and self.chance.often(0.08):
            chosen: Typed = self.chance.one(again)
            return chosen
        inner = self.scope.inner(encoding or self.encoding, in_list=in_list)
        typed = written_struct(inner, last=self.last)
        self.scope.draft.made.append((inner.encoding, typed))
        return typed

    def foreign(self) -> Typed:
        """A struct of another encoding."""
        encoding = self.chance.one([each for each in _ENCODINGS if each != self.encoding])
        return Types(self.scope, last=True).struct(encoding=encoding)

    # --- choices ---

    def select(self) -> Typed:
        """A select with any kind of tag."""
        if self.encoding == "binary" and self.chance.often(0.25):
            if self.chance.often(0.1):
                return self._select(document(PeekTag, {"peek": "uint64"}), ["1", *map(str, BEYOND)])
            return self._select(self._peek(), [str(each) for each in (0, 1, 2, 255)])
        if self.encoding == "json" and self.chance.often(0.3):
            return self._member_select()
        formulas = Formulas(self.scope)
        if self.chance.often(0.12):
            numbers, flags, texts = ["0", "1", "2"], ["true", "false"], ["a", "b", "12"]
            makers = [(2, (formulas.integer, numbers)), (1, (formulas.boolean, flags)), (1, (formulas.text, texts))]
            made, values = self.chance.weighted(makers)
            return self._select(made(), values)
        tag = formulas.tag()
        if tag is None:
            return self.scalar()
        return self._select(*self._tag(tag))

    def _tag(self, tag: Known) -> tuple[str, list[str]]:
        match tag.kind:
            case "bool":
                return tag.name, ["true", "false"]
            case "text":
                return tag.name, [str(each) for each in tag.values or ("a", "b", "c ")]
            case "int" if tag.values is None and self.chance.often(0.2):
                return f"{tag.name} & 3", ["0", "1", "2", "3"]
            case _:
                beyond = map(str, BEYOND) if self.chance.often(0.05) else ()
                return tag.name, [str(each) for each in tag.values or ("0", "1", "2", "7", *beyond)]

    def _peek(self) -> dict[str, Any]:
        return document(PeekTag, {"peek": self.chance.one(["uint8", "uint8", "int8", "uint16", "uint24"])})

    def _member_select(self) -> Typed:
        chance = self.chance
        presence = chance.often(0.3)
        kind = chance.one(["text", "int", "bool"])
        texts = {"text": ["a", "b"], "int": ["1", "2"], "bool": ["true", "false"]}[kind]
        default: Any = {"text": "a", "int": 1, "bool": False}[kind]
        given = not presence and (kind != "text" or chance.often(0.5))
        tag = document(
            MemberTag,
            {
                "member": chance.one(["kind", "t"]),
                "presence": True if presence else ABSENT,
                "default": default if given else ABSENT,
            },
        )
        return self._select(tag, ["true", "false"] if presence else texts, structs=True)

    def _give_tag(self, tag: Any, case: Typed, value: str) -> None:
        """Give most structs the tag that selects them: as first field, or as a member."""
        chance, struct = self.chance, self.scope.draft.types.get(case.form)
        if not isinstance(tag, dict) or not struct or "fields" not in struct or chance.often(_REFUSED):
            return
        is_alike = chance.often(0.4) and "'told'" not in repr(struct["fields"])  # the same name in several cases
        name = "told" if is_alike else self.scope.draft.name("t")
        if "peek" in tag:
            if chance.often(0.7) and struct.get("encoding", self.encoding) == "binary" and "'at'" not in repr(struct):
                given = {"type": tag["peek"]}
                given |= {"const": int(value), "hidden": True} if chance.often(0.4) else {}
                struct["fields"].insert(0, {name: given})
            return
        if struct.get("form") == "array" or f"'{tag['member']}'" in repr(struct["fields"]):
            return
        absent = value == "false" if tag.get("presence") else value == str(tag.get("default", "")).lower()
        if absent and chance.often(0.6):
            return
        kind = {"true": "bool", "false": "bool"}.get(value, "int" if value.isdigit() else "str")
        kind = chance.one(["str", "bool", "int"]) if tag.get("presence") else kind
        given = {"type": kind, "member": tag["member"]} | ({"optional": True} if absent else {})
        stated: Any = {"str": value, "bool": value == "true", "int": int(value) if value.isdigit() else 0}[kind]
        if absent and not tag.get("presence") and chance.often(0.5):
            given["default"] = stated
        elif not tag.get("presence"):
            given |= chance.one([{}, {"const": stated}, {"const": stated, "hidden": True}])
        struct["fields"].insert(chance.randint(0, len(struct["fields"])), {name: given})

    def _ranged(self, cases: dict[str, Any]) -> dict[str, Any]:
        """The cases, perhaps with one range of values."""
        key = next(iter(cases))
        if not key.isdigit() or not self.chance.often(0.15) or int(key) + 1 in map(int, filter(str.isdigit, cases)):
            return cases
        return {(f"{key} .. {int(key) + 1}" if each == key else each): case for each, case in cases.items()}

    def _select(self, tag: Any, values: list[str], *, structs: bool = False) -> Typed:
        chance, draft = self.chance, self.scope.draft
        chosen = chance.some(list(dict.fromkeys(values)), 1)[:3]
        of_structs = structs or chance.often(0.6)
        cases: dict[str, Any] = {}
        kinds: list[str] = []
        for value in chosen:
            inner = Types(self.scope, self.last)
            structs_of = (
                inner.foreign if self.encoding != "binary" and not structs and chance.often(0.08) else inner.struct
            )
            made = structs_of() if of_structs and draft.budget > 0 else inner.scalar()
            cases[value] = made.form
            kinds.append(made.kind)
            self._give_tag(tag, made, value)
        if len(chosen) > 1 and chance.often(0.15):
            cases[chosen[-1]] = document(Refusal, {"error": draft.code()})
            kinds.pop()
        others = [each for each in values if each not in chosen]
        if chance.often(0.1) and others:
            key = f"{chosen[0]}, {others[0]}"
            cases = {key if value == chosen[0] else value: case for value, case in cases.items()}
        member = isinstance(tag, dict) and "member" in tag
        other: Any = ABSENT
        if chance.often(0.25) and not member:
            inner = Types(self.scope, self.last)
            made = inner.struct() if of_structs and draft.budget > 0 else inner.scalar()
            other = made.form
            kinds.append(made.kind)
        form = document(
            SelectType,
            {
                "select": tag,
                "cases": self._ranged(cases),
                "otherwise": other,
                "else": draft.code() if other is ABSENT and chance.often(0.15) else ABSENT,
                "doc": self.doc(),
            },
        )
        if chance.often(0.3):
            name = draft.new_type("S")
            draft.types[name] = form
        else:
            name = ""
        shape = "select" if all(kind == "struct" for kind in kinds) else "choice"
        return Typed(name or form, shape, joined(kinds), greedy=self.last)

    def attempt(self) -> Typed:
        """Named alternatives over the same bytes."""
        chance, draft = self.chance, self.scope.draft
        names = ["first", "second", "third"][: chance.randint(2, 3)]
        trials = [self._trial(name, last=name == names[-1]) for name in names]
        form = document(
            AttemptType,
            {
                "attempt": trials,
                "kind": draft.name("k") if chance.often(0.5) else None if chance.often(0.3) else ABSENT,
                "reason": draft.name("r") if chance.often(0.4) else None if chance.often(0.3) else ABSENT,
                "doc": self.doc(),
            },
        )
        name = draft.new_type("W")
        draft.types[name] = form
        return Typed(name, "attempt", "struct", greedy=self.last)

    def _trial(self, name: str, *, last: bool) -> dict[str, Any]:
        chance = self.chance
        struct = Types(self.scope, last=self.last).struct()
        return document(
            Trial,
            {
                "name": name,
                "type": struct.form,
                "fallback": [self._fallback()] if not last or chance.often(_REFUSED) else ABSENT,
                "buildWhen": self._build_when(struct) if chance.often(0.25) else ABSENT,
            },
        )

    def _build_when(self, struct: Typed) -> str:
        scope = Scope(self.scope.draft, "", known=list(struct.members))
        return Formulas(scope).boolean()

    def _fallback(self) -> dict[str, Any]:
        chance = self.chance
        codes = ["truncated", "bad_constant", "trailing_bytes", "unknown_value", "type_mismatch", "missing_key"]
        return document(
            Fallback,
            {
                "codes": [*chance.some(codes, 1), *(self.scope.draft.code() for _ in range(chance.randint(0, 1)))],
                "when": Formulas(self.scope, parameters=True).boolean() if chance.often(0.2) else ABSENT,
            },
        )

    def doc(self) -> Any:
        """Documentation, sometimes."""
        return self.chance.one(["What it is.", 'Of `x`: "this" and\nthat', "é"]) if self.chance.often(0.1) else ABSENT
