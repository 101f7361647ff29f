"""Documents -> formats: every name gets its meaning, and everything that can be wrong with a spec is reported here.

`assembly` runs the passes of one format in order; each takes what the ones before it made, and adds to one collector
of problems. The rooms, each of which sees only those above it:

    bind       what each name of a document refers to: imports, type parameters, outline, scopes, expressions, head
    facts      what is known before there is data: sites of expressions, sizes, values, which fields exclude each other
    types      documents -> wire types: notations, unions, structs, and every key of a field
    logical    what readers see: logical types, shared schemas, entry points
    check      what would misbehave or cannot be built, one module a rule
    lint       what is odd and would work: conditions that always hold, cases that never come
    lower      a sound format -> the model: copies of what melts, recursion unrolled, fillers, codes, examples

A pass that needs sound input (logical types of a broken struct mean nothing) runs only where the format has no
problem so far.
"""

from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.problems import Problem, Problems
from wireloom.resolve.assembly import Shared, format_of
from wireloom.resolve.bind.imports import libraries
from wireloom.resolve.lint.allowances import not_allowed
from wireloom.resolve.lint.case_collisions import case_collisions
from wireloom.resolve.lint.documentation import undocumented, without_unit
from wireloom.resolve.lint.missing_fields import true_when_missing
from wireloom.resolve.lint.unframed_streams import unframed_streams, unlimited_records
from wireloom.resolve.lint.untold_alternatives import untold_alternatives
from wireloom.resolve.logical.schemas import schemas
from wireloom.spec.documents import Documents, unlike

__all__ = ["Resolved", "resolve", "resolve_all"]

ADVISING = (unlimited_records, case_collisions, untold_alternatives, undocumented, without_unit)
"""The rules that give advice."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Formats, and what is odd in their specs and works."""

    formats: tuple[Format, ...]
    warnings: tuple[Problem, ...]


def resolve(documents: Documents) -> tuple[Format, ...]:
    """Every format of the documents; raises SpecProblems with all problems of all files."""
    return resolve_all(documents).formats


def resolve_all(documents: Documents, *, advise: bool = False) -> Resolved:
    """Every format of the documents, and the warnings; raises SpecProblems with all problems of all files.

    With `advise` there is advice among the warnings.
    """
    problems, warnings = Problems(list(documents.problems)), Problems()
    shared = Shared(schemas(documents, problems), libraries(documents, problems), documents.unread)
    unlike(documents.formats(), "format", problems)
    formats: list[Format] = []
    for document, content in documents.formats():
        own = Problems()
        found = format_of(document, content, shared, problems, own)
        if found is not None:
            formats.append(found)
            noted = [*own.found, *unframed_streams(found, document), *true_when_missing(found, document)]
            noted += [each for rule in ADVISING if advise for each in rule(found, document, content)]
            for warning in not_allowed(noted, document, content, advised=advise):
                warnings.add(warning)
    problems.raise_if_any()
    return Resolved(tuple(formats), tuple(sorted(warnings.found, key=lambda each: each.location)))
