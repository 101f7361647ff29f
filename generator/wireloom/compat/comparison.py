"""Compares old and new specs format by format, tries records on both, and makes findings of the differences.

Formats whose models mean the same are skipped. For the others, `structure` finds the differences and `witnesses` runs
records through both specs. A record that the two read differently is attributed to the difference at its field, or to a
change of layout before that field; otherwise it is a finding of its own. A difference without such a record counts only
if the specs alone decide it, and no record made for it shows the opposite.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from wireloom.compat import columns, interface, structure
from wireloom.compat.findings import Finding, Severity
from wireloom.compat.rules import LAYOUT, RULES, Direction, Effect
from wireloom.compat.sources import Source
from wireloom.compat.structure import Difference
from wireloom.compat.witnesses import Disagreement, Side, Tried, tried
from wireloom.examples import opened
from wireloom.failures import refuse_unknown
from wireloom.model.format import Format
from wireloom.model.meaning import meaning
from wireloom.problems import Location
from wireloom.spec import Document, places
from wireloom.spec.places import Site

if TYPE_CHECKING:
    from wireloom.runtime.validation import Validator

Mode = Literal["backward", "forward", "full"]
MODES: tuple[Mode, ...] = ("backward", "forward", "full")
_MOST = 8  # most findings of one kind without a rule, for each format and direction


@dataclass(frozen=True, slots=True)
class Compared:
    """The findings, and the number of formats that were compared."""

    findings: tuple[Finding, ...]
    formats: int
    same: int


def compare(old: Source, new: Source, names: Collection[str], mode: Mode) -> Compared:
    """The findings of a change from old to new specs; raises MisuseError for a format that neither has."""
    before = {format.name: index for index, format in enumerate(old.specs.formats)}
    after = {format.name: index for index, format in enumerate(new.specs.formats)}
    known = list(dict.fromkeys((*before, *after)))
    refuse_unknown("format", names, known)
    pairs = list(_pairs(old, new))
    chosen = [(a, b) for a, b in pairs if not names or {a.name, b.name} & set(names)]
    gone = [name for name in before if name not in after and (not names or name in names)]
    directions: tuple[Direction, ...] = ("backward", "forward") if mode == "full" else (mode,)
    differing = [(a, b) for a, b in chosen if a is not b and meaning(a) != meaning(b)]
    found = [_removed(old, new, name) for name in gone if "backward" in directions]
    texts = {
        f"{key}{at}": source.specs.modules[each.name]
        for at, pair in enumerate(differing)
        for key, source, each in zip(("old", "new"), (old, new), pair, strict=True)
    }
    with opened(texts) as modules:
        for at, (a, b) in enumerate(differing):
            sides = [_side(each, modules[f"{key}{at}"], texts[f"{key}{at}"]) for key, each in (("old", a), ("new", b))]
            documents = _document(old, a.name), _document(new, b.name)
            found += _Comparison(old, new, sides[0], sides[1], *documents).findings(directions)
    ordered = sorted(found, key=lambda each: (each.format, not each.breaks, str(each.new or each.old or ""), each.rule))
    return Compared(tuple(ordered), len(chosen), len(chosen) - len(differing))


def _side(format: Format, module: ModuleType, files: Mapping[str, str]) -> Side:
    judge: Validator = module.VALIDATOR
    return Side(format, module, replace(judge, files=files), files)


def _pairs(old: Source, new: Source) -> Iterator[tuple[Format, Format]]:
    """Old and new formats in pairs: by name, then by equal meaning, then by file."""
    after = {each.name: each for each in new.specs.formats}
    before = {each.name for each in old.specs.formats}
    yield from ((each, after[each.name]) for each in old.specs.formats if each.name in after)
    left = [each for each in new.specs.formats if each.name not in before]
    for each in old.specs.formats:
        if each.name not in after:
            other = next((one for one in left if meaning(one) == meaning(each) or one.spec == each.spec), None)
            if other is not None:
                left.remove(other)
                yield each, other


def _document(source: Source, name: str) -> Document:
    return next(
        document
        for format, document in zip(source.specs.formats, source.specs.documents, strict=True)
        if format.name == name
    )


def _removed(old: Source, new: Source, name: str) -> Finding:
    other = next((b.name for a, b in _pairs(old, new) if a.name == name), "")
    message = f"the format {name} is called {other} now" if other else f"the format {name} is gone"
    consequence = f"Programs that import {name}, jobs that name it and streams that run on it do not start."
    where = old.place(places.place(_document(old, name), Site()))
    here = new.place(places.place(_document(new, other), Site())) if other else None
    return Finding("format-removed", "error", name, "backward", name, message, consequence, where, here)


@dataclass(frozen=True)
class _Comparison:
    """One format in the old and the new specs."""

    old_source: Source
    new_source: Source
    old: Side
    new: Side
    old_document: Document
    new_document: Document

    def findings(self, directions: Sequence[Direction]) -> Iterator[Finding]:
        """All findings of the given directions."""
        compared = structure.compare(self.old.format, self.new.format)
        for direction in directions:
            yield from self.on_the_wire(compared.differences, direction)
        yield from self.in_columns(compared.renamed, directions[0])
        if "backward" in directions:
            yield from self.in_source()

    # --- wire, JSON Schema ---------------------------------------------------------------------------------------

    def on_the_wire(self, differences: Sequence[Difference], direction: Direction) -> Iterator[Finding]:
        """Differences that records or the specs alone show, and disagreements that no difference explains."""
        backward = direction == "backward"
        sides = (self.old, self.new) if backward else (self.new, self.old)
        outcome = tried(*sides, differences, backward=backward)
        shown, others = _attributed(differences, outcome)
        for number, each in enumerate(differences):
            witness = shown.get(number)
            severity = _severity(each, direction, witness, outcome, number)
            if severity is not None:
                yield self.finding(each, direction, severity, witness, outcome)
        for rule, path, disagreement in others:
            if RULES[rule].effect(direction) is not Effect.FINE:
                yield self.unnamed(rule, path, disagreement, direction)

    def finding(
        self, each: Difference, direction: Direction, severity: Severity, witness: Disagreement | None, outcome: Tried
    ) -> Finding:
        """The finding for a difference."""
        site = each.new or each.old
        subject = "" if site is None else ".".join(filter(None, (site.struct, site.field)))
        return Finding(
            each.rule,
            severity,
            self.new.format.name,
            direction,
            subject or self.new.format.name,
            each.message,
            _consequence(each.rule, direction, witness, outcome, severity),
            None if each.old is None else self.old_place(each.old),
            None if each.new is None else self.new_place(each.new),
            None if witness is None else witness.witness(backward=direction == "backward"),
        )

    def unnamed(self, rule: str, path: tuple[str, ...], each: Disagreement, direction: Direction) -> Finding:
        """The finding for a disagreement that no difference explains."""
        name = path[-1] if path else ""
        effect = RULES[rule].effect(direction)
        severity: Severity = "error" if effect is Effect.TRIED else "warning"
        return Finding(
            rule,
            severity,
            self.new.format.name,
            direction,
            ".".join(path) or self.new.format.name,
            RULES[rule].what.rstrip("."),
            _SAID[rule][direction],
            self.old_source.place(places.column(self.old_document, name)),
            self.new_source.place(places.column(self.new_document, name)),
            each.witness(backward=direction == "backward"),
        )

    # --- columns, source -----------------------------------------------------------------------------------------

    def in_columns(self, renamed: dict[str, str], direction: Direction) -> Iterator[Finding]:
        """The findings about columns of tables."""
        for each in columns.changes(self.old.format, self.new.format, renamed):
            effect = RULES[each.rule].effect(direction)
            if effect is Effect.FINE:
                continue
            yield Finding(
                each.rule,
                "error" if effect is Effect.BREAKS else "warning",
                self.new.format.name,
                direction,
                each.column,
                each.message,
                each.consequence,
                self.old_source.place(places.column(self.old_document, each.old)),
                self.new_source.place(places.column(self.new_document, each.new)),
            )

    def in_source(self) -> Iterator[Finding]:
        """The names that programs can no longer import from the module."""
        files = [
            source.specs.modules[side.format.name]
            for source, side in ((self.old_source, self.old), (self.new_source, self.new))
        ]
        for rule, name, message in interface.lost(self.old.format, files[0], self.new.format, files[1]):
            breaks = RULES[rule].backward is Effect.BREAKS
            yield Finding(
                rule,
                "error" if breaks else "warning",
                self.new.format.name,
                "backward",
                name,
                message,
                "Programs that use it stop with an error."
                if breaks
                else "Programs that count on it do something else.",
                self.old_place(Site()),
                self.new_place(Site()),
            )

    def old_place(self, site: Site) -> Location | None:
        """The location of a part in the old specs."""
        return self.old_source.place(places.place(self.old_document, site))

    def new_place(self, site: Site) -> Location | None:
        """The location of a part in the new specs."""
        return self.new_source.place(places.place(self.new_document, site))


_KINDS = {
    "refused": "record-refused",
    "differs": "record-differs",
    "document": "document-refused",
    "incomplete": "document-incomplete",
    "build": "build-refused",
}
_SAID: Mapping[str, Mapping[Direction, str]] = {
    "record-refused": {
        "backward": "Data that the old spec reads goes to the quarantine.",
        "forward": "Readers with the old spec put new data into the quarantine.",
    },
    "record-differs": {
        "backward": "Data from before is read as something else, without an error.",
        "forward": "Readers with the old spec take new data for something else, without an error.",
    },
    "document-refused": {
        "backward": "Documents from before are invalid by the new JSON Schema.",
        "forward": "New documents are invalid by the old JSON Schema.",
    },
    "document-incomplete": {
        "backward": "Renderings from before are invalid by the new JSON Schema until they are made again.",
    },
    "build-refused": {"backward": "Programs that build records get an EncodeError."},
}


def _consequence(
    rule: str, direction: Direction, witness: Disagreement | None, outcome: Tried, severity: Severity
) -> str:
    if witness is not None:
        return _SAID[_KINDS[witness.kind]][direction]
    if severity == "error":
        which = "Old data" if direction == "backward" else "New data"
        reader = "new" if direction == "backward" else "old"
        is_decided = RULES[rule].effect(direction) is Effect.BREAKS
        why = (
            "the specs say so, and no record was found that shows it"
            if is_decided
            else "no record could be made to try it"
        )
        return f"{which} may hold what the {reader} spec refuses or reads as something else ({why})."
    return f"None of {outcome.records} records is read differently. Check whether yours could be."


def _severity(
    each: Difference, direction: Direction, witness: Disagreement | None, outcome: Tried, number: int
) -> Severity | None:
    """How severe a difference is in a direction; None if it breaks nothing."""
    if witness is not None:
        return "error"
    effect = RULES[each.rule].effect(direction)
    match effect:
        case Effect.BREAKS:
            return None if number in outcome.exercised else "error"
        case Effect.TRIED:
            site = each.old if direction == "backward" else each.new
            untried = not outcome.records or (site is not None and site.struct not in (*outcome.reached, ""))
            return "error" if untried else "note"
        case Effect.WARNS:
            return "warning"
        case Effect.FINE:
            return None


def _attributed(
    differences: Sequence[Difference], outcome: Tried
) -> tuple[dict[int, Disagreement], list[tuple[str, tuple[str, ...], Disagreement]]]:
    """The shortest disagreement that shows each difference, and the disagreements that no difference explains."""
    shown = dict[int, Disagreement]()
    others = dict[tuple[str, tuple[str, ...], str], Disagreement]()
    layout = next((number for number, each in enumerate(differences) if each.rule in LAYOUT), None)
    for each in sorted(outcome.disagreements, key=lambda one: len(one.sample.data)):
        number = None
        if each.kind in ("refused", "differs"):
            number = _explains(differences, each)
            number = layout if number is None else number
        if number is None:
            others.setdefault((_KINDS[each.kind], each.path, each.code), each)
        else:
            shown.setdefault(number, each)
    counted = dict[str, int]()
    kept = []
    for (rule, path, _), each in others.items():
        counted[rule] = counted.get(rule, 0) + 1
        if counted[rule] <= (_MOST if rule.startswith("record") else 1):
            kept.append((rule, path, each))
    return shown, kept


def _explains(differences: Sequence[Difference], each: Disagreement) -> int | None:
    """The difference that explains a disagreement: the one its record was made for, or that of the nearest path."""
    if each.path:
        at = [number for number, one in enumerate(differences) if each.path[-1] in one.columns]
    else:
        at = [number for number, one in enumerate(differences) if one.old == Site()]
    if each.number in at or not at:
        return each.number if at else None
    return max(at, key=lambda number: _alike(differences[number].path, each.path))


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many names two paths share at their end, and at their start."""
    ends, begins = (
        takewhile(lambda pair: pair[0] == pair[1], zip(*each, strict=False))
        for each in ((one[::-1], other[::-1]), (one, other))
    )
    return len(list(ends)) + len(list(begins))
