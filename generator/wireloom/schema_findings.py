"""What a JSON Schema says of documents, in words about the member at fault.

Where a value is none of several alternatives, jsonschema says just that, of the whole value. Here the alternative that
the value means to be is looked for, by the members that tell alternatives apart, and what it lacks is said instead.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

_LONGEST = 240
_ANOTHER_KIND, _ANOTHER_TAG = 100, 4
_DECIDING = ("const", "enum")
_CLOSING = ("additionalProperties", "unevaluatedProperties")


def findings(schema: Mapping[str, Any], root: str) -> Callable[[bytes], Iterator[str]]:
    """A judge of documents of that root, as bytes; it says nothing of what is no JSON at all."""
    judged_document = judge(schema, root)

    def judged(data: bytes) -> Iterator[str]:
        try:
            document = json.loads(data)
        except ValueError:
            return  # the decoder says where
        yield from judged_document(document)

    return judged


def judge(schema: Mapping[str, Any], root: str) -> Callable[[object], Iterator[str]]:
    """A judge of documents of that root."""
    validator = Draft202012Validator({**schema, "$ref": f"#/$defs/{root}"})

    def judged(document: object) -> Iterator[str]:
        for problem in validator.iter_errors(document):
            for culprit in _culprits(problem):
                yield f"{_place(culprit)}: {_cut(_message(culprit))}"

    return judged


def _culprits(problem: ValidationError) -> list[ValidationError]:
    """The problems of the alternative that was meant; the problem itself where it is of no alternatives."""
    branches = _branches(problem)
    if not branches:
        return [problem]
    found = [culprit for inner in min(branches, key=_distance) for culprit in _culprits(inner)]
    # members count as unexpected, too, where the alternative that has them was refused for another reason
    return [each for each in found if each.validator not in _CLOSING] or found


def _branches(problem: ValidationError) -> list[list[ValidationError]]:
    """What is wrong by each alternative."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in problem.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return list(branches.values())


def _distance(branch: list[ValidationError]) -> int:
    """How far a value is from an alternative."""
    return sum(map(_weight, branch))


def _weight(problem: ValidationError) -> int:
    branches = _branches(problem)
    if branches:
        return min(map(_distance, branches))
    if problem.validator == "type" and not problem.path:
        return _ANOTHER_KIND
    if problem.validator in _DECIDING and isinstance(problem.instance, str):
        return _ANOTHER_TAG
    if problem.validator == "required":
        return _ANOTHER_TAG if _lacks_tag(problem) else 2
    return 1


def _lacks_tag(problem: ValidationError) -> bool:
    """Whether a member is lacking that has one value only, and so tells the alternative from others."""
    match problem.schema, problem.instance:
        case {"required": [*required], "properties": dict(members)}, dict(instance):
            return any("const" in members.get(name, {}) for name in required if name not in instance)
        case _:
            return False


def _place(problem: ValidationError) -> str:
    """Where a problem is; jsonschema says that of a member that must not be there by the object around it."""
    place: str = problem.json_path
    return f"{place}.{_forbidden(problem)}" if problem.schema is False and _forbidden(problem) else place


def _message(problem: ValidationError) -> str:
    message: str = problem.message
    return "must not be there beside the other members" if problem.schema is False else message


def _forbidden(problem: ValidationError) -> str:
    """The name of a member that must not be there."""
    around = problem.parent.instance if problem.parent is not None else None
    members = around.items() if isinstance(around, dict) else ()
    return next((name for name, value in members if value is problem.instance), "")


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]} ..."
