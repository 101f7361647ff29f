"""The keys of a field: one strategy for each key of the language, given what is known of the field so far."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from proof.chance import Chance
from proof.formulas import Formulas, literal
from proof.scope import ABSENT, Known, Scope, document
from proof.types import BEYOND, Typed
from wireloom.resolve.bind.renamings import Renaming
from wireloom.runtime.patterns import NAMED
from wireloom.spec.language import (
    Bits,
    FieldDocument,
    Flattening,
    Jump,
    MappedValue,
    NamedPattern,
    PackingChoice,
    Salvage,
)

if TYPE_CHECKING:
    from proof.structs import StructWriter

_OFF_WIRE = ("type", "doc", "unit", "hidden", "else")  # keys that fields without bytes may have
_NAME = re.compile(r"\b[a-z]+[0-9]+\b|size")  # names of fields, bits, marks and parameters
_DOCS = ("What was measured", '`x`: "y", z # no\nmore', 'A """ and a \\ and a {brace}', "Größe | Maß")
_SCALARS = ("int", "bool", "float", "text", "bytes")
CHARSETS = ("utf-8", "ascii", "latin-1", "cp1252", "cp037", "cp437", "utf-16le", "utf-16be")
PATTERNS = (
    *("[ab]*", "[^b]*", "[a-z0-9]+", "a?(b|c d)*", "[ab0 ]{0,4}", "(12|x{1,20})?", '[^"]*', "[\\-a]?", "[^\\x00b]*"),
    "[+-]?[0-9]{1,3}",
)
ENDINGS = ("00", "00", "0a", "0d0a", "2c", "abab")
_PAIR = 4  # hexadecimal digits of two bytes
_ASCII = 0x80
_UNITS = ("ms since epoch", "bytes")
_MEMBERS = ("m", "", "a member", 'q"u', "é", "type", "0")


@dataclass(slots=True)
class Plan:
    """A field being written: keys that are decided beforehand (`preset`), and the keys so far."""

    struct: "StructWriter"
    name: str
    typed: Typed
    preset: Mapping[str, Any]
    given: dict[str, Any] = field(default_factory=dict)
    values: tuple[Any, ...] | None = None
    lent: list[Known] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        """The names so far."""
        return self.struct.scope

    @property
    def chance(self) -> Chance:
        """The source of choices."""
        return self.scope.draft.chance

    @property
    def encoding(self) -> str:
        """The struct's encoding."""
        return self.scope.encoding

    def often(self, share: float) -> bool:
        """True with the given probability, which rises with the number of keys that fields should get."""
        return self.chance.often(min(share * self.scope.draft.temper.keys, 0.9))

    def has(self, *keys: str) -> bool:
        """Whether one of the keys is present, or will be."""
        return any(key in self.given or self.preset.get(key, ABSENT) is not ABSENT for key in keys)

    @property
    def may_clash(self) -> bool:
        """Whether to write keys that exclude each other."""
        return self.often(0.03)

    def off_wire(self, key: str) -> bool:
        """Whether the key is meaningless because the field has no bytes."""
        return (
            not self.on_wire
            and key not in _OFF_WIRE
            and not (key in ("when", "as", "scale", "offset") and self.has("compute"))
        )

    @property
    def on_wire(self) -> bool:
        """Whether the field has bytes."""
        return not self.has("compute", "counted")

    def formulas(self, *, late: bool = False) -> Formulas:
        """Expressions over the names before the field."""
        return Formulas(self.scope, late=late)


def written_field(plan: Plan) -> dict[str, Any]:
    """The document of the field. All keys are tried; `else` comes last, because it depends on the others."""
    for key in sorted(FieldDocument.keys(), key=_ORDER.index):
        if plan.off_wire(key) and key not in plan.preset:
            continue
        value = plan.preset[key] if key in plan.preset else STRATEGIES[key](plan)
        if value is not ABSENT:
            plan.given[key] = value
    return {key: plan.given[key] for key in FieldDocument.keys() if key in plan.given}  # noqa: SIM118 - no mapping


def _absent(_: Plan) -> Any:
    return ABSENT


def _type(plan: Plan) -> Any:
    return plan.typed.form


def _doc(plan: Plan) -> Any:
    return plan.chance.one(_DOCS) if plan.chance.often(0.05) else ABSENT


def _unit(plan: Plan) -> Any:
    return plan.chance.one(_UNITS) if plan.chance.often(0.04) else ABSENT


def _as(plan: Plan) -> Any:
    if plan.has("flatten"):
        return ABSENT
    return plan.scope.draft.name("a") if plan.often(0.06) else ABSENT


def _else(plan: Plan) -> Any:
    checked = plan.has("const", "range", "length", "pattern", "size", "checksum", "refers", "unique")
    checked = checked or (plan.has("delimiter") and not plan.typed.ending)
    checked = checked or (plan.has("values") and not plan.has("raw"))
    sized = isinstance(plan.typed.form, str) and plan.typed.form.startswith(("bytes(", "str("))
    return plan.scope.draft.code() if (checked or sized) and plan.often(0.3) else ABSENT


