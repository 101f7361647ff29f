"""Problems that follow from others, and go with them: of one slip one thing is said.

A type that there is not has no bytes, no members and no kind; what is wrong with whatever it stands in is not known
before it is mended. A key that has no place beside others, or in the encoding, is not held against anything else.
Of a document that lacks parts, since their shape was wrong, a problem counts where it is about one place alone, and
where neither that place nor the message has a name that went with those parts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import direct_names
from wireloom.resolve.bind.wording import MISNAMED
from wireloom.resolve.check.recursion import all_mentioned
from wireloom.spec.documents import Document
from wireloom.spec.language import FieldDocument, SelectType, StructType

_NO_TYPE = ("unknown-type", "type-syntax")
_NO_MEANING = ("unknown-name", "later-name", "ambiguous-name", "expression-syntax", "expression-type")
_OF_ENTRIES = frozenset(
    {  # what rests on the type of a field or a case
        "ambiguous-alternatives",
        "bad-case",
        "endless-record",
        "greedy-field",
        "impossible-value",
        "recursive-type",
        "unknown-on-build",
        "useless-else",
        "wrong-shape",
    }
)
_OF_LAYOUTS = frozenset({"gap-in-layout", "overlapping-fields", "split-byte"})
_OF_KEYS = ("conflicting-keys", "wrong-encoding", "wrong-shape")
_OF_UNIONS = ("ambiguous-alternatives", "bad-case", "wrong-shape")
_OF_VALUES = ("bad-case", "certain-condition", "impossible-value")
_OF_USES = "use a type of its own"
_OF_ROOM = " in a region of "
_NAME = re.compile(r"[A-Za-z]\w*")
_STATES_VALUES = re.compile(r"\.(values|null|range)\b")
_ENTRY = re.compile(r"types\.(?P<type>[^.\[]+)(?:\.fields\[(?P<step>[0-9]+)\](?:\.(?P<name>[^.\[]+))?)?(?P<rest>.*)")
_KEY = re.compile(r"\.[A-Za-z]+")
_OF_WHAT_IT_IS = re.compile(r"(\.(type|inline|oneOf|cases)\b.*)?")


def independent_of_others(problems: Sequence[Problem], draft: Draft) -> list[Problem]:
    """The problems without those that follow from others among them."""
    found = _beside_values(_beside_unions(_beside_types(problems, draft), draft), draft)
    found = _once(_beside_keys(_beside_expressions(_beside_sizes(found, draft))))
    misnamed = any(problem.id == "bad-name" for problem in found)
    return [problem for problem in found if not misnamed or problem.hint != MISNAMED]


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """The problems; of several names that do not mean the same wherever a type is used, the first."""
    first: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        where = _Where.of(problem)
        if problem.id == "ambiguous-name" and where is not None and _OF_USES in problem.hint:
            first.setdefault((where.type, problem.hint), problem)
    return [
        problem
        for problem in problems
        if problem.id != "ambiguous-name" or _OF_USES not in problem.hint or problem in first.values()
    ]


@dataclass(frozen=True, slots=True)
class _Where:
    """The named type that a problem is in, the number of its step, the field's name, and what is behind these."""

    type: str
    step: int | None
    name: str
    rest: str

    @classmethod
    def of(cls, problem: Problem) -> "_Where | None":
        found = _ENTRY.fullmatch(problem.path)
        if found is None:
            return None
        step = None if found["step"] is None else int(found["step"])
        return cls(found["type"], step, found["name"] or "", found["rest"])

    @property
    def entry(self) -> tuple[str, int | None]:
        return self.type, self.step

    def union(self, draft: Draft) -> SelectType | None:
        """What the field is where it selects by a tag."""
        form = draft.content.types.get(self.type)
        document = form.fields[self.step].field if isinstance(form, StructType) and self.step is not None else None
        type = document.type if isinstance(document, FieldDocument) else None
        return type if isinstance(type, SelectType) else None


