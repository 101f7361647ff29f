"""Whole random specs: the head of a format, its types and its roots, as documents."""

from collections.abc import Mapping
from typing import Any

from proof.chance import Chance
from proof.formulas import Formulas
from proof.pruning import pruned
from proof.renaming import renamed
from proof.scope import ABSENT, TEMPERS, Draft, Known, Scope, document
from proof.types import Maker, Typed, Types
from wireloom.problems import WARNINGS
from wireloom.resolve.bind.builtins import DIGESTS
from wireloom.resolve.bind.header import added, crc
from wireloom.spec.language import (
    Allowance,
    ByteOrderByParameter,
    Crc,
    DelimiterFraming,
    Digest,
    FormatDocument,
    HeaderFraming,
    Limits,
    Lint,
    NamedRange,
    Parameter,
    ParameterByName,
    PrefixFraming,
    RootDocument,
    SizeFraming,
    Sum,
)

_ENCODINGS = ((4, "binary"), (2, "msgpack"), (1.6, "protobuf"), (2, "json"))
_POLYNOMIALS = {8: 0x07, 16: 0x1021, 24: 0x864CFB, 32: 0x04C11DB7, 64: 0x42F0E1EBA9EA3693}
_TITLES = ('It\'s "so" \\ {x}', "Ein Format, zufällig: 100 %", '"""', "# no")
_FRAMINGS = {
    "binary": ("slip", "cobs", "concatenated", "length-prefixed"),
    "msgpack": ("slip", "cobs", "concatenated", "length-prefixed"),
    "json": ("lines", "array", "length-prefixed"),
    "protobuf": ("slip", "cobs", "length-prefixed"),
}


def written_format(seed: int) -> dict[str, Any]:
    """The document of a random format."""
    chance = Chance(seed)
    temper = chance.weighted(TEMPERS)
    draft = Draft(chance, chance.weighted(_ENCODINGS), temper, budget=temper.types)
    return renamed(pruned(_Writer(draft).written()), chance)


