"""Turn documents into formats: resolve every name, and report every mistake of a spec.

`assembly` runs the passes of one format in order. Each pass uses the results of the earlier ones, and adds to one
collection of problems. The packages, each of which imports only those above it:

    bind       what each name of a document refers to: imports, type parameters, outlines, scopes, expressions, header
    facts      what holds for all data: sites of expressions, sizes, values, fields that exclude each other
    types      documents -> wire types: notations, unions, structs, and every key of a field
    logical    what readers see: logical types, shared schemas, roots
    check      rules whose violation makes a format unusable, one module for each
    lint       warnings about specs that work: conditions that always hold, cases that never occur
    lower      the last steps to the model: flattening, unrolled recursion, fillers, error codes, examples

A pass that requires a correct spec runs only if the format has no problem so far; a broken struct has no logical type.
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
"""The rules that only give advice."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The resolved formats, and the warnings about their specs."""

    formats: tuple[Format, ...]
    warnings: tuple[Problem, ...]


def resolve(documents: Documents) -> tuple[Format, ...]:
    """Resolve every format; raises SpecProblems with the problems of all files."""
    return resolve_all(documents).formats


def resolve_all(documents: Documents, *, advise: bool = False) -> Resolved:
    """Resolve every format and collect the warnings; raises SpecProblems with the problems of all files.

    With `advise`, the warnings include advice.
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