def _when(plan: Plan) -> Any:
    if (plan.struct.form == "array" and plan.chance.often(0.7)) or plan.has("oneOf"):
        return ABSENT
    return plan.formulas().boolean() if plan.often(0.09) else ABSENT


def _optional(plan: Plan) -> Any:
    if plan.struct.form not in ("object", "message") or not plan.on_wire:
        return ABSENT
    return True if plan.often(0.25) else ABSENT


def _default(plan: Plan) -> Any:
    if not plan.has("optional") or plan.typed.shape not in _SCALARS or plan.chance.often(0.5):
        return ABSENT
    return constant(plan)


def _const(plan: Plan) -> Any:
    free = plan.on_wire and (plan.may_clash or not plan.has("derive", "values", "range", "bits", "checksum", "default"))
    free = free and (plan.may_clash or not (plan.typed.nullable or str(plan.typed.form).startswith("json")))
    if not free or plan.typed.shape not in _SCALARS or not plan.often(0.05):
        return ABSENT
    return constant(plan)


def _values(plan: Plan) -> Any:
    free = plan.may_clash or not plan.has("const", "bits", "range", "checksum", "default", "derive", "refers", "hidden")
    single = plan if plan.has("table") else _of_an_element(plan)
    if not free or single.typed.shape not in ("int", "bool", "text", "bytes") or not plan.often(0.1):
        return ABSENT
    return table(single, wire_keys(single), computes=single is plan or plan.chance.often(0.05))


def _of_an_element(plan: Plan) -> Plan:
    """For a list of scalars, a plan for the rules of its elements; otherwise the field's own plan."""
    single = plan.typed.single
    return plan if single is plan.typed else replace(plan, typed=single)


def _range(plan: Plan) -> Any:
    plan = plan if plan.has("table") else _of_an_element(plan)
    free = plan.may_clash or not plan.has("values", "const", "bits", "checksum", "default")
    if not free or plan.typed.shape not in ("int", "float") or not plan.often(0.07):
        return ABSENT
    if plan.typed.is_beyond and plan.chance.often(0.5):
        low, middle, high = BEYOND
        return plan.chance.one([f"{low} ..", f".. {middle}", f"3 .. {high}", f"{low} .. {middle}", f"0 .. {low - 1}"])
    return plan.chance.one(
        ["0 .. 100", "1 ..", ".. 100", "3 .. 5", "0x10 .. 0x20", "-1 .. 5" if plan.typed.signed else "2 .."]
    )


def _length(plan: Plan) -> Any:
    """The allowed length of a text."""
    plan = _of_an_element(plan)
    if not _is_spelled(plan) or not plan.often(0.12):
        return ABSENT
    if plan.typed.size is not None and plan.chance.often(0.8):
        return plan.chance.one([f".. {plan.typed.size}", f"{min(plan.typed.size, 1)} .."])
    return plan.chance.one(["1 ..", "0 .. 3", ".. 5", "2 .. 20", "1 .. 1"])


def _pattern(plan: Plan) -> Any:
    """A pattern for a text."""
    plan = _of_an_element(plan)
    if not _is_spelled(plan) or not plan.often(0.12):
        return ABSENT
    return (
        plan.chance.one(PATTERNS)
        if plan.chance.often(0.8)
        else document(NamedPattern, {"named": plan.chance.one(sorted(NAMED))})
    )


def _is_spelled(plan: Plan) -> bool:
    """Whether the field is a text that may have a pattern or length."""
    rivals = (
        "values",
        "const",
        "bits",
        "checksum",
        "default",
        "derive",
        "refers",
        "hidden",
        "null",
        "flatten",
        "table",
    )
    of_keys = plan.typed.shape == "map" and str(plan.typed.form).startswith("map(str,")
    fits = plan.on_wire and (of_keys or (plan.typed.shape == "text" and str(plan.typed.form).startswith("str")))
    return fits and (plan.may_clash or not plan.has(*rivals))


def _bits(plan: Plan) -> Any:
    free = plan.encoding == "binary" and plan.on_wire and not plan.has("values", "const", "range", "derive", "checksum")
    plain = str(plan.typed.form).lstrip("u").startswith(("int", "var", "zig"))  # others may be digits in text
    if not free or plan.typed.shape != "int" or not plan.often(0.12 if plain else 0.003):
        return ABSENT
    return bits(plan)


def _derive(plan: Plan) -> Any:
    if not plan.on_wire or plan.has("const", "checksum", "bits", "length", "pattern"):
        return ABSENT
    if plan.has("hidden") or plan.often(0.02):
        return derived(plan)
    return ABSENT


_NARROW = 32  # integers of up to so many bits stay distinct as floats with any scale
_MEANT_ALONE = (
    "length",
    "pattern",
    "const",
    "values",
    "bits",
    "derive",
    "checksum",
    "refers",
    "unique",
    "hidden",
    "flatten",
    "salvage",
)


def _may_mean(plan: Plan) -> bool:
    """Whether the field may have a key that gives its value another meaning."""
    return plan.on_wire and not plan.has(*_MEANT_ALONE)


