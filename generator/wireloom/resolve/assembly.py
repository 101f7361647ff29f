"""One format, from document to model: the passes of `resolve`, in order."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.problems import Location, Problem, Problems, nearest
from wireloom.resolve.bind import header
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.framings import check_header, framing_of
from wireloom.resolve.bind.imports import Libraries, check_imports, with_imports
from wireloom.resolve.bind.outline import outlines
from wireloom.resolve.bind.type_parameters import with_instances
from wireloom.resolve.bind.versions import check_versions
from wireloom.resolve.check.ambiguous_names import check_clashes
from wireloom.resolve.check.checksum_ranges import check_covered
from wireloom.resolve.check.collisions import check_collisions
from wireloom.resolve.check.counters import check_counters
from wireloom.resolve.check.cycles import check_circles, with_given
from wireloom.resolve.check.encoding_forms import check_standing
from wireloom.resolve.check.framing import check_ends
from wireloom.resolve.check.lookahead import check_endings
from wireloom.resolve.check.read_order import check_positions
from wireloom.resolve.check.recursion import check_entries, check_recursion, check_use, check_views, fits, stated_depths
from wireloom.resolve.check.renamed_members import check_renamings
from wireloom.resolve.check.size_limits import check_room
from wireloom.resolve.check.sources import check_building, with_filler
from wireloom.resolve.check.tags import check_tags
from wireloom.resolve.check.unions import check_families
from wireloom.resolve.facts.sites import Names, holders
from wireloom.resolve.facts.text_forms import check_said
from wireloom.resolve.follow_on import independent, independent_of_others
from wireloom.resolve.lint.constant_conditions import check_certainty
from wireloom.resolve.logical.roots import root_types, roots
from wireloom.resolve.logical.schemas import Schema
from wireloom.resolve.lower.checksum_holes import with_holes
from wireloom.resolve.lower.error_codes import check_codes, error_codes
from wireloom.resolve.lower.examples import examples
from wireloom.resolve.lower.flattening import melted
from wireloom.resolve.lower.unnamed_members import with_rests
from wireloom.resolve.lower.unrolling import unrolled
from wireloom.resolve.types.bit_runs import with_runs
from wireloom.resolve.types.conversions import with_meanings
from wireloom.resolve.types.structs import named_types
from wireloom.spec.documents import Document
from wireloom.spec.language import FormatDocument


@dataclass(frozen=True, slots=True)
class Shared:
    """What formats share, by name; `unread` are the names of what has mistakes of its own."""

    schemas: Mapping[str, Schema]
    libraries: Libraries
    unread: tuple[str, ...]


def format_of(document: Document, content: FormatDocument, shared: Shared, problems: Problems) -> Format | None:
    """The format, or None where it has problems."""
    own = Problems()
    draft = Draft(document, content, own)
    schema = _schema(draft, shared.schemas, shared.unread)
    made = whole = None
    try:
        whole = with_imports(draft, shared.libraries, shared.unread)
        made = None if whole is None else with_instances(whole)
        format = None if made is None else _assembled(made, schema)
        if whole is not None:
            check_imports(draft, whole)
        return None if own.found else format
    finally:
        reported = independent_of_others(list(_reported(document, own)), whole or draft)
        for problem in reported if made is whole else _said_once(reported):
            problems.add(problem)


def _said_once(problems: Iterable[Problem]) -> Iterable[Problem]:
    """The problems, one of each kind at each place: what is wrong with a type is wrong with all arguments."""
    first: dict[tuple[str, Location], Problem] = {}
    for problem in problems:
        first.setdefault((problem.id, problem.location), problem)
    return first.values()


def _reported(document: Document, own: Problems) -> Iterable[Problem]:
    """The problems of a whole document; of one that lacks parts, those that do not follow from that."""
    return own.found if document.dropped is None else independent(own.found, document, document.dropped)


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
    named = named_types(draft, seen)
    entries = root_types(draft, seen)
    if not check_recursion(draft, seen, dict(named)) or not renames:
        return None
    molten = melted(draft, named, [entry.type for entry in entries])
    draft, named = molten.draft, molten.named
    names = Names(dict(named), holders(dict(named)))
    check_standing(draft, dict(named), entries)
    check_building(draft, dict(named), names)
    given = check_circles(draft, dict(named), names)
    check_positions(draft, dict(named), names, entries)
    check_counters(draft, dict(named))
    check_covered(draft, dict(named))
    check_certainty(draft, names)
    check_clashes(draft, dict(named), names)
    check_ends(draft, dict(named), entries, framing)
    check_room(draft, dict(named), entries, framing)
    check_families(draft, dict(named))
    check_use(draft, seen)
    check_entries(draft, dict(named))
    check_views(draft, dict(named), names)
    check_said(draft, dict(named), names)
    check_collisions(draft, dict(named))
    check_versions(draft, dict(named))
    check_tags(draft, dict(named), byte_order.fixed)
    check_endings(draft, dict(named), byte_order.fixed or "big")
    check_codes(draft)
    invalid_text = header.deciding_parameter(draft, "invalidText", content.invalid_text, ("error", "bytes", "replace"))
    unknown_members = header.deciding_parameter(draft, "unknownMembers", content.unknown_members, ("error", "ignore"))
    molten.say_once()
    if draft.problems.found:
        return None
    named = with_meanings(with_filler(with_holes(with_given(named, given)), draft.place))
    named = unrolled(with_runs(named, byte_order.fixed or "big"), stated_depths(draft))
    named = with_rests(named)
    errors = error_codes(draft, named, [entry.type for entry in entries])
    entry_points = roots(draft, entries, dict(named), schema)
    check_header(draft, framing, entry_points)
    header.check_deciding(draft, errors)
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
        examples=examples(draft, entry_points, errors),
    )


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
    """SHA-256 of the spec, of the libraries that it takes types of, and of the schema where it has one."""
    digest = hashlib.sha256(document.data)
    for each in document.imported:
        digest.update(each.data)
    if schema is not None:
        digest.update(schema.document.data)
    return digest.hexdigest()