class _Writer:
    def __init__(self, draft: Draft) -> None:
        self.draft, self.chance = draft, draft.chance

    def written(self) -> dict[str, Any]:
        """The whole document. Parameters come first, since expressions name them."""
        draft, chance = self.draft, self.chance
        byte_order, invalid, unknown = self._byte_order(), self._decided("text"), self._decided("members")
        limits = self._limits()
        for _ in range(chance.weighted([(4, 0), (3, 1), (2, 2)])):
            self._free_parameter()
        for _ in range(chance.weighted([(4, 0), (1, 1)])):
            self._ranges()
        if draft.encoding == "binary" or chance.often(0.2):
            for _ in range(chance.weighted([(2, 0), (2, 1), (1, 2)])):
                self._checksum()
        roots = self._roots()
        if isinstance(byte_order, dict):
            codes = ["bad_constant", "unknown_value", "truncated", *(draft.code() for _ in range(1))]
            byte_order["wrongWhen"] = chance.some(codes, 1)
        return document(
            FormatDocument,
            {
                "wireloom": 1,
                "format": "proof",
                "title": chance.one(_TITLES) if chance.often(0.05) else "A format by chance",
                "doc": "At length." if chance.often(0.05) else ABSENT,
                "source": "Chance" if chance.often(0.05) else ABSENT,
                "encoding": draft.encoding,
                "schema": ABSENT,  # added by `schemas` when the columns are known
                "imports": ABSENT,  # added by `libraries` when the types are known
                "byteOrder": byte_order,
                "framing": self._framing(roots),
                "parameters": draft.parameters or ABSENT,
                "limits": limits,
                "versions": ABSENT,  # added by `versions` when the types are known
                "invalidText": invalid,
                "unknownMembers": unknown,
                "errors": draft.errors or ABSENT,
                "checksums": draft.checksums or ABSENT,
                "ranges": draft.ranges or ABSENT,
                **roots,
                "lint": self._lint() if chance.often(0.02) else ABSENT,
                "types": draft.types,
                "examples": ABSENT,  # added by `examples` when there are records
            },
        )

    # --- the head ---

    def _lint(self) -> Any:
        allowed = {"id": self.chance.one(list(WARNINGS)), "at": ABSENT, "why": "By chance."}
        return document(Lint, {"allow": [document(Allowance, allowed)]})

    def _byte_order(self) -> Any:
        chance = self.chance
        if self.draft.encoding != "binary" and chance.often(0.99):
            return ABSENT
        if chance.often(0.2):
            options = chance.one([["big", "little", "auto"], ["little", "big"], ["auto", "big", "little"]])
            name = self._parameter("order", one_of=options)
            return document(ByteOrderByParameter, {"parameter": name, "wrongWhen": ABSENT})
        return chance.one(["big", "little"]) if chance.often(0.4) else ABSENT

    def _decided(self, what: str) -> Any:
        if not self.chance.often(0.08):
            return ABSENT
        name = self._parameter(what, one_of=["error", "replace" if what == "text" else "ignore"])
        return document(ParameterByName, {"parameter": name})

    def _framing(self, roots: Mapping[str, Any]) -> Any:
        chance = self.chance
        if not chance.often(0.25):
            return ABSENT
        bare = self._bare_framing()
        if roots["roots"] is ABSENT or len(roots["roots"]) < 2 or not chance.often(0.4):
            return bare
        return document(
            HeaderFraming,
            {"header": list(roots["roots"])[1], "gives": {} if chance.often(0.5) else ABSENT, "records": bare},
        )

    def _bare_framing(self) -> Any:
        chance = self.chance
        match chance.weighted([(6, "named"), (2, "prefix"), (1, "size"), (2, "delimiter")]):
            case "prefix":
                number = chance.one(["uint8", "int16", "uint24", "uint32", "varint32", "zigzag64"])
                ordered = number.startswith(("u", "i")) and number != "uint8" and chance.often(0.6)
                return document(
                    PrefixFraming,
                    {
                        "prefix": number,
                        "byteOrder": chance.one(["big", "little"]) if ordered else ABSENT,
                        "counts": chance.one(["itself", "record"]) if chance.often(0.4) else ABSENT,
                        "plus": chance.one([-1, 3]) if chance.often(0.3) else ABSENT,
                    },
                )
            case "size":
                return document(SizeFraming, {"size": chance.one([1, 4, 9])})
            case "delimiter":
                codes: Any = {"dc": "c0", "dd": "db"}
                escape = chance.one([ABSENT, ("7d", "20", ABSENT), ("db", ABSENT, codes)])
                byte, xor, escaped = (ABSENT, ABSENT, ABSENT) if escape is ABSENT else escape
                end = "c0" if escaped is not ABSENT else "7e"
                return document(DelimiterFraming, {"delimiter": end, "escape": byte, "xor": xor, "escaped": escaped})
            case _:
                return chance.one(_FRAMINGS[self.draft.encoding])

    def _limits(self) -> Any:
        chance = self.chance
        if not chance.often(0.15):
            return ABSENT
        depth: Any = self._parameter("deep", type="int", default=chance.one([3, 64])) if chance.often(0.3) else 5
        size: Any = self._parameter("most", type="int", default=chance.one([20, None])) if chance.often(0.3) else 40
        many: Any = self._parameter("wide", type="int", default=chance.one([9, None])) if chance.often(0.3) else 12
        return document(
            Limits,
            {
                "depth": depth if chance.often(0.7) else ABSENT,
                "size": size if chance.often(0.5) else ABSENT,
                "expansion": many if chance.often(0.5) else ABSENT,
                "ratio": many if chance.often(0.3) else ABSENT,
            },
        )

    def _parameter(self, name: str, *, one_of: Any = ABSENT, type: Any = ABSENT, default: Any = None) -> str:
        chance = self.chance
        self.draft.parameters[name] = document(
            Parameter,
            {
                "oneOf": one_of,
                "type": type,
                "default": default if one_of is ABSENT else chance.one(one_of),
                "doc": "What it decides" if chance.often(0.1) else ABSENT,
                "unit": "bytes" if chance.often(0.1) and type == "int" else ABSENT,
            },
        )
        kind = "text" if one_of is not ABSENT else {"int": "int", "bool": "bool", "str": "text"}.get(type, "range")
        values = None if one_of is ABSENT else tuple(one_of)
        ends = (Known("start", "int"), Known("end", "int")) if kind == "range" else ()
        self.draft.known_parameters.append(Known(name, kind, values, ends))
        return name

    def _free_parameter(self) -> None:
        chance, name = self.chance, self.draft.name("q")
        match chance.weighted([(3, "oneOf"), (2, "int"), (3, "bool"), (0.3, "str"), (0.7, "range")]):
            case "oneOf":
                self._parameter(name, one_of=["a", "b", "c"])
            case "int":
                self._parameter(name, type="int", default=chance.one([0, 1, 7, None]))
            case "bool":
                self._parameter(name, type="bool", default=chance.often(0.5))
            case "str":
                self._parameter(name, type="str", default=chance.one([None, "a"]))
            case _:
                self._parameter(name, type="range", default=None)

    def _ranges(self) -> None:
        chance = self.chance
        found = []
        for name in ("low", "one", "high")[: chance.randint(1, 3)]:
            exact = chance.often(0.3)
            found.append(
                document(
                    NamedRange,
                    {
                        "name": name,
                        "min": chance.randint(0, 9) if not exact and name != "low" else ABSENT,
                        "max": chance.randint(9, 300) if not exact and name != "high" else ABSENT,
                        "equals": chance.randint(0, 9) if exact else ABSENT,
                    },
                )
            )
        self.draft.ranges[self.draft.name("R")] = found

    def _checksum(self) -> None:
        chance = self.chance
        if chance.often(0.5):
            chance.does([(4, self._sum), (1, self._digest)])
            return
        width = chance.one([8, 15, 16, 16, 24, 31, 32, 32, 40, 64])
        stated = {
            "width": width,
            "poly": _POLYNOMIALS.get(width, 0x8005 & (1 << width) - 1),
            "init": chance.one([ABSENT, (1 << width) - 1]),
            "xorout": chance.one([ABSENT, (1 << width) - 1, 1]),
            "reflected": True if chance.often(0.5) else ABSENT,
            "check": 0,
            "doc": "A CRC." if chance.often(0.1) else ABSENT,
        }
        written = document(Crc, stated)
        self.draft.checksums[self.draft.name("crc")] = written | {"check": crc(Crc(**written), b"123456789")}

    def _sum(self) -> None:
        chance = self.chance
        rule, width = chance.one(
            [("add", 8), ("add", 18), ("add", 24), ("xor", 8), ("fletcher", 16), ("fletcher", 32), ("internet", 16)]
        )
        stated = {
            "sum": rule,
            "width": width,
            "modulus": chance.one([255, 256]) if rule == "fletcher" else ABSENT,
            "init": chance.one([ABSENT, 1]),
            "xorout": chance.one([ABSENT, (1 << width) - 1]),
            "check": 0,
            "doc": "A sum." if chance.often(0.1) else ABSENT,
        }
        written = document(Sum, stated)
        self.draft.checksums[self.draft.name("sum")] = written | {"check": added(Sum(**written), b"123456789")}

    def _digest(self) -> None:
        chance = self.chance
        several = [chance.one(sorted(DIGESTS)) for _ in range(chance.randint(1, 4))]
        digests = several if chance.often(0.6) else several[0]
        stated = {
            "digest": digests,
            "size": chance.one([1, 4, 4, 16, 17]) if chance.often(0.6) else ABSENT,
            "doc": "A digest." if chance.often(0.1) else ABSENT,
        }
        self.draft.checksums[self.draft.name("digest")] = document(Digest, stated)

    # --- roots ---

    def _roots(self) -> dict[str, Any]:
        chance = self.chance
        if chance.often(0.75):
            typed, rows = self._root()
            listed = typed.shape == "struct" and self.draft.encoding != "protobuf" and chance.often(0.04)
            if listed:
                return {"root": f"list({typed.form})", "rows": ABSENT, "roots": ABSENT}
            return {"root": typed.form, "rows": rows, "roots": ABSENT}
        roots: dict[str, Any] = {}
        for name in ("main", "other", "batch")[: chance.randint(2, 3)]:
            typed, rows = self._root()
            form = typed.form
            if name == "batch" and typed.shape == "struct" and self.draft.encoding != "protobuf":
                form, rows = f"list({form})", ABSENT
            roots[name] = document(
                RootDocument, {"type": form, "doc": "A root." if chance.often(0.1) else ABSENT, "rows": rows}
            )
        return {"root": ABSENT, "rows": ABSENT, "roots": roots}

    def _root(self) -> tuple[Typed, Any]:
        chance = self.chance
        self.draft.budget = max(self.draft.budget, 4)
        types = Types(Scope(self.draft, self.draft.encoding, depth=-1), last=True)
        makers: list[Maker] = [(8, types.struct)]
        if self.draft.encoding in ("binary", "msgpack"):
            makers.append((0.5, types.attempt))
        if self.draft.encoding in ("binary", "json"):
            makers.append((0.6, lambda: self._select(types)))
        typed: Typed = chance.does(makers)
        lists = [each.name for each in typed.members if each.kind == "list" and each.elements]
        return typed, chance.one(lists) if lists and typed.shape == "struct" and chance.often(0.6) else ABSENT

    def _select(self, types: Types) -> Typed:
        found = types._select(types._peek(), ["0", "1", "2"], structs=True) if self.draft.encoding == "binary" else None
        found = found or types._member_select()
        if isinstance(found.form, str):
            return found
        name = self.draft.new_type("S")
        self.draft.types[name] = found.form
        return Typed(name, "select")


__all__ = ["Formulas", "written_format"]