def _may_scale(plan: Plan) -> bool:
    """Whether the field's integer may be scaled, which computed ones may be, too."""
    fits = plan.typed.shape == "int" and plan.given.get("logical", "float") == "float"
    return fits and (_may_mean(plan) or (plan.has("compute") and not plan.has(*_MEANT_ALONE)))


def _null(plan: Plan) -> Any:
    if plan.has("values"):
        return _null_beside_values(plan)
    free = _may_mean(plan) and not plan.typed.nullable and not plan.has("optional", "default")
    if not free or plan.typed.shape not in ("int", "float", "text", "bytes") or not plan.often(0.04):
        return ABSENT
    return constant(plan)


def _null_beside_values(plan: Plan) -> Any:
    """The wire value of null in a field with `values`."""
    rivals = ({*_MEANT_ALONE} - {"values"}) | {"optional", "default", "oneOf"}
    free = plan.on_wire and not plan.typed.nullable and plan.typed.shape in ("int", "text", "bytes")
    if not free or plan.has(*rivals) or not plan.chance.often(0.3):
        return ABSENT
    null = constant(plan)
    if str(null) in map(str, plan.given["values"]):
        return ABSENT
    plan.values = None if plan.values is None else (*plan.values, None)
    return null


_TIMES = {
    "timestamp": (
        "2026-01-31T12:00:00Z",
        "1969-12-31T23:59:59.5Z",
        "0001-01-01T00:00:00Z",
        "2000-02-29T00:00:00+05:30",
    ),
    "date": ("2026-01-31", "0001-01-01", "9999-12-31"),
}
_NUMBERS = {
    **{f"int{bits}": ("0", "-1", str(-1 << bits - 1), str((1 << bits - 1) - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": ("0", "7", str((1 << bits) - 1)) for bits in (8, 16, 32, 64)},
    "decimal(10, 2)": ("0.00", "0", "-0.5", "99999999.99"),
    "decimal(3,3)": ("0", "-0.001", "0.5"),
    "decimal(38, 9)": ("0", "-1", "12345678901234567890123456789.123456789"),
    "decimal(18, 0)": ("0", "-1", "999999999999999999"),
}

_IN_PLACE_OF_TIMES = ("", "-", "n/a", "0000-00-00", "0000-00-00T00:00:00Z", "a|b.c*\\d", "2026-01-31T12:00")
_IN_PLACE_OF_NUMBERS = ("", "-", "n/a", "-0", "00", "a|b.c*\\d", "99999999999999999999", "1e3")


def _logical(plan: Plan) -> Any:
    if not _may_mean(plan) or not plan.often(0.08):
        return ABSENT
    if plan.typed.shape == "bytes":
        return {16: plan.chance.one(["uuid", "ipv6"]), 4: "ipv4", 6: "mac"}.get(plan.typed.size or 0, ABSENT)
    if plan.typed.shape == "text":
        return _said(plan)
    if plan.typed.shape == "float":
        return _said_by_float(plan)
    if plan.typed.shape != "int":
        return ABSENT
    unit = plan.chance.one(["s", "ms", "us", "10ms", "min", "h", "d"] if plan.chance.often(0.7) else ["ns", "100ns"])
    floats = ["float"] if plan.typed.bits <= _NARROW else []
    return plan.chance.one(["date", *floats, {"timestamp": unit}, {"timestamp": unit}, {"duration": unit}])


def _said_by_float(plan: Plan) -> Any:
    """The unit of a time, which what stands for nothing is, too."""
    if plan.typed.form == "float16" and not plan.chance.often(0.02):
        return ABSENT
    for key in ("default", "null"):
        if key in plan.given:
            plan.given[key] = plan.chance.one([0, 12.5, 3600])
    return {"timestamp": plan.chance.one(["s", "ms"])}


def _said(plan: Plan) -> Any:
    """The meaning of a text, a time or a number; its default and null get matching texts."""
    sized = plan.typed.size is not None and not plan.chance.often(0.1)
    if sized or (plan.has("length", "pattern") and not plan.may_clash):
        return ABSENT
    kind: str = plan.chance.one(["timestamp", "timestamp", "date"])
    said, others = _TIMES[kind], list(_IN_PLACE_OF_TIMES)
    if plan.chance.often(0.6):
        kind = plan.chance.one(list(_NUMBERS))
        said, others = _NUMBERS[kind], list(_IN_PLACE_OF_NUMBERS)
    for key in ("default", "null"):
        if key in plan.given:
            plan.given[key] = plan.chance.one(said)
    if "null" in plan.given and plan.chance.often(0.6):
        plan.given["null"] = plan.chance.one(others)
    return kind


def _epoch(plan: Plan) -> Any:
    logical = plan.given.get("logical")
    counts = logical == "date" or (isinstance(logical, dict) and "timestamp" in logical)
    if not counts or not plan.often(0.5):
        return ABSENT
    return plan.chance.one(["1900-01-01", "2001-01-01", "0001-01-01", "9999-12-31", "1904-01-01"])


def _scale(plan: Plan) -> Any:
    if not _may_scale(plan) or not plan.often(0.05):
        return ABSENT
    thirds = ["1/3"] if plan.typed.bits <= _NARROW else []
    return plan.chance.one([0.01, 10, 0.25, -0.1, "1/256", *thirds, 0.0000001, 1000])


def _offset(plan: Plan) -> Any:
    return plan.chance.one([-40, 0.5, 1900, "1/8"]) if _may_scale(plan) and plan.often(0.03) else ABSENT


def _raw(plan: Plan) -> Any:
    if "values" in plan.given:
        return _raw_beside_values(plan)
    logical = plan.given.get("logical")
    if plan.typed.shape == "text" and logical is not None:
        return plan.scope.draft.name("a") if plan.chance.often(0.4) else ABSENT
    lossy = isinstance(logical, dict) and str(next(iter(logical.values()))).endswith("ns")
    if not isinstance(logical, dict) or not plan.chance.often(0.99 if lossy else 0.2):
        return ABSENT
    return plan.scope.draft.name("a")


def _raw_beside_values(plan: Plan) -> Any:
    """The name of the raw value in a field with `values`."""
    others = (plan.values or ())[: -1 if "null" in plan.given else None]
    texts = plan.values is not None and all(isinstance(each, str) for each in others)
    if not texts or not plan.on_wire or plan.typed.nullable or not plan.chance.often(0.4):
        return ABSENT
    plan.values = None
    return plan.scope.draft.name("a")


def _flatten(plan: Plan) -> Any:
    if plan.typed.shape == "attempt":
        return _melting(plan) if plan.chance.often(0.8) else ABSENT
    if plan.typed.shape not in ("struct", "select") or plan.has("hidden", "as"):
        return ABSENT
    return _melting(plan) if plan.often(0.25) else ABSENT


def _melting(plan: Plan) -> Any:
    """How members are flattened: unchanged or renamed; sometimes a second time beside the first."""
    if not plan.chance.often(0.4):
        return True
    around = {each.name for each in plan.scope.known}
    looked_at = set(re.findall(r"\w+", repr(plan.scope.draft.types.get(str(plan.typed.form)))))
    if (
        not plan.struct.last
        and plan.typed.shape == "struct"
        and around.isdisjoint(looked_at)
        and plan.chance.often(0.6)
    ):
        again = _renaming(plan)

        def beside() -> None:
            plan.struct.add(plan.typed, flatten=again)

        plan.struct.deferred.append(beside)
    return _renaming(plan)


def _renaming(plan: Plan) -> dict[str, Any]:
    """New names for members, all or some."""
    chance, draft = plan.chance, plan.scope.draft
    known = [each.name for each in plan.typed.members]
    some = {name: draft.name("a") for name in chance.some(known, 0)} if known and chance.often(0.4) else {}
    prefix = draft.name("a") + ("_" if chance.often(0.8) else "")
    return document(
        Flattening,
        {"prefix": prefix if not some or chance.often(0.6) else ABSENT, "as": some or ABSENT},
    )


def _inline(plan: Plan) -> Any:
    if plan.struct.form != "object" or plan.encoding != "json" or plan.typed.shape not in ("struct", "select"):
        return ABSENT
    draft = plan.scope.draft
    cases = repr((plan.typed.form, draft.types.get(str(plan.typed.form))))
    named = {name: draft.types[name] for name in re.findall(r"\w+", cases) if isinstance(draft.types.get(name), dict)}
    bodies = [each for each in named.values() if "fields" in each and each.get("encoding", draft.encoding) != "json"]
    return True if plan.often(0.01 if bodies or set(draft.rests) & set(named) else 0.2) else ABSENT


def _hidden(plan: Plan) -> Any:
    free = not plan.has("flatten", "as", "counted", "values") and plan.typed.shape in ("int", "bool", "text")
    return True if free and plan.often(0.05) else ABSENT


def _tag(plan: Plan) -> Any:
    return plan.struct.tag() if plan.encoding == "protobuf" and plan.on_wire else ABSENT


def _member(plan: Plan) -> Any:
    if plan.struct.form != "object" or not plan.on_wire or not plan.often(0.15):
        return ABSENT
    return plan.chance.one(_MEMBERS) + plan.name


def _charset(plan: Plan) -> Any:
    """The character set of a text."""
    fits = plan.encoding != "json" and plan.on_wire and plan.typed.shape == "text" and plan.typed.kind == "text"
    if not fits or plan.has("checksum", "refers", "flatten", "derive", "logical") or not plan.often(0.09):
        return ABSENT
    return plan.chance.one(CHARSETS)


def _ending(plan: Plan) -> str:
    """A terminator, at least as long as a character of the field."""
    wide = str(plan.given.get("charset", "")).startswith("utf-16")
    return plan.chance.one([each for each in ENDINGS if len(each) == _PAIR] if wide else ENDINGS)


def _delimiter(plan: Plan) -> Any:
    """The delimiter of a text or of bytes that fill their region, or of their elements; or of digits."""
    if plan.typed.ending:
        return plan.typed.ending
    fits = plan.encoding == "binary" and plan.on_wire and plan.typed.greedy and not plan.has("bits")
    words = str(plan.typed.form) in ("str", "bytes", "list(str)", "list(bytes)")
    share = 1 if str(plan.typed.form).startswith("list") else 0.5
    if not fits or not words or not plan.chance.often(share):
        return ABSENT
    ending = _ending(plan)
    if plan.chance.often(0.75):
        return ending
    others = ("0d0a", "abab") if len(ending) == _PAIR else ("0d", "ab", "0d0a", "2c20", "0a")
    return [ending, *(each for each in plan.chance.some(others, 1) if each != ending or plan.may_clash)]


def _kept(plan: Plan) -> Any:
    """Whether a delimiter is a part of the value; rarely beside constants, which end differently."""
    rivals = ("const", "values", "null", "default", "derive", "logical", "pattern", "length")
    if not plan.has("delimiter") or plan.encoding != "binary" or plan.typed.ending or not plan.chance.often(0.25):
        return ABSENT
    stated = plan.given["delimiter"]
    is_text = "bytes" in str(plan.typed.form) or all(int(each[:2], 16) < _ASCII for each in _listed(stated))
    is_fine = is_text and not plan.has(*rivals) and not plan.has("hidden")
    return True if is_fine or plan.chance.often(0.03) else ABSENT


def _listed(stated: Any) -> list[str]:
    return stated if isinstance(stated, list) else [stated]


def _escape(plan: Plan) -> Any:
    """The escape byte, or the delimiter itself as escape."""
    if not plan.has("delimiter") or plan.encoding != "binary" or plan.chance.often(0.6):
        return ABSENT
    if plan.has("kept") and not plan.chance.often(0.05):
        return ABSENT
    delimiter = str(plan.given["delimiter"])
    wide = str(plan.given.get("charset", "")).startswith("utf-16")
    if (wide or plan.typed.ending) and not plan.chance.often(0.05):
        return ABSENT
    others = [each for each in ("5c", "22", "61", "c3") if each not in delimiter]
    return delimiter if len(delimiter) < _PAIR and plan.chance.often(0.4) else plan.chance.one(others)


def _escaped(plan: Plan) -> Any:
    """The values of escaped bytes."""
    doubled = plan.given.get("escape") == plan.given.get("delimiter")
    if not plan.has("escape") or (doubled and not plan.chance.often(0.02)) or plan.chance.often(0.6):
        return ABSENT
    codes = [("6e", "0a"), ("62", "61"), ("78", "5c"), ("79", "00"), ("7a", "2c"), ("30", "22"), ("61", "62")]
    return dict(plan.chance.some(codes, 1))


def _pad(plan: Plan) -> Any:
    """The padding of a text or of bytes of a stated size."""
    form = str(plan.typed.form)
    fits = (
        plan.encoding == "binary" and plan.on_wire and plan.typed.size is not None and not plan.has("checksum", "const")
    )
    words = form.startswith(("str(", "bytes(")) and not plan.has("hidden", "derive", "values")
    wide = str(plan.given.get("charset", "")).startswith("utf-16")
    fills = ["0000", "2000"] if wide else ["00", "20", "30", "40"]
    return plan.chance.one(fills) if fits and words and plan.chance.often(0.25) else ABSENT


def _terminator(plan: Plan) -> Any:
    """The terminator of a list that fills its region."""
    fits = plan.encoding == "binary" and plan.typed.shape == "list" and plan.typed.greedy
    fits = fits and (not plan.typed.packed or plan.chance.often(0.1))
    ending = plan.chance.one(ENDINGS) if fits and plan.chance.often(0.4) else ABSENT
    return f"{ending}?" if ending is not ABSENT and plan.chance.often(0.3) else ending


def _jump(plan: Plan) -> Any:
    """Pointers in place of elements, to where the list continues."""
    if not plan.has("terminator") or plan.encoding != "binary" or plan.chance.often(0.5):
        return ABSENT
    if str(plan.given["terminator"]).endswith("?") and not plan.chance.often(0.05):
        return ABSENT
    form, least, most = plan.chance.one([("uint8", 1, 255), ("uint16", 0x100, 0xFFFF), ("uint24", 0x200, 0xFFFFFF)])
    low = plan.chance.one([0, least, most - 60])
    return document(
        Jump,
        {
            "type": form,
            "range": f"{low} .. {most}" if plan.chance.often(0.5) else f"{low} ..",
            "start": plan.chance.one([low, low + 2, most]) if plan.chance.often(0.5) else ABSENT,
            "most": plan.chance.one([1, 5, 200]) if plan.chance.often(0.2) else ABSENT,
        },
    )


def _last_when(plan: Plan) -> Any:
    """The condition on the last element of a list of structs."""
    fits = plan.encoding == "binary" and plan.typed.shape == "list" and plan.typed.greedy
    if not fits or plan.has("terminator") or plan.chance.often(0.5):
        return ABSENT
    return last_when(plan.scope, plan.typed)


def last_when(scope: Scope, listed: Typed) -> Any:
    """A condition on an element of the list; none if its elements have no names."""
    if not listed.elements:
        return ABSENT
    return Formulas(Scope(scope.draft, "binary", list(listed.elements))).boolean()


def _unique(plan: Plan) -> Any:
    scalars = [each for each in plan.typed.elements if each.kind in ("int", "text", "bool", "bytes")]
    if plan.typed.shape != "list" or not scalars or not plan.often(0.3):
        return ABSENT
    return plan.chance.one(scalars).name


def _byte_order(plan: Plan) -> Any:
    plain = str(plan.typed.form).startswith(("int", "uint", "float"))
    ordered = plan.typed.shape in ("int", "float") and (plan.typed.size or 0) > 1 and plain
    if plan.encoding != "binary" or not plan.on_wire or not ordered or not plan.chance.often(0.12):
        return ABSENT
    return plan.chance.one(["big", "little"])


_PACKINGS = ("none", "gzip", "zlib", "deflate", "zstd", "lz4", "snappy", "xerial", "base64", "hex", "HEX")


def _unpack(plan: Plan) -> Any:
    """The compression of a region; sometimes chosen by a tag."""
    fits = plan.encoding == "binary" and plan.has("size") and not plan.has("hidden", "const", "values", "derive", "pad")
    if not fits or not plan.chance.often(0.3) or "here" in str(plan.typed.form) or "size" in str(plan.typed.form):
        return ABSENT
    if plan.chance.often(0.7):
        return plan.chance.one(_PACKINGS)
    cases = {str(number): plan.chance.one(_PACKINGS) for number in range(plan.chance.randint(1, 3))}
    code = plan.scope.draft.code() if plan.chance.often(0.6) else ABSENT
    return document(PackingChoice, {"select": plan.formulas().integer(), "cases": cases, "else": code})


# keys that fields of a group cannot have
_ALONE = ("optional", "derive", "const", "refers", "table", "flatten", "hidden")


def _one_of(plan: Plan) -> Any:
    """The group of protobuf fields of which the field is one."""
    fits = plan.encoding == "protobuf" and plan.on_wire and plan.typed.shape not in ("list", "map")
    fits = fits and not plan.has(*_ALONE) and (plan.may_clash or not plan.has("null", "since", "until"))
    return plan.chance.one(["g1", "g2"]) if fits and plan.chance.often(0.3) else ABSENT


def _line_feeds(plan: Plan) -> Any:
    fits = plan.encoding == "json" and plan.typed.shape == "bytes"
    return True if fits and plan.often(0.25) else ABSENT


def _wire(plan: Plan) -> Any:
    if plan.encoding == "protobuf" and plan.on_wire and (plan.typed.shape == "struct" or plan.typed.elements):
        return "group" if plan.often(0.3) else ABSENT
    fits = plan.encoding == "protobuf" and plan.typed.shape == "int" and plan.on_wire
    forms = ["zigzag", "fixed", "varint"] if plan.typed.signed or plan.often(0.05) else ["fixed", "varint"]
    return plan.chance.one(forms) if fits and plan.often(0.4) else ABSENT


STRATEGIES: Mapping[str, Callable[[Plan], Any]] = {
    "type": _type,
    "flatten": _flatten,
    "as": _as,
    "hidden": _hidden,
    "doc": _doc,
    "unit": _unit,
    "counted": _absent,  # added with a salvage or a discard
    "compute": _absent,  # added by the struct
    "checksum": _absent,
    "over": _absent,
    "stored": _absent,
    "at": _absent,
    "from": _absent,
    "size": _absent,
    "count": _absent,
    "refers": _absent,
    "table": _absent,
    "salvage": _absent,
    "since": _absent,  # added by the versions of the struct
    "until": _absent,
    "optional": _optional,
    "default": _default,
    "const": _const,
    "values": _values,
    "range": _range,
    "length": _length,
    "pattern": _pattern,
    "bits": _bits,
    "derive": _derive,
    "unique": _unique,
    "null": _null,
    "logical": _logical,
    "epoch": _epoch,
    "scale": _scale,
    "offset": _offset,
    "raw": _raw,
    "inline": _inline,
    "tag": _tag,
    "member": _member,
    "charset": _charset,
    "delimiter": _delimiter,
    "kept": _kept,
    "escape": _escape,
    "escaped": _escaped,
    "terminator": _terminator,
    "jump": _jump,
    "pad": _pad,
    "lastWhen": _last_when,
    "lineFeeds": _line_feeds,
    "wire": _wire,
    "byteOrder": _byte_order,
    "oneOf": _one_of,
    "unpack": _unpack,
    "when": _when,
    "else": _else,
}
_ORDER = tuple(STRATEGIES)


# --- parts of keys -------------------------------------------------------------------------------------------------


def constant(plan: Plan) -> Any:
    """A constant of the field's type, in the notation of specs."""
    chance = plan.chance
    match plan.typed.shape:
        case _ if str(plan.typed.form).startswith("json"):
            return chance.one(["[]", "[1, {}]"] if "array" in str(plan.typed.form) else ["{}", '{"a":1}'])
        case "int":
            beyond = BEYOND if plan.typed.is_beyond and chance.often(0.5) else ()
            return chance.one([*_held(plan, [0, 1, 7, 100, -1 if plan.typed.signed else 127]), *beyond])
        case "bool":
            return chance.often(0.5)
        case "float":
            return chance.one([0, 1.5, -2.25, 7])
        case "text":
            return "a" * plan.typed.size if plan.typed.size is not None else chance.one(["a", "", "é", "b c"])
        case _:
            return "0f" * (plan.typed.size if plan.typed.size is not None else chance.randint(0, 3))


def _held(plan: Plan, numbers: list[int]) -> list[int]:
    """The numbers that surely fit the type, and one that is large for it."""
    large = (1 << plan.typed.bits - 1) - 1
    return [*(number for number in numbers if number <= max(large, 2)), large]


def derived(plan: Plan) -> Any:
    """An expression for `derive`; for a field with `values`, one over the values that readers see."""
    formulas = plan.formulas(late=True)
    if plan.has("values"):
        meant = [each for each in plan.values or () if each is not None]
        return literal(plan.chance.one(meant)) if meant else ABSENT
    match plan.typed.shape:
        case "int":
            limit = (1 << plan.typed.bits - 1) - 1
            return (
                str(plan.chance.one(_held(plan, [0, 7, 127])[:-1]))
                if plan.chance.often(0.6)
                else f"min({limit}, {formulas.integer()})"
            )
        case "bool":
            return formulas.boolean()
        case "text":
            return literal("a" * (plan.typed.size or 0) if plan.typed.size is not None else plan.chance.one(["a", ""]))
        case _:
            return ABSENT


def wire_keys(plan: Plan) -> list[Any]:
    """The keys of a value table."""
    chance = plan.chance
    match plan.typed.shape:
        case "bool":
            return [True, False]
        case "bytes":
            width = 2 if plan.typed.size is None else min(plan.typed.size, 1024)  # no values are drawn for longer ones
            return ["0f" * width, "a0" * width][: 2 if width else 1]
        case "text":
            size = plan.typed.size
            return ["a", "b", "é"] if size is None else ["a" * size, "b" * size][: 2 if size else 1]
        case _:
            options = _held(plan, [0, 1, 2, 3, 7, 100, 127, *([-1] if plan.typed.signed else [])])
            options += [] if plan.typed.signed or chance.often(0.7) else [(1 << plan.typed.bits) - 1]
            options += BEYOND if plan.typed.is_beyond and chance.often(0.3) else []
            return chance.some(list(dict.fromkeys(options)), 1)


def table(plan: Plan, keys: list[Any], *, computes: bool = True) -> dict[Any, Any]:
    """The meaning of each key."""
    chance = plan.chance
    kind = chance.weighted([(5, "text"), (1, "int"), (0.5, "bool")])
    numbers = chance.one(
        [list(range(10, 30)), [-1, 0, 1 << 40, -(1 << 63), *range(5, 20)], [(1 << 64) - 1, *range(20)]]
    )
    texts = ["a", "b", "x y", "é", "", "f", "g", "h", "i", "j"]
    meanings: list[Any] = {"text": texts, "int": numbers}.get(kind, [True, False] * 5)
    found: dict[Any, Any] = {}
    for key, meaning in zip(keys, meanings, strict=False):
        found[_key(key)] = _meaning(plan, meaning, computes=computes)
    if plan.typed.nullable and chance.often(0.9):
        found[None] = None
    plain = [each["value"] if isinstance(each, dict) else each for each in found.values()]
    if all(not isinstance(each, str) or not each.startswith("=") for each in plain):
        plan.values = tuple(plain)
    return found


def _key(value: Any) -> Any:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _meaning(plan: Plan, meaning: Any, *, computes: bool) -> Any:
    chance = plan.chance
    if chance.often(0.08) and computes:
        if isinstance(meaning, int) and not isinstance(meaning, bool) and chance.often(0.5):
            return f"= {plan.formulas().integer()}"
        condition = Formulas(plan.scope, parameters=chance.often(0.5)).boolean()
        return f"= {condition} ? {literal(meaning)} : null"
    if chance.often(0.03):
        return None
    doc = "What it means." if chance.often(0.5) else ABSENT
    said = {"value": meaning, "doc": doc, "since": ABSENT, "until": ABSENT}  # set later by `versions`
    return document(MappedValue, said) if chance.often(0.15) else meaning


def bits(plan: Plan) -> dict[str, Any]:
    """Named bits of an integer."""
    chance, found, low = plan.chance, dict[str, Any](), 0
    while low < plan.typed.bits and len(found) < 4:
        low += chance.one([0, 0, 1, 2])
        width = min(chance.one([1, 1, 1, 2, 3, 8, plan.typed.bits]), plan.typed.bits - low)
        if width < 1:
            break
        name = plan.scope.draft.name("b")
        found[name] = _bit(plan, name, low, width)
        low += width
    return found or {plan.scope.draft.name("b"): 0}


def _bit(plan: Plan, name: str, low: int, width: int) -> Any:
    chance = plan.chance
    span: Any = low if width == 1 else f"{low}..{low + width - 1}"
    if chance.often(0.5):
        plan.lent.append(Known(name, "bool" if width == 1 else "int", plain=True))
        return span
    signed = chance.often(0.25) and width > 1
    inner = Plan(plan.struct, name, Typed("uint8", "int", "int", width + 1, signed=False), {})
    numbers = [*([-1] if signed else []), *range(min(1 << width - signed, 4))]
    values = table(inner, numbers) if chance.often(0.3) else ABSENT
    hidden = chance.often(0.15)
    if values is not ABSENT:
        derive: Any = literal(inner.values[0]) if hidden and inner.values else ABSENT
    elif hidden or chance.often(0.1):
        derive = plan.formulas().boolean() if width == 1 else "1"
    else:
        derive = ABSENT
    hidden = hidden and derive is not ABSENT
    texts = values is not ABSENT and not hidden and all(isinstance(each, str) for each in inner.values or (None,))
    raw = plan.scope.draft.name("a") if texts and chance.often(0.6) else ABSENT
    closed = values is not ABSENT and raw is ABSENT
    kind = _kind(inner.values) if closed else "bool" if width == 1 else "int"
    kind = "hidden" if hidden and is_settled(derive) else kind
    plain = values is ABSENT and derive is ABSENT and not hidden
    plan.lent.append(Known(name, kind, inner.values if closed else None, plain=plain))
    return document(
        Bits,
        {
            "at": span,
            "signed": True if signed else ABSENT,
            "values": values,
            "raw": raw,
            "else": plan.scope.draft.code() if closed and chance.often(0.4) else ABSENT,
            "derive": derive,
            "hidden": True if hidden else ABSENT,
            "doc": "A bit." if chance.often(0.1) else ABSENT,
        },
    )


def _kind(values: tuple[Any, ...] | None) -> str:
    """The kind of mapped values in expressions."""
    kinds = {type(each) for each in values or (0.5,) if each is not None}
    return {str: "text", int: "int", bool: "bool"}.get(next(iter(kinds)), "any") if len(kinds) == 1 else "any"


_MEANINGS = {"values", "null", "logical", "epoch", "scale", "offset", "raw", "default"}
_BESIDES = {"as", "hidden", "derive", "compute", "const", "counted", "checksum", "refers", "flatten", "bits", "table"}


def known(plan: Plan) -> list[Known]:
    """The names that the field defines for expressions."""
    closed = "values" in plan.given and "raw" not in plan.given and plan.typed.shape != "list"
    kind = _kind(plan.values) if closed else plan.typed.kind
    if plan.given.get("charset", "utf-8") != "utf-8" and not closed and plan.chance.often(0.5):
        kind = "bytes"
    own = plan.typed.known(plan.name, plan.values)
    own.kind, own.plain = kind, not plan.given.keys() & (_MEANINGS | _BESIDES)
    own.checked = not plan.given.keys() & ((_MEANINGS | _BESIDES) - {"compute", "hidden"})
    own.coded = plan.given.get("charset", "utf-8") != "utf-8" and not closed
    own.integers = own.integers and not plan.given.keys() & _MEANINGS
    own.texts = "" if plan.given.keys() & (_MEANINGS | {"charset"}) else own.texts
    may_be_null = plan.typed.nullable or plan.given.keys() & {*_MEANINGS, "when", "optional", "since", "until"}
    own.sure = plan.typed.shape in ("int", "bool", "float", "text", "bytes") and not may_be_null
    lent = list(plan.typed.members) if "flatten" in plan.given else []
    if isinstance(plan.given.get("flatten"), dict):
        new = Renaming(plan.given["flatten"].get("prefix", ""), tuple(plan.given["flatten"].get("as", {}).items()))
        lent, own.members = [replace(each, name=new.new(each.name)) for each in lent], ()
    unnamed = "bits" in plan.given and plan.chance.often(0.97)  # builders do not know the unnamed bits
    several = str(plan.given.get("logical")).startswith(("timestamp", "decimal"))
    several = several or (plan.typed.shape == "float" and "logical" in plan.given)
    untold = several and "raw" not in plan.given and plan.chance.often(0.97)
    constant = "const" in plan.given and plan.chance.often(0.9)  # mostly certain
    if constant or unnamed or untold or ("hidden" in plan.given and is_settled(plan.given.get("derive", "size"))):
        own.kind = "hidden"  # expressions may see another value than builders write
    return [own, *plan.lent, *lent]


def is_settled(derive: Any) -> bool:
    """Whether a derived value is the same in every built record."""
    return not _NAME.search(str(derive))


def salvage(plan_scope: Scope, lost: str) -> dict[str, Any]:
    """A salvage that keeps the elements before the first bad one."""
    chance = plan_scope.draft.chance
    codes = ["undecodable", "truncated", "missing_required", "invalid_utf8", "out_of_range", "bad_constant"]
    return document(
        Salvage,
        {
            "codes": [*chance.some(codes, 1), *([plan_scope.draft.code()] if chance.often(0.2) else [])],
            "when": Formulas(plan_scope).boolean() if chance.often(0.5) else True,
            "lost": lost,
        },
    )
