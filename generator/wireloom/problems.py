"""What is wrong with a spec: located, collected, shown all at once.

A problem says what is wrong (`message`), what would be right (`hint`) and where (file, line, column and YAML path). A
pass adds to the collector and goes on; whoever needs a clean result asks `raise_if_any`. Mistakes of the data are
another family (`runtime.errors`), and a bug of the generator is neither: it crashes.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from wireloom.escapes import visible

# Every mistake and what it is about: what cannot be compiled, or would misbehave. Each has a file in tests/rejects.
DIAGNOSTICS: Mapping[str, str] = MappingProxyType(
    {
        # the file
        "yaml-syntax": "The file is not YAML, or uses more of it than specs do (aliases, keys that are no scalars).",
        "duplicate-yaml-key": "A key is there twice.",
        "unknown-key": "The language has no such key here.",
        "missing-key": "A key that must be there is absent.",
        "wrong-type": "A value of another kind than the key has.",
        "entry-keys": "An item of `fields` has several keys, or none.",
        # names
        "bad-name": "A name that cannot be one: its letters, or a word that is taken; also the name of a file.",
        "duplicate-format": "Two files define a format, a library or a schema of one name.",
        "duplicate-field": "Two fields of one name, on the wire or for readers.",
        "duplicate-example": "Two examples of one name.",
        "conflicting-keys": "Keys that exclude each other, or one without its companion.",
        # types
        "type-syntax": "A text that is no type.",
        "unknown-type": "A type that there is not.",
        "recursive-type": "A type that holds itself and is no `oneOf`.",
        "too-large": "Types that stand too deep in one another, or come to too many fields.",
        "ambiguous-alternatives": "Alternatives that the wire cannot tell apart.",
        "wrong-encoding": "Something that the encoding has no form for.",
        "wrong-shape": "A key for another sort of type.",
        # expressions
        "expression-syntax": "A text that is no expression.",
        "expression-type": "Parts of an expression that do not fit together, or a value of another kind than needed.",
        "unknown-name": "A name that means nothing here.",
        "later-name": "A name whose value is only read later.",
        "ambiguous-name": "A name that means different things where the type is used.",
        "negative-size": "A size or a count that is negative.",
        "impossible-value": "A comparison with a text that never occurs; a size, place, value or difference of none.",
        "unknown-ranges": "Named ranges that there are not.",
        # fields
        "unknown-field": "A field that there is not.",
        "bad-const": "A constant that is not of the field's type, or that no record has.",
        "bad-default": "A default that the type, the constant, the values or the spelling of its field do not allow.",
        "bad-range": "A text that is no range, or an empty range.",
        "bad-pattern": "A text that is no pattern, that others read otherwise or without bound, or that suits no text.",
        "bad-value-key": "A key of `values` that is not of the field's type.",
        "duplicate-value": "A value on the wire with two meanings.",
        "mixed-values": "Meanings of several kinds.",
        "bits-out-of-range": "Bits that the integer does not have.",
        "bits-overlap": "A bit with two names.",
        "unknown-on-build": "A value that readers do not see and builders cannot know.",
        "circular-value": "A derived or computed value that follows from itself.",
        "missing-tag": "A protobuf field without a number.",
        "bad-tag": "A number that protobuf fields cannot have.",
        "duplicate-tag": "Two protobuf fields of one number.",
        # unions
        "bad-meaning": "A unit, an epoch or a scale that is none.",
        "lossy-meaning": "A meaning that would lose what is on the wire.",
        "clashing-meanings": "A column that means different things in different records.",
        "clashing-types": "A column that is open in some records, and of one of the open kinds in others.",
        "bad-case": "A case that is no value of the tag, that does not fit its region, or that may be without its tag.",
        "duplicate-case": "A value that selects two cases, or a name of two alternatives.",
        # layout
        "overlapping-fields": "Fields at offsets that share bytes.",
        "gap-in-layout": "Bytes between fields that nothing names.",
        "split-byte": "Fields of any number of bits that do not fill their bytes.",
        "greedy-field": "A field that takes all bytes, or members, left although more fields follow.",
        "unknown-version": "A version that the struct does not have, or versions in the wrong order.",
        "version-arity": "Versions whose arity does not fit their fields, or does not tell them apart.",
        "endless-record": "Records that stand back to back and do not tell where they end, or ask where all bytes do.",
        # checksums and codes
        "unknown-checksum": "A checksum that there is not.",
        "unverified-checksum": "A checksum that no step verifies.",
        "bad-checksum-width": "A CRC or a digest of a width that there is not, or a number of it that has more bits.",
        "checksum-check-value": "CRC parameters that do not give the stated check value.",
        # the format
        "missing-root": "No entry point, or two ways of stating it.",
        "unknown-parameter": "A parameter that there is not.",
        "unfit-parameter": "A parameter that cannot decide what it is meant to.",
        "unknown-schema": "A shared schema that there is not.",
        "unknown-library": "A library that there is not.",
        "clashing-import": "Something of a library that means something else in what imports it.",
        "schema-misfit": "A field that does not fit into the shared schema.",
        # examples
        "bad-hex": "Bytes that are not hexadecimal.",
        "example-outcome": "An example with both value and error, or with both or neither of hex and text.",
        "example-root": "A root that there is not.",
        "example-parameter": "A parameter, or a value of one, that there is not.",
        "example-value": "A value that is no rendering of the record.",
    }
)


# Every warning and what it is about: what is odd and works. A spec silences one in `lint`, with a reason.
WARNINGS: Mapping[str, str] = MappingProxyType(
    {
        "unreachable-type": "A type that no root leads to.",
        "unused-parameter": "A parameter of a type that the type does not use.",
        "certain-condition": "A comparison that is always true, or always false, for every record.",
        "useless-else": "An `else` whose code no check can report.",
        "unknown-code": "An error code that is neither built in nor declared under `errors`.",
        "unused-code": "An error code that nothing reports.",
        "unused-import": "An imported library that the spec does not need.",
        "unreachable-case": "A case that the tag never selects.",
        "unframed-stream": "Records without a stated end: one damaged byte costs all records after it.",
        "true-when-missing": "A condition that is true if a field is missing.",
        "unused-allowance": "An entry of `lint.allow` that matches no warning.",
    }
)


# Every piece of advice and what it is about: what works, and could be better. Only `wireloom lint` gives it.
ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "no-size-limit": "A stream whose records may be as large as a damaged length says.",
        "case-collision": "Columns of one struct whose names differ only in case.",
        "untold-alternative": "An `attempt` that does not tell readers which alternative fitted.",
        "undocumented": "A type whose columns have no `doc`, or a format without `doc` or `source`.",
        "no-unit": "A column that is a quantity by its name and has no `unit`.",
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a text file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """`specs/x.yaml:41:9`, as terminals and editors link it."""
        return f"{visible(self.file)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake, a warning or advice: `id` names it, `path` is the place in the document (`types.Event.fields[2].at`).

    `picture` shows the bytes that it is about, a line each, where it is about a layout.
    """

    id: str
    message: str
    hint: str
    location: Location
    path: str
    picture: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """A diagnostic that the table lacks is a bug of the generator."""
        assert self.id in DIAGNOSTICS or self.id in WARNINGS or self.id in ADVICE, self.id  # noqa: S101

    def __str__(self) -> str:
        """`specs/x.yaml:41:9: message; hint [id at path]`."""
        return f"{self.location}: {self.text} [{self.id}{f' at {visible(self.path)}' if self.path else ''}]"

    @property
    def text(self) -> str:
        """What is wrong and what would be right."""
        text = f"{self.message}; {self.hint}" if self.hint else self.message
        return visible(text)


