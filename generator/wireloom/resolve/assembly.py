"""Build one format from its document by running the passes of `resolve` in order.

`settle` ends a pass. After it, problems at nodes that were already found wrong, or that use such a node, are follow-on
errors and are not reported. Warnings are collected along the way, and shown only if the format has no mistakes.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Concatenate, ParamSpec, TypeVar

from wireloom.model.format import Format
from wireloom.problems import Problem, Problems, nearest
from wireloom.resolve.bind import header
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.framings import check_header, framing_of
from wireloom.resolve.bind.imports import Libraries, check_imports, with_imports
from wireloom.resolve.bind.named_versions import with_versions
from wireloom.resolve.bind.outline import all_mentioned, outlines
from wireloom.resolve.bind.poison import Poison
from wireloom.resolve.bind.type_parameters import with_instances
from wireloom.resolve.bind.uses import uses_of, without_follow_ons
from wireloom.resolve.bind.versions import check_versions
from wireloom.resolve.check.ambiguous_names import check_clashes
from wireloom.resolve.check.checksums import check_checksums
from wireloom.resolve.check.counters import check_counters
from wireloom.resolve.check.cycles import Given, check_circles, with_given
from wireloom.resolve.check.encoding_forms import check_standing
from wireloom.resolve.check.endless_records import check_ends
from wireloom.resolve.check.field_names import check_names
from wireloom.resolve.check.greedy_fields import check_greed
from wireloom.resolve.check.impossible_values import check_values
from wireloom.resolve.check.lookahead import check_endings
from wireloom.resolve.check.offsets import check_offsets
from wireloom.resolve.check.read_order import check_positions
from wireloom.resolve.check.recursion import check_entries, check_recursion, check_views, fits, stated_depths
from wireloom.resolve.check.renamed_members import check_renamings
from wireloom.resolve.check.sources import check_building, with_filler
from wireloom.resolve.check.tags import check_tags
from wireloom.resolve.check.unions import check_families
from wireloom.resolve.facts.decisions import with_decisions
from wireloom.resolve.facts.sites import Names, holders
from wireloom.resolve.facts.sizes import Sizes
from wireloom.resolve.facts.text_forms import check_said
from wireloom.resolve.facts.values import View
from wireloom.resolve.lint.constant_conditions import check_conditions
from wireloom.resolve.lint.error_codes import check_code_names, check_codes
from wireloom.resolve.lint.unused_types import check_use
from wireloom.resolve.logical.roots import Entry, root_types, roots
from wireloom.resolve.logical.schemas import Schema
from wireloom.resolve.lower.checksum_holes import with_holes
from wireloom.resolve.lower.error_codes import error_codes
from wireloom.resolve.lower.examples import examples
from wireloom.resolve.lower.flattening import melted
from wireloom.resolve.lower.unnamed_members import with_rests
from wireloom.resolve.lower.unrolling import unrolled
from wireloom.resolve.types.bit_runs import with_runs
from wireloom.resolve.types.conversions import with_meanings
from wireloom.resolve.types.structs import named_types
from wireloom.spec.documents import Document
from wireloom.spec.language import FormatDocument

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Shared:
    """What formats share, by name; `unread` has the names of schemas and libraries with mistakes."""

    schemas: Mapping[str, Schema]
    libraries: Libraries
    unread: tuple[str, ...]


def format_of(
    document: Document, content: FormatDocument, shared: Shared, problems: Problems, warnings: Problems
) -> Format | None:
    """Build the format; None if it has problems."""
    shape = tuple(each for each in problems.found if each.location.file == document.file)
    draft = Draft(document, content, Poison(shape=shape), Problems())
    schema = _schema(draft, shared.schemas, shared.unread)
    made = whole = None
    try:
        whole = with_imports(draft, shared.libraries, shared.unread)
        if whole is not None:
            draft.problems.uses = lambda: uses_of(whole)
            draft.problems.settle()
        unversioned = None if whole is None else with_versions(whole)
        made = None if unversioned is None else with_instances(unversioned)
        format = None if made is None else _assembled(made, schema)
        if whole is not None:
            check_imports(draft, whole)
        return None if draft.problems.found else format
    finally:
        found = draft.problems.found
        found = found if document.dropped is None else without_follow_ons(found, document, document.dropped)
        for problem in found:
            problems.add(problem)
        if not draft.problems.found:
            for warning in _once(draft.warnings.found):
                warnings.add(warning)


def _once(warnings: Sequence[Problem]) -> Iterable[Problem]:
    """Drop repeated warnings: the instances of a type with parameters differ only in the end of their messages."""
    first = {(each.id, each.location, each.message.partition(", in ")[0]): each for each in reversed(warnings)}
    return reversed(first.values())


def _pass(
    check: Callable[Concatenate[Draft, _Arguments], _Result],
    draft: Draft,
    *arguments: _Arguments.args,
    **named: _Arguments.kwargs,
) -> _Result:
    """Run a check and settle its problems, so that follow-on errors are dropped."""
    result = check(draft, *arguments, **named)
    draft.problems.settle()
    return result


def _assembled(draft: Draft, schema: Schema | None) -> Format | None:
    content = draft.content
    if not fits(draft):
        return None
    header.check_names(draft)
    parameters, byte_order, limits = header.parameters(draft), header.byte_order(draft), content.limits
    depth = header.limit(draft, "depth", limits.depth)
    size = None if limits.size is None else header.limit(draft, "size", limits.size)
    expansion = header.limit(draft, "expansion", limits.expansion)
    ratio = header.limit(draft, "ratio", limits.ratio)
    checksums, ranges, framing = header.checksums(draft), header.ranges(draft), framing_of(draft, byte_order)
    renames = check_renamings(draft)
    seen = outlines(draft)
    every = named_types(draft, seen)
    entries = _pass(root_types, draft, seen)
    check_code_names(draft)
    if draft.document.dropped is not None:
        return None  # nothing more can be checked without the missing parts
    used = all_mentioned(draft, seen.roots) if seen.roots else dict(every)
    check_use(draft, tuple(name for name, _ in every if name not in used))
    named = tuple((name, type) for name, type in every if name in used)
    types = {name: form for name, form in content.types.items() if name in used}
    draft = replace(draft, content=content.model_copy(update={"types": types}))
    seen = replace(seen, recursive=seen.recursive.intersection(used))
    if not _pass(check_recursion, draft, seen, dict(named)) or not renames:
        return None
    flattened = melted(draft, named, [entry.type for entry in entries])
    draft, named = flattened.draft, flattened.named
    order = byte_order.fixed or "big"
    names = Names(dict(named), holders(dict(named)))
    view, sizes = View(names), Sizes(names.named)
    given = _checked(draft, view, sizes, entries)
    _pass(check_ends, draft, names.named, entries, framing)
    _pass(check_tags, draft, view, sizes)
    _pass(check_endings, draft, sizes)
    invalid_text = header.deciding_parameter(draft, "invalidText", content.invalid_text, ("error", "bytes", "replace"))
    unknown_members = header.deciding_parameter(draft, "unknownMembers", content.unknown_members, ("error", "ignore"))
    if draft.problems.found:
        return None
    check_codes(draft)
    check_conditions(draft, view)
    named = with_meanings(with_filler(with_holes(with_given(named, given)), draft.place))
    named = unrolled(with_runs(named, order), stated_depths(draft))
    named = with_decisions(with_rests(named), [entry.type for entry in entries])
    errors = error_codes(draft, named, [entry.type for entry in entries])
    entry_points = roots(draft, entries, dict(named), schema)
    check_header(draft, framing, entry_points)
    if draft.problems.found:
        return None
    return Format(
        name=content.format,
        title=content.title,
        doc=content.doc,
        source=content.source,
        spec=draft.document.path,
        digest=_digest(draft.document, schema),
        encoding=draft.encoding,
        byte_order=byte_order,
        parameters=parameters,
        framing=framing,
        depth=depth,
        size=size,
        expansion=expansion,
        ratio=ratio,
        checksums=checksums,
        errors=errors,
        types=named,
        roots=entry_points,
        ranges=ranges,
        invalid_text=invalid_text,
        unknown_members=unknown_members,
        schema=content.schema_ or "",
        named_versions=draft.versions,
        examples=examples(draft, entry_points, errors),
    )


def _checked(draft: Draft, view: View, sizes: Sizes, entries: tuple[Entry, ...]) -> Given:
    """Report what cannot be parsed or built, the simplest rules first.

    Return the computed fields that builders are given.
    """
    names, named = view.names, dict(view.names.named)
    _pass(check_standing, draft, sizes, entries)
    _pass(check_names, draft, named)
    _pass(check_versions, draft, named)
    _pass(check_families, draft, named)
    _pass(check_positions, draft, named, names, entries)
    _pass(check_building, draft, named, names)
    given = _pass(check_circles, draft, named, names)
    _pass(check_counters, draft, named)
    _pass(check_checksums, draft, named)
    _pass(check_clashes, draft, named, names)
    _pass(check_offsets, draft, sizes)
    _pass(check_greed, draft, sizes)
    _pass(check_values, draft, view)
    _pass(check_entries, draft, named)
    _pass(check_views, draft, named, names)
    _pass(check_said, draft, named, names)
    return given


def _schema(draft: Draft, schemas: Mapping[str, Schema], unread: tuple[str, ...]) -> Schema | None:
    name = draft.content.schema_
    if name is None or name in unread:
        return None
    if name not in schemas:
        hint = nearest(name, schemas) or "there are no shared schemas"
        draft.reports(draft.place / "schema", "unknown-schema", f"there is no schema {name}", hint)
    found = schemas.get(name)
    return found if found is not None and found.sound else None


def _digest(document: Document, schema: Schema | None) -> str:
    """SHA-256 of the spec, of the libraries it takes types from, and of its shared schema."""
    digest = hashlib.sha256(document.data)
    for each in document.imported:
        digest.update(each.data)
    if schema is not None:
        digest.update(schema.document.data)
    return digest.hexdigest()
