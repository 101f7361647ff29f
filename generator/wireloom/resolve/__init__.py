"""Documents -> formats: every name gets its meaning, and everything that can be wrong with a spec is said here.

The passes, in order; each takes what the ones before it made, and adds to the same collector of problems:

    imports              what formats take of libraries
    instances            types with parameters, as one type for each list of arguments
    sharing.schemas      the shared schemas, and the logical types of their columns
    header               names, parameters, byte order, checksums, ranges, limits
    lending              what members are called that melt into the struct around
    outline              what expressions can see: the fields of each struct and the structs around it
    named                named types: notations, unions, structs; every expression parsed, resolved, checked
    families             unions whose alternatives the wire cannot tell apart
    recursion            types that hold themselves, and types that nothing uses
    melting              structs whose members have other names where they melt, as copies
    collisions           names, tags, offsets: what may not collide
    versions             what tells the versions of one struct apart
    codes                the vocabulary of errors
    roots                logical types of the entry points, and whether they fit into the shared schema
    examples             bytes and what they mean

A pass that needs sound input (logical types of a broken struct mean nothing) runs only where the format has no
problem so far.
"""

from wireloom.model.format import Format
from wireloom.problems import Problems
from wireloom.resolve.assembly import Shared, format_of
from wireloom.resolve.imports import libraries
from wireloom.resolve.sharing import schemas
from wireloom.spec.documents import Documents

__all__ = ["resolve"]


def resolve(documents: Documents) -> tuple[Format, ...]:
    """Every format of the documents; raises SpecProblems with all problems of all files."""
    problems = Problems(list(documents.problems))
    shared = Shared(schemas(documents, problems), libraries(documents, problems), documents.unread)
    formats: dict[str, Format] = {}
    for document, content in documents.formats():
        if content.format in formats:
            problems.add(
                (document.place / "format").problem(
                    "duplicate-format",
                    f"{content.format} is there twice",
                    f"the first is {formats[content.format].spec}",
                )
            )
        found = format_of(document, content, shared, problems)
        if found is not None:
            formats.setdefault(found.name, found)
    _drop_what_follows(problems)
    problems.raise_if_any()
    return tuple(formats.values())


def _drop_what_follows(problems: Problems) -> None:
    """Of a value that is not YAML, nothing else is said."""
    unread = {problem.location for problem in problems.found if problem.id == "yaml-syntax"}
    problems.found[:] = [
        problem for problem in problems.found if problem.id == "yaml-syntax" or problem.location not in unread
    ]
