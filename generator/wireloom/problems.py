"""The problems of a spec: located, collected, and shown all at once.

A problem has what is wrong (`message`), what to do (`hint`) and where (file, line, column and YAML path). A pass adds
problems to the collector and continues; callers that need a clean result call `raise_if_any`. Errors of data are
separate (`runtime.errors`), and a bug of the generator is neither: it crashes.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from wireloom.escapes import visible

# Every mistake and its meaning: a spec that cannot be compiled, or would misbehave. Each has a file in tests/rejects.
DIAGNOSTICS: Mapping[str, str] = MappingProxyType(
    {
        # the file
        "yaml-syntax": "The file is not YAML, or uses YAML that specs do not allow (aliases, keys with structure).",
        "duplicate-yaml-key": "A key appears twice.",
        "unknown-key": "The language does not have this key here.",
        "missing-key": "A required key is missing.",
        "wrong-type": "The value has another kind than the key needs.",
        "entry-keys": "An item of `fields` has several keys, or none.",
        # names
        "bad-name": "A name with forbidden letters, or a reserved word; also for file names.",
        "duplicate-format": "Two files define a format, library or schema of the same name.",
        "duplicate-field": "Two fields have the same name, on the wire or for readers.",
        "duplicate-example": "Two examples have the same name.",
        "conflicting-keys": "Keys that exclude each other, or one without its companion.",
        # types
        "type-syntax": "The text is not a type.",
        "unknown-type": "There is no such type.",
        "recursive-type": "A type contains itself without `depth`, and is not a `oneOf`.",
        "too-large": "Types are nested too deep, or have too many fields in all.",
        "ambiguous-alternatives": "Alternatives that the wire cannot tell apart.",
        "wrong-encoding": "The encoding cannot express this.",
        "wrong-shape": "A key for another kind of type.",
        # expressions
        "expression-syntax": "The text is not an expression.",
        "expression-type": "Operands do not fit together, or the result has the wrong kind.",
        "unknown-name": "There is no such name here.",
        "later-name": "The value of the name is read later.",
        "ambiguous-name": "A name that means different things where the type is used.",
        "negative-size": "A size or a count that is negative.",
        "impossible-value": "A comparison with a text that never occurs, or a size, offset or value of no record.",
        "unknown-ranges": "There are no such named ranges.",
        # fields
        "unknown-field": "There is no such field.",
        "bad-const": "The constant does not have the field's type, or no record has it.",
        "bad-default": "The field does not allow this default.",
        "bad-range": "The text is not a range, or the range is empty.",
        "bad-pattern": "Not a pattern, or one that other tools read differently or slowly.",
        "bad-value-key": "A key of `values` does not have the field's type.",
        "duplicate-value": "A wire value has two meanings.",
        "mixed-values": "The meanings have several kinds.",
        "bits-out-of-range": "The integer does not have these bits.",
        "bits-overlap": "A bit has two names.",
        "unknown-on-build": "Readers do not see the value, and builders cannot compute it.",
        "circular-value": "A derived or computed value depends on itself.",
        "missing-tag": "A protobuf field has no number.",
        "bad-tag": "Protobuf fields cannot have this number.",
        "duplicate-tag": "Two protobuf fields have the same number.",
        # unions
        "bad-meaning": "Not a unit, an epoch or a scale.",
        "lossy-meaning": "The meaning would lose information.",
        "clashing-meanings": "A column has different meanings in different records.",
        "clashing-types": "A column holds open values in some records, and values of one kind in others.",
        "bad-case": "A case that is not a value of the tag, does not fit its region, or may lack its tag.",
        "duplicate-case": "A value selects two cases, or two alternatives have the same name.",
        # layout
        "overlapping-fields": "Fields at offsets overlap.",
        "gap-in-layout": "Bytes between fields have no name.",
        "split-byte": "Bit fields do not fill whole bytes.",
        "greedy-field": "A field takes all bytes or members left, but more fields follow.",
        "unknown-version": "The struct does not have this version, or versions are in the wrong order.",
        "version-arity": "The arity of versions does not fit their fields, or does not distinguish them.",
        "endless-record": "Concatenated records do not tell where they end, or use the end of the input.",
        # checksums and codes
        "unknown-checksum": "There is no such checksum.",
        "unverified-checksum": "No step verifies the checksum.",
        "bad-checksum-width": "A CRC or digest cannot have this width, or a parameter has too many bits.",
        "checksum-check-value": "The parameters do not give the stated check value.",
        # the format
        "missing-root": "No root, or both `root` and `roots`.",
        "unknown-parameter": "There is no such parameter.",
        "unfit-parameter": "The parameter cannot decide this.",
        "unknown-schema": "There is no such shared schema.",
        "unknown-library": "There is no such library.",
        "clashing-import": "A name of a library means something else in what imports it.",
        "schema-misfit": "A field does not fit the shared schema.",
        # examples
        "bad-hex": "Bytes that are not hexadecimal.",
        "example-outcome": "An example needs either a value or an error, and either `hex` or `text`.",
        "example-root": "There is no such root.",
        "example-parameter": "There is no such parameter, or it cannot have this value.",
    }
)


# Every warning and its meaning: odd, but it works. A spec silences a warning in `lint`, with a reason.
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


# Every piece of advice and its meaning: it works, but could be better. Only `wireloom lint` shows it.
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
        """`specs/x.yaml:41:9`, which terminals and editors turn into a link."""
        return f"{visible(self.file)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake, a warning or advice: `id` names it, `path` is the place in the document (`types.Event.fields[2].at`).

    `picture` draws the bytes if the problem is in a layout, one line for each.
    """

    id: str
    message: str
    hint: str
    location: Location
    path: str
    picture: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the id: one that the tables lack is a bug of the generator."""
        assert self.id in DIAGNOSTICS or self.id in WARNINGS or self.id in ADVICE, self.id  # noqa: S101

    def __str__(self) -> str:
        """`specs/x.yaml:41:9: message; hint [id at path]`."""
        return f"{self.location}: {self.text} [{self.id}{f' at {visible(self.path)}' if self.path else ''}]"

    @property
    def text(self) -> str:
        """What is wrong, and what to do."""
        text = f"{self.message}; {self.hint}" if self.hint else self.message
        return visible(text)


class SpecProblems(Exception):  # noqa: N818 - the problems in it have names of their own
    """The mistakes of the specs: all of them, in the order of the files."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.location))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def _differ_in_hint_at_most(problem: Problem, other: Problem) -> bool:
    """Whether two problems are equal except for the hint."""
    return (problem.id, problem.location, problem.message) == (other.id, other.location, other.message)