def _beside_types(problems: Sequence[Problem], draft: Draft) -> list[Problem]:
    """The problems without those of what a type that there is not is part of."""
    broken = {where.entry for each in problems if each.id in _NO_TYPE and (where := _Where.of(each)) is not None}
    if not broken:
        return list(problems)
    types = {type for type, _ in broken}

    def rests(where: _Where) -> bool:
        if where.entry in broken:
            return True
        form = draft.content.types.get(where.type)
        if form is None:
            return False
        if where.step is None and isinstance(form, StructType) and where.rest != ".depth":
            return where.type in types
        names = [name for name, step in direct_names(draft, form) if where.step in (None, step)]
        own = {where.type} if where.step is None else set()
        return bool(types & (own | all_mentioned(draft, names)))

    def follows(problem: Problem) -> bool:
        where = _Where.of(problem)
        if where is None or problem.id in _NO_TYPE:
            return False
        if problem.id == "wrong-encoding":
            return _OF_WHAT_IT_IS.fullmatch(where.rest) is not None and rests(where)
        return (problem.id in _OF_ENTRIES and rests(where)) or (problem.id in _OF_LAYOUTS and where.type in types)

    return [problem for problem in problems if not follows(problem)]


def _beside_unions(problems: Sequence[Problem], draft: Draft) -> list[Problem]:
    """The problems, of a union that the encoding has no form for that alone."""
    formless = set[str]()
    for problem in problems:
        where = _Where.of(problem) if problem.id == "wrong-encoding" else None
        if where is not None and (
            where.step is not None or not isinstance(draft.content.types.get(where.type), StructType)
        ):
            formless.add(problem.path.removesuffix(".select"))
    return [
        problem
        for problem in problems
        if problem.id not in _OF_UNIONS or not any(_is_in(problem.path, path) for path in formless)
    ]


def _beside_values(problems: Sequence[Problem], draft: Draft) -> list[Problem]:
    """The problems; what a field is of whose values something is wrong is not held against what asks for it."""
    unlike = {
        (where.type, where.name)
        for each in problems
        if each.id not in _OF_VALUES and (where := _Where.of(each)) is not None and _STATES_VALUES.match(where.rest)
    }

    def follows(problem: Problem) -> bool:
        where = _Where.of(problem) if problem.id in _OF_VALUES else None
        if where is None or where.step is None:
            return False
        if problem.id != "bad-case":
            return any((where.type, name) in unlike for name in _NAME.findall(problem.message))
        union = where.union(draft)
        return union is not None and (where.type, str(union.select)) in unlike

    return [problem for problem in problems if not follows(problem)]


def _beside_sizes(problems: Sequence[Problem], draft: Draft) -> list[Problem]:
    """The problems; of a region that none of its cases fits that alone, and no size of what has no whole bytes.

    Where a field has no room behind it, the bytes before it are as many as there will be.
    """
    torn = {where.type for each in problems if each.id == "split-byte" and (where := _Where.of(each)) is not None}
    narrow = {each.path.removesuffix(".size") for each in problems if each.id == "impossible-value"}
    crowded = {each.path for each in problems if each.id == "overlapping-fields"}

    def follows(problem: Problem) -> bool:
        if problem.id == "gap-in-layout":
            return problem.path in crowded
        where = _Where.of(problem) if problem.id == "bad-case" and _OF_ROOM in problem.message else None
        if where is None:
            return False
        above, _, key = problem.path.rpartition(".cases.")
        union = where.union(draft)
        case = None if union is None else union.cases.get(key)
        return above.removesuffix(".type") in narrow or (isinstance(case, str) and case in torn)

    return [problem for problem in problems if not follows(problem)]