class SpecProblems(Exception):  # noqa: N818 - it carries problems, each of which has its own name
    """The specs have mistakes: all of them, in the order of the files."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.location))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def _is_said(problem: Problem, other: Problem) -> bool:
    """Whether two problems differ in what would be right at most."""
    return (problem.id, problem.location, problem.message) == (other.id, other.location, other.message)


@dataclass(slots=True)
class Problems:
    """Collects problems; one of each message at a place, whatever the formats that use a library would write there."""

    found: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        """Note a problem."""
        if not any(_is_said(problem, each) for each in self.found):
            self.found.append(problem)

    def raise_if_any(self) -> None:
        """Raise SpecProblems with everything that was noted."""
        if self.found:
            raise SpecProblems(self.found)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6, words: Iterable[str] = ()) -> str:
    """A hint for an unknown name: the nearest known one, or word; or all of the names where they are few."""
    names = [candidate for candidate in known if candidate]
    folded = {candidate.lower(): candidate for candidate in reversed([*names, *words])}
    near = difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=cutoff)
    if (
        near
    ):  # of several, one that begins so: Bin is Binary, not int; or has the same letters: cosnt is const, not count
        begun = next((each for each in near if each.startswith(name.lower())), "")
        swapped = next((each for each in near if sorted(each) == sorted(name.lower())), "")
        return f"did you mean {folded[swapped or begun or near[0]]}?"
    if 0 < len(names) <= 16:
        return f"known: {', '.join(names)}"
    return ""