@dataclass(slots=True)
class Problems:
    """Collects problems, without duplicates of a message at the same place (from formats that share a library)."""

    found: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        if not any(_differ_in_hint_at_most(problem, each) for each in self.found):
            self.found.append(problem)

    def raise_if_any(self) -> None:
        """Raise SpecProblems if there are any."""
        if self.found:
            raise SpecProblems(self.found)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6, words: Iterable[str] = ()) -> str:
    """A hint for an unknown name: the most similar known name or word; or all names if they are few."""
    names = [candidate for candidate in known if candidate]
    folded = {candidate.lower(): candidate for candidate in reversed([*names, *words])}
    near = difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=cutoff)
    if near:
        # prefer a prefix (Bin is Binary, not int), or the same letters (cosnt is const, not count)
        begun = next((each for each in near if each.startswith(name.lower())), "")
        swapped = next((each for each in near if sorted(each) == sorted(name.lower())), "")
        return f"did you mean {folded[swapped or begun or near[0]]}?"
    if 0 < len(names) <= 16:
        return f"known: {', '.join(names)}"
    return ""


def words_for(meant: Mapping[str, str]) -> dict[str, str]:
    """The meaning of each word, where `meant` lists the words for each meaning."""
    return {word: meaning for meaning, words in meant.items() for word in words.split()}