def _is_in(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _beside_expressions(problems: Sequence[Problem]) -> list[Problem]:
    """The problems; what builders know of a field whose expressions mean nothing is not known, either."""
    broken = {where.entry for each in problems if each.id in _NO_MEANING and (where := _Where.of(each)) is not None}
    return [
        problem
        for problem in problems
        if problem.id != "unknown-on-build" or (where := _Where.of(problem)) is None or where.entry not in broken
    ]


def _beside_keys(problems: Sequence[Problem]) -> list[Problem]:
    """The problems, of a key that has no place where it stands that one alone."""
    misplaced: dict[str, Problem] = {}
    for problem in problems:
        where = _Where.of(problem)
        if problem.id in _OF_KEYS and where is not None and where.name and _KEY.fullmatch(where.rest):
            misplaced[problem.path] = min(misplaced.get(problem.path, problem), problem, key=_rank)
    unverified = {path.removesuffix(".checksum") for path in misplaced if path.endswith(".checksum")}
    return [
        problem
        for problem in problems
        if not _is_of(problem, misplaced) and not (problem.id == "unverified-checksum" and problem.path in unverified)
    ]


def _rank(problem: Problem) -> int:
    """Which of several problems of a key says most: that it is beside another, not that it lacks one."""
    return 0 if " beside " in problem.message else 2 if " without " in problem.message else 1


def _is_of(problem: Problem, misplaced: Mapping[str, Problem]) -> bool:
    """Whether a problem is of a misplaced key, or of what it says, and not the one that says so."""
    return any(problem is not said and _is_in(problem.path, path) for path, said in misplaced.items())


_WORD = re.compile(r"\w+")
_FOLLOWING = frozenset(
    {  # what is wrong with the document as a whole, as soon as a part of it is lacking
        "missing-root",
        "recursive-type",
        "split-byte",
        "unreachable-type",
        "unused-parameter",
        "ambiguous-alternatives",
        "conflicting-keys",
        "wrong-shape",
        "bad-case",
        "impossible-value",
        "gap-in-layout",
        "overlapping-fields",
        "greedy-field",
        "version-arity",
        "unknown-version",
        "unknown-field",
        "unverified-checksum",
        "unused-code",
        "useless-else",
        "missing-tag",
        "checksum-check-value",
        "schema-misfit",
        "unfit-parameter",
        "wrong-encoding",
        "example-outcome",
        "example-root",
        "example-parameter",
        "example-value",
    }
)
_OF_FIELD = ("bad-value-key", "mixed-values")  # what follows where something of a field is lacking
_OF_MAPPING = {  # what follows where a whole mapping is lacking
    "types:": {"unknown-type", "unknown-name", "later-name", "unknown-field", "duplicate-field"},
    "imports:": {"unknown-type"},
    "parameters:": {"unknown-parameter", "unknown-name"},
    "errors:": {"unknown-code"},
    "checksums:": {"unknown-checksum"},
    "ranges:": {"unknown-ranges"},
}


def independent(problems: Iterable[Problem], document: Document, dropped: frozenset[str]) -> Iterator[Problem]:
    """The problems that the document has whatever the lacking parts say."""
    lines = document.data.decode("utf-8").splitlines()
    dropped |= {name.partition("(")[0] for name in dropped if "(" in name}  # types with parameters
    excluded = _FOLLOWING.union(*(ids for mapping, ids in _OF_MAPPING.items() if mapping in dropped))
    for problem in problems:
        written = _written(problem, lines) if problem.location.file == document.file else ""  # else of a library
        words = {*_WORD.findall(problem.message), *_WORD.findall(written)}
        if problem.id in _OF_FIELD and dropped & set(_WORD.findall(problem.path)):
            continue
        if problem.id not in excluded and not words & dropped and not problem.path.startswith("examples"):
            yield problem


def _written(problem: Problem, lines: list[str]) -> str:
    """What is written at the problem's place: from the beginning of the value that it stands in."""
    line, column = lines[problem.location.line - 1], problem.location.column - 1
    return re.split(r"[{,:-] ", line[:column])[-1] + re.split(r", |}", line[column:])[0]
