"""Named versions -> what the language says without them.

`since` and `until` of a field become its condition, those of a word a check behind its field. What tells the version is
checked where it is read, and a column with its name is computed behind that. Versions told by what fits become the
alternatives of an attempt, the newest first. Whoever comes behind knows conditions, checks, computed fields, attempts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from wireloom import names
from wireloom.encodings import Form
from wireloom.model.format import Versions
from wireloom.problems import Location, nearest
from wireloom.resolve.bind.draft import Draft, TypeForm
from wireloom.resolve.bind.outline import direct_names
from wireloom.spec import language
from wireloom.spec.documents import Place
from wireloom.spec.entries import STEPS
from wireloom.spec.language import Entry, NamedType, StructType
from wireloom.spec.yaml import MappingNode, Node, Scalar, ScalarNode, SequenceNode, find, plain

FITS = "fits"
_CODE = "unknown_version"
_UNFIT = (
    *("truncated", "trailing_bytes", "bad_region", "bad_arity"),
    *("missing_key", "unexpected_property", "type_mismatch"),
)
"""Codes of a record that is of another shape: the next older version is tried."""
_FORM: TypeAdapter[Any] = TypeAdapter(NamedType)
_BY_OTHERS = "tell versions by a field or by a parameter"
_SPAN = ("since", "until")


def with_versions(draft: Draft) -> Draft | None:
    """The format in words that need no versions, and what there is to know of these; None where that is not clear."""
    stated = draft.content.versions
    forms = [form for form in draft.content.types.values() if isinstance(form, StructType)]
    if stated is None and not any(isinstance(form.versions, language.Versions) for form in forms):
        return draft
    return _Lowering(draft).result()


def condition(versions: Versions, since: str | None, until: str | None) -> str:
    """The expression that holds in the versions from one to another; empty if it holds in all."""
    first = versions.names.index(since) if since else 0
    last = versions.names.index(until) if until else len(versions.names) - 1
    is_newest = last == len(versions.names) - 1
    if first == 0 and is_newest:
        return ""
    if versions.ordered:
        bounds = [(">=", versions.values[first])] * bool(first) + [("<=", versions.values[last])] * (not is_newest)
        return " and ".join(f"{versions.told} {operator} {value}" for operator, value in bounds)
    if is_newest and versions.newer:
        return _among(versions.told, versions.values[:first], negated=True)
    return _among(versions.told, versions.values[first : last + 1])


def check_span(draft: Draft, place: Place, order: Sequence[str], since: str | None, until: str | None) -> bool:
    """Whether `since` and `until` name versions, the older one first; reported where not."""
    before = len(draft.problems.found)
    for key, name in (("since", since), ("until", until)):
        if name is not None and name not in order:
            hint = nearest(name, order) or "declare it in `versions`, of the format or of the struct"
            draft.reports(place / key, "unknown-version", f"there is no version {name}", hint)
    if since in order and until in order and order.index(since) > order.index(until):
        hint = "`since` is the first version that has it, `until` the last; versions run from the oldest to the newest"
        draft.reports(place / "until", "unknown-version", f"{until} is older than {since}", hint)
    return len(draft.problems.found) == before


def _among(told: str, values: Sequence[int | str], *, negated: bool = False) -> str:
    if len(values) == 1:
        return f"{told} {'!=' if negated else '=='} {_literal(values[0])}"
    return f"{told} {'not ' * negated}in [{', '.join(map(_literal, values))}]"


def _literal(value: Scalar) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def _known(versions: Versions) -> str:
    """The expression that holds if the value is of a version; empty where every value is."""
    if not versions.newer:
        return _among(versions.told, versions.values)
    if not versions.ordered:
        return ""
    newest = f"{versions.told} >= {versions.values[-1]}"
    older = versions.values[:-1]
    return f"{_among(versions.told, older)} or {newest}" if older else newest


def _name_shown(versions: Versions) -> str:
    """The expression that gives the version's name."""
    if versions.values == versions.names:
        return versions.told
    *older, (newest, _) = zip(versions.names, versions.values, strict=True)
    return "".join(f"{versions.told} == {_literal(value)} ? '{name}' : " for name, value in older) + f"'{newest}'"


def _value_derived(versions: Versions) -> str:
    """The expression that gives the value on the wire, by the column with the name."""
    *older, (_, newest) = zip(versions.names, versions.values, strict=True)
    chosen = "".join(f"{versions.column} == '{name}' ? {_literal(value)} : " for name, value in older)
    return chosen + _literal(newest)


# --- nodes ---------------------------------------------------------------------------------------------------------


def _scalar(value: Scalar, at: Location, written: str = "") -> ScalarNode:
    """A scalar that stands for what the file says at a place."""
    text = value if isinstance(value, str) else str(value).lower() if value is not None else "null"
    return ScalarNode(value, text, at, written=written, columns=(0,) * (len(text) or 1))


def _mapping(at: Location, entries: Mapping[str, Scalar | Node]) -> MappingNode:
    nodes = {key: each if isinstance(each, Node) else _scalar(each, at) for key, each in entries.items()}
    return MappingNode(tuple((_scalar(key, at), each) for key, each in nodes.items()), at)


def _with(node: MappingNode, key: str, value: Node, at: ScalarNode) -> MappingNode:
    """The mapping with another value for a key, which `at` stands for in the file."""
    kept = tuple(entry for entry in node.entries if entry[0].text != key)
    own = node.entry(key)
    return MappingNode((*kept, (own[0] if own else _scalar(key, at.location, at.text), value)), node.location)


def _said(node: Node, key: str) -> str | None:
    """The text of a key; None where a mapping does not have it, or there is no mapping."""
    entry = node.entry(key) if isinstance(node, MappingNode) else None
    return entry[1].text if entry is not None and isinstance(entry[1], ScalarNode) else None


def _both(added: str, own: ScalarNode | None, at: Location) -> ScalarNode:
    """A condition beside the field's own one."""
    if own is None:
        return _scalar(added, at)
    before = f"({added}) and ("
    columns = own.columns or tuple(range(len(own.text)))
    text = f"{before}{own.text})"
    spread = ((columns[:1] or (0,)) * len(before), columns, (columns[-1:] or (0,)))
    return replace(own, value=text, text=text, columns=tuple(column for part in spread for column in part))


# --- lowering ------------------------------------------------------------------------------------------------------


@dataclass
class _Lowering:
    """The types of a format, as they are without versions."""

    draft: Draft
    stated: Versions | None = None  # those of the format
    within: Versions | None = None  # the same, as types within the struct know them that holds what tells them
    inside: frozenset[str] = frozenset()  # those types
    types: dict[str, TypeForm] = field(default_factory=dict)
    nodes: dict[str, tuple[ScalarNode, Node]] = field(default_factory=dict)
    added: dict[tuple[str, int], list[MappingNode]] = field(default_factory=dict)  # steps behind fields
    derived: dict[tuple[str, int], str] = field(default_factory=dict)  # what hidden fields are derived of

    def result(self) -> Draft | None:
        """The format; None where something is wrong."""
        draft, stated = self.draft, self.draft.content.versions
        versions = None if stated is None else self._stated(draft.place / "versions", stated)
        if versions is not None and stated is not None:
            versions = self._placed(versions, stated)
        own = {
            name: self._of_struct(name, form)
            for name, form in draft.content.types.items()
            if isinstance(form, StructType) and isinstance(form.versions, language.Versions)
        }
        if draft.problems.found or (stated is not None and versions is None):
            return None
        root = draft.document.node
        assert isinstance(root, MappingNode)  # noqa: S101 - its shape was checked
        self.stated = versions
        for name, form in draft.content.types.items():
            seen = self.within if name in self.inside else versions
            self._type(name, form, own.get(name, seen), is_own=name in own)
        if draft.problems.found:
            return None
        entries = tuple(
            (key, MappingNode(tuple(self.nodes.values()), node.location) if key.text == "types" else node)
            for key, node in root.entries
        )
        content = draft.content.model_copy(update={"types": self.types})
        document = replace(draft.document, node=MappingNode(entries, root.location), content=content)
        return replace(draft, document=document, content=content, versions=versions)

    # --- what is stated ---

    def _stated(self, place: Place, stated: language.Versions) -> Versions | None:
        """The versions as they are stated; None, and that is reported, where they cannot be told apart."""
        reports, before = self.draft.reports_entry, len(self.draft.problems.found)
        by_name = stated.order if isinstance(stated.order, dict) else {name: name for name in stated.order}
        order = tuple(by_name)
        if not order or len(order) < len(stated.order):
            reports(place / "order", "unknown-version", "no version, or one twice", "name each version once")
        values: tuple[Any, ...] = tuple(range(len(order))) if stated.from_ == FITS else tuple(by_name.values())
        if stated.from_ == FITS and isinstance(stated.order, dict):
            message, hint = "what fits needs no values", f"write `order: [{', '.join(order)}]`"
            reports(place / "order", "conflicting-keys", message, hint)
        for name, value in zip(order, values, strict=True):
            if isinstance(value, bool) or not isinstance(value, int | str):
                message, hint = f"{value!r} tells no version", "give a whole number or a text"
                reports(place / "order" / name, "wrong-type", message, hint)
            elif "'" in f"{name}{value}":
                reports(place / "order", "bad-name", f"{name} has a quote", "choose another name")
        is_told = len(self.draft.problems.found) == before
        if is_told and (len(set(values)) < len(values) or len(set(map(type, values))) > 1):
            message = "the values do not tell the versions apart"
            reports(
                place / "order", "duplicate-value", message, "give each a value of its own, all numbers or all texts"
            )
        if stated.column is not None and (flaw := names.name_flaw(stated.column)):
            reports(place / "column", "bad-name", f"{stated.column} cannot be the name of a column", flaw)
        if stated.from_ == FITS and (stated.newer != "error" or stated.else_ is not None):
            key = "else" if stated.else_ is not None else "newer"
            message, hint = (
                f"`{key}` beside `from: fits`",
                "drop it: a record that fits no version is an error of its own",
            )
            reports(place / key, "conflicting-keys", message, hint)
        if stated.newer != "error" and stated.else_ is not None and not all(isinstance(each, int) for each in values):
            message, hint = "`else` beside `newer: newest`", "drop one: every other text is read as the newest"
            reports(place / "else", "conflicting-keys", message, hint)
        if len(self.draft.problems.found) > before:
            return None
        is_ordered = all(isinstance(each, int) for each in values) and all(a < b for a, b in pairwise(values))
        if stated.newer != "error" and not is_ordered and isinstance(values[0], int):
            message, hint = "the numbers do not grow, so that none is beyond the newest", "drop `newer`"
            reports(place / "newer", "conflicting-keys", message, hint)
            return None
        return Versions(
            names=order,
            values=values,
            told=stated.from_,
            ordered=is_ordered,
            newer=stated.newer != "error",
            column=stated.column or "",
        )

    def _placed(self, versions: Versions, stated: language.Versions) -> Versions | None:
        """The versions of the format, with where in a record they are told."""
        draft, content = self.draft, self.draft.content
        roots = {name: root.type for name, root in (content.roots or {}).items()}
        if content.root is not None:
            roots = {"record": content.root}
        if versions.told == FITS:
            return self._fitting(versions, roots)
        first, _, rest = versions.told.partition(".")
        holders = {name: dict(self._holders(type, first, set())) for name, type in roots.items()}
        found = {key: place for each in holders.values() for key, place in each.items()}
        place = draft.place / "versions" / "from"
        if not found and first in content.parameters and not rest:
            return self._by_parameter(versions, stated, roots)
        if not found:
            structs = [content.types[name] for type in roots.values() for name in self._records(type)]
            fields = [entry.key for form in structs if isinstance(form, StructType) for entry in form.fields]
            known = [*dict.fromkeys(each for each in fields if each not in STEPS), *content.parameters, FITS]
            hint = nearest(first, known) or "name a field of the record, a parameter, or `fits`"
            draft.reports(place, "unknown-name", f"no record has a field {first}, and no parameter is called so", hint)
            return None
        shown = {self._behind(name, position, versions, stated, rest) for name, position in found.items()}
        if None in shown or len(shown) > 1:
            message = f"readers call {versions.told} by several names, or do not see it"
            if versions.column:
                shown = {(versions.column,)}
            elif len(shown) > 1:
                draft.reports(place, "ambiguous-name", message, "give it one name")
        if rest and found:
            below = {name for each, at in found.items() for name in self._of_field(each, at)}
            outside = self._reach([name for type in roots.values() for name, _ in direct_names(draft, type)], below)
            self.inside = frozenset(self._reach(list(below), set()) - outside)
            self.within = replace(versions, told=rest)
        path = next(iter(shown)) or ()
        return replace(versions, path=path, roots=tuple(name for name, each in holders.items() if each))

    def _of_struct(self, name: str, form: StructType) -> Versions | None:
        """The versions that a struct has itself."""
        stated, place = form.versions, self.draft.place / "types" / name / "versions"
        assert isinstance(stated, language.Versions)  # noqa: S101 - the caller asked
        versions = self._stated(place, stated)
        if versions is None or versions.told == FITS or versions.told in self.draft.content.parameters:
            return versions
        first, _, rest = versions.told.partition(".")
        position = next((at for at, entry in enumerate(form.fields) if entry.is_field and entry.key == first), None)
        if position is None:
            known = [*(entry.key for entry in form.fields if entry.is_field), FITS]
            hint = nearest(first, known) or "name a field of the struct, a parameter, or `fits`"
            self.draft.reports(place / "from", "unknown-name", f"the struct has no field {first}", hint)
            return None
        self._behind(name, position, versions, stated, rest)
        return versions

    def _holders(self, type: str, name: str, seen: set[str]) -> Iterator[tuple[str, int]]:
        """The structs of records that have a field of that name, and its place in each."""
        draft = self.draft
        for each, _ in direct_names(draft, type):
            key = each if each in draft.content.types else draft.with_parameters.get(each, "")
            if key in seen or key not in draft.content.types:
                continue
            seen.add(key)
            form = draft.content.types[key]
            if not isinstance(form, StructType):
                for inner, _ in direct_names(draft, form):
                    yield from self._holders(inner, name, seen)
                continue
            places = [at for at, entry in enumerate(form.fields) if entry.is_field and entry.key == name]
            if places:
                yield key, places[0]
                continue
            for entry in form.fields:
                if entry.is_field and (entry.full.flatten or entry.full.inline):
                    for inner, _ in direct_names(draft, StructType(fields=[entry])):
                        yield from self._holders(inner, name, seen)

    def _behind(
        self, name: str, position: int, versions: Versions, stated: language.Versions, rest: str
    ) -> tuple[str, ...] | None:
        """Note the check and the column behind a field that tells the version; the path that readers see it at."""
        form = self.draft.content.types[name]
        assert isinstance(form, StructType)  # noqa: S101 - it has the field
        entry = form.fields[position]
        if rest:
            inner = next(iter(self._of_field(name, position)), "")
            found = dict(self._holders(inner, rest, set())) if inner else {}
            if inner not in found:
                message, hint = f"{entry.key} has no field {rest}", "name a field of the struct"
                self.draft.reports(self.draft.place / "versions" / "from", "unknown-name", message, hint)
                return None
            below = replace(versions, told=rest, column="")
            path = self._behind(inner, found[inner], below, stated, "")
        else:
            at = (self.draft.place / "types" / name / "fields" / position / entry.key).key_location()
            known = _known(versions)
            if known and not _is_one_of(entry, versions.values):
                check = {"that": known, "else": stated.else_ or _CODE, "field": entry.key}
                self._add(name, position, _mapping(at, {"check": _mapping(at, check)}))
            path = (entry.full.as_ or entry.key,)
            if entry.full.hidden:
                path = None
                if versions.column and entry.full.derive is None and entry.full.const is None:
                    self.derived[name, position] = _value_derived(versions)
        if versions.column:
            self._add(name, position, self._column(name, position, entry.key, versions))
        is_seen = path is not None and not entry.full.hidden
        if rest and is_seen and path is not None:
            return path if entry.full.flatten else (entry.full.as_ or entry.key, *path)
        return path if is_seen else None

    def _of_field(self, name: str, position: int) -> list[str]:
        """The types that a field mentions."""
        form = self.draft.content.types[name]
        assert isinstance(form, StructType)  # noqa: S101 - it has the field
        return [each for each, _ in direct_names(self.draft, StructType(fields=[form.fields[position]]))]

    def _reach(self, names: list[str], without: set[str]) -> set[str]:
        """The types that others lead to, in some way but through those."""
        found = dict.fromkeys(name for name in names if name not in without)
        waiting = list(found)
        for name in waiting:  # which grows
            for inner, _ in direct_names(self.draft, self.draft.content.types[name]):
                if inner not in found and inner not in without:
                    found[inner] = None
                    waiting.append(inner)
        return set(found)

    def _add(self, name: str, position: int, entry: MappingNode) -> None:
        self.added.setdefault((name, position), []).append(entry)

    def _column(self, name: str, position: int, key: str, versions: Versions) -> MappingNode:
        """The computed field with the name of the version."""
        at = (self.draft.place / "types" / name / "fields" / position / key).key_location()
        said = {"compute": _name_shown(versions), "type": "str", "doc": "The version of the record"}
        return _mapping(at, {versions.column: _mapping(at, said)})

    def _by_parameter(self, versions: Versions, stated: language.Versions, roots: dict[str, str]) -> Versions | None:
        """Versions that the caller tells."""
        draft, name = self.draft, versions.told
        options = draft.content.parameters[name].one_of or []
        place = draft.place / "versions" / "from"
        if set(options) != set(versions.values):
            listed = ", ".join(map(str, versions.values))
            message = f"{name} may be {', '.join(options) or 'any value'}, and the versions are {listed}"
            draft.reports(place, "unfit-parameter", message, f"write `{name}: {{oneOf: [{listed}], ...}}`")
            return None
        for key, given in (("else", stated.else_ is not None), ("newer", stated.newer != "error")):
            if given:
                message, hint = f"`{key}` beside a parameter", "drop it: a parameter has no other values"
                draft.reports_entry(draft.place / "versions" / key, "conflicting-keys", message, hint)
        if versions.column:
            for type in roots.values():
                for record in self._records(type):
                    form = draft.content.types[record]
                    if isinstance(form, StructType) and form.fields:
                        self._add(record, -1, self._column(record, 0, form.fields[0].key, versions))
        return replace(versions, parameter=name, roots=tuple(roots))

    def _records(self, type: str) -> list[str]:
        """The structs that a type leads to, not through fields."""
        found: dict[str, None] = {}
        waiting = [name for name, _ in direct_names(self.draft, type)]
        for name in waiting:  # which grows
            form = self.draft.content.types.get(name)
            if isinstance(form, StructType):
                found[name] = None
            elif form is not None:
                waiting += [inner for inner, _ in direct_names(self.draft, form) if inner not in waiting]
        return list(found)

    def _fitting(self, versions: Versions, roots: dict[str, str]) -> Versions | None:
        """Versions of which the record is the newest that it fits."""
        draft, place = self.draft, self.draft.place / "versions" / "from"
        first = next(iter(roots.values()), "")
        record = next((name for name, _ in direct_names(draft, first)), "")
        form = draft.content.types.get(record)
        if not isinstance(form, StructType) or form.versions is not None:
            message, hint = (
                f"{first or 'the root'} is no struct to be tried",
                "state the versions in the structs that differ",
            )
            draft.reports(place, "wrong-shape", message, hint)
            return None
        taken = {
            entry.key for each in draft.content.types.values() if isinstance(each, StructType) for entry in each.fields
        }
        told = "versionThatFits"
        while told in taken:
            told += "_"
        fitting = tuple(
            name for name, type in roots.items() if record in [each for each, _ in direct_names(draft, type)]
        )
        path = (versions.column,) if versions.column else ()
        return replace(versions, told=told, path=path, roots=fitting, record=record)

    # --- types ---

    def _type(self, name: str, form: TypeForm, versions: Versions | None, *, is_own: bool) -> None:
        place = self.draft.place / "types" / name
        head, node = find(self.draft.document.node, place.path)
        assert head is not None  # noqa: S101 - it is an entry
        if not isinstance(form, StructType) or not isinstance(node, MappingNode) or versions is None:
            self._keep(head, node, form, name)
            return
        if form.versions is not None and not is_own:  # of versions of its own, told one by one
            self._keep(head, node, form, name)
            return
        if is_own and versions.told == FITS and self._is_told_by_arity(form, versions):
            at = head.location
            each = {
                version: _mapping(at, {"arity": self._arity(form, versions, version)}) for version in versions.names
            }
            self._keep(head, _with(node, "versions", _mapping(at, each), head), form, name)
        elif (is_own and versions.told == FITS) or versions.record == name:
            self._attempt(head, node, form, versions, name)
        else:
            lowered = self._struct(node, place, name, versions, None)
            self._keep(head, lowered, form, name)

    def _keep(self, head: ScalarNode, node: Node, form: TypeForm, name: str) -> None:
        own = find(self.draft.document.node, ("types", name))[1]
        made = form if node is own else _FORM.validate_python(plain(node))
        if isinstance(made, StructType) and isinstance(form, StructType):
            made = made.model_copy(update={"encoding": form.encoding, "byte_order": form.byte_order})
        self.types[head.text], self.nodes[head.text] = made, (head, node)

    def _container(self, form: StructType) -> Form:
        """What holds the fields of a struct."""
        return Form(form.form) if form.form else self.draft.struct_encoding(form).forms[0]

    def _arity(self, form: StructType, versions: Versions, version: str) -> int:
        """The elements that an array of a version has."""
        at = versions.names.index(version)
        fields = [entry.full for entry in form.fields if entry.is_field]
        return sum(
            at in _span(versions, each.since, each.until)
            for each in fields
            if each.compute is None and not each.counted
        )

    def _is_told_by_arity(self, form: StructType, versions: Versions) -> bool:
        """Whether the versions are arrays of as many elements each as no other."""
        is_array = self._container(form) is Form.ARRAY
        fields = [entry.full for entry in form.fields if entry.is_field]
        if not is_array or versions.column or any(each.when is not None or each.optional for each in fields):
            return False
        found = [self._arity(form, versions, version) for version in versions.names]
        return len(set(found)) == len(found)

    def _attempt(self, head: ScalarNode, node: MappingNode, form: StructType, versions: Versions, name: str) -> None:
        """A type for each version, of which the newest that fits counts."""
        draft, at = self.draft, head.location
        encoding = draft.struct_encoding(form)
        by_members = self._container(form) is Form.OBJECT and not encoding.tries
        if not by_members and not encoding.tries:
            place = draft.place / "types" / name
            message, hint = "every version fits a message, since unknown fields are skipped", _BY_OTHERS
            if self._container(form) is Form.ARRAY:
                message, hint = (
                    "only its size tells the version of an array, and no column",
                    "drop `column`, and `when`",
                )
            draft.reports_entry(place, "wrong-encoding", message, hint)
            return
        if not by_members:
            self._check_shapes(draft.place / "types" / name, form, versions)
        copies = {
            version: self._free(f"{name}_{re.sub(r'[^0-9A-Za-z_]+', '_', version)}") for version in versions.names
        }
        if by_members:
            self._members(head, form, versions, copies)
        else:
            self._trials(head, form, versions, copies)
        bare = MappingNode(tuple(entry for entry in node.entries if entry[0].text != "versions"), node.location)
        for number, (version, copy) in enumerate(copies.items()):
            made = self._struct(bare, draft.place / "types" / name, name, versions, number)
            if encoding.laid_out:
                made = _with_entry(made, _mapping(at, {"end": "trailing_bytes"}), last=True)
            if by_members and versions.column:
                said = {"compute": f"'{version}'", "type": "str", "doc": "The version of the record"}
                made = _with_entry(made, _mapping(at, {versions.column: _mapping(at, said)}))
            if versions.record == name:
                told: dict[str, Scalar | Node] = {"compute": str(number), "type": "uint8", "hidden": True}
                made = _with_entry(made, _mapping(at, {versions.told: _mapping(at, told)}))
            copied = replace(head, value=copy, text=copy, written=name, stands_for=f"version {version}")
            self._keep_copy(copied, made, form)

    def _trials(self, head: ScalarNode, form: StructType, versions: Versions, copies: Mapping[str, str]) -> None:
        """An attempt of a type for each version, the newest first."""
        at = head.location
        codes = SequenceNode(tuple(_scalar(code, at) for code in _UNFIT), at)
        older = SequenceNode((_mapping(at, {"codes": codes}),), at)
        trials: list[Node] = []
        for version, copy in reversed(list(copies.items())):
            tried: dict[str, Scalar | Node] = {"name": version, "type": copy}
            trials.append(_mapping(at, tried if version == versions.names[0] else {**tried, "fallback": older}))
        said: dict[str, Scalar | Node] = {
            "attempt": SequenceNode(tuple(trials), at),
            "kind": versions.column or None,
            "reason": None,
        }
        if form.doc:
            said["doc"] = form.doc
        self._make(head, said)

    def _members(self, head: ScalarNode, form: StructType, versions: Versions, copies: Mapping[str, str]) -> None:
        """Selects by a member that one version must have, or must not have, and the older ones otherwise."""
        at, order = head.location, versions.names
        rest = copies[order[0]]
        for number in range(1, len(order)):
            name = head.text if number == len(order) - 1 else self._free(f"{head.text}_to_{number}")
            newer = copies[order[number]]
            found = _telling(form, versions, number)
            if found is None:
                place = self.draft.place / "types" / head.text
                message = f"no member tells {order[number]} from the versions before"
                hint = "it needs one that is always there, which they lack, or it lacks one that they always have"
                self.draft.reports_entry(place, "ambiguous-alternatives", message, hint)
                return
            member, is_there = found
            cases = _mapping(at, {"true": newer if is_there else rest, "false": rest if is_there else newer})
            tag = _mapping(at, {"member": member, "presence": True})
            key = replace(head, value=name, text=name, written=head.written or head.text)
            self._make(key, {"select": tag, "cases": cases, "doc": form.doc})
            rest = name

    def _make(self, head: ScalarNode, said: dict[str, Scalar | Node]) -> None:
        node = _mapping(head.location, said)
        self.types[head.text], self.nodes[head.text] = _FORM.validate_python(plain(node)), (head, node)

    def _keep_copy(self, head: ScalarNode, node: MappingNode, form: StructType) -> None:
        made = _FORM.validate_python(plain(node))
        said = {"encoding": form.encoding, "byte_order": form.byte_order, "versions": None}
        self.types[head.text], self.nodes[head.text] = made.model_copy(update=said), (head, node)

    def _check_shapes(self, place: Place, form: StructType, versions: Versions) -> None:
        """Report versions whose records look the same, of which only the newest could ever be found."""
        others = (
            each for each in self.draft.content.types.values() if each is not form and isinstance(each, StructType)
        )
        if versions.record and any(entry.full.given & {*_SPAN} for each in others for entry in each.fields):
            return  # what it holds may look different
        is_named = self._container(form) is Form.OBJECT
        seen: dict[str, str] = {}
        for number, version in reversed(list(enumerate(versions.names))):
            shape = repr(
                [
                    (entry.key * is_named, entry.full.model_copy(update={"since": None, "until": None, "as_": None}))
                    for entry in form.fields
                    if entry.is_field and number in _span(versions, entry.full.since, entry.full.until)
                ]
            )
            if shape in seen:
                message = (
                    f"records of {version} and {seen[shape]} look the same, so that none is found to be of {version}"
                )
                hint = "let a field or a parameter tell the versions, or drop one"
                self.draft.reports_entry(place, "ambiguous-alternatives", message, hint)
            seen[shape] = version

    def _free(self, name: str) -> str:
        while name in self.draft.content.types or name in self.types:
            name += "_"
        return name

    # --- fields ---

    def _struct(
        self, node: MappingNode, place: Place, name: str, versions: Versions, number: int | None
    ) -> MappingNode:
        """The struct in words without versions; `number`: the copy for that version."""
        fields = node.entry("fields")
        items = fields[1] if fields is not None else None
        if fields is None or not isinstance(items, SequenceNode):
            return node
        found: list[tuple[Node, int]] = [(entry, 0) for entry in self.added.get((name, -1), ())]
        for position, item in enumerate(items.items):
            where, own = place / "fields" / position, items.number(position)
            made = [item]
            if isinstance(item, MappingNode) and item.entries[0][0].text not in STEPS:
                made = self._field(item, where, versions, number, self.derived.get((name, position)))
            made[1:1] = self.added.get((name, position), []) if number is None else []
            found += [(each, own) for each in made]
        entries, numbers = tuple(node for node, _ in found), tuple(number for _, number in found)
        lowered = replace(items, items=entries, numbers=numbers)
        kept = tuple(
            (key, lowered if key is fields[0] else value) for key, value in node.entries if key.text != "versions"
        )
        return MappingNode(kept, node.location)

    def _field(
        self, item: MappingNode, place: Place, versions: Versions, number: int | None, derived: str | None
    ) -> list[Node]:
        """A field with its versions in its condition, and the checks of words behind it."""
        key, node = item.entries[0]
        if derived is not None:
            node = node if isinstance(node, MappingNode) else _mapping(node.location, {"type": node})
            node = _with(node, "derive", _scalar(derived, key.location), key)
        if not isinstance(node, MappingNode):
            return [item]
        where = place / key.text
        since, until = _said(node, "since"), _said(node, "until")
        if (since or until) and check_span(self.draft, where, versions.names, since, until):
            at = (node.entry("since") or node.entry("until") or (key,))[0]
            if number is None:
                needed = condition(versions, since, until)
            else:
                needed = "" if number in _span(versions, since, until) else "false"
            own = node.entry("when")
            if needed:
                when = _both(needed, own[1] if own and isinstance(own[1], ScalarNode) else None, at.location)
                node = _with(node, "when", when, own[0] if own else at)
        if versions not in (self.stated, self.within):  # the struct's own, which nobody knows behind here
            node = MappingNode(tuple(each for each in node.entries if each[0].text not in _SPAN), node.location)
        checks: list[MappingNode] = []
        node = self._words(node, key.text, where, versions, number, checks)
        bits = node.entry("bits")
        if bits is not None and isinstance(bits[1], MappingNode):
            changed = tuple(
                (bit, self._words(said, bit.text, where / "bits" / bit.text, versions, number, checks))
                if isinstance(said, MappingNode)
                else (bit, said)
                for bit, said in bits[1].entries
            )
            node = _with(node, "bits", MappingNode(changed, bits[1].location), bits[0])
        return [MappingNode(((key, node),), item.location), *checks]

    def _words(  # noqa: PLR0913 - what a table is of
        self,
        node: MappingNode,
        name: str,
        place: Place,
        versions: Versions,
        number: int | None,
        checks: list[MappingNode],
    ) -> MappingNode:
        """The field or bits with the words of a version; of the checks that words need, those are added."""
        table = node.entry("values")
        if table is None or not isinstance(table[1], MappingNode):
            return node
        kept: list[tuple[ScalarNode, Node]] = []
        for key, said in table[1].entries:
            since, until, where = _said(said, "since"), _said(said, "until"), place / "values" / key.text
            if not (since or until) or not check_span(self.draft, where, versions.names, since, until):
                kept.append((key, said))
                continue
            if number is not None and number not in _span(versions, since, until):
                continue
            kept.append((key, said))
            needed = condition(versions, since, until) if number is None else ""
            if needed and self._can_be_checked(node, said, where, table[1]):
                at = where.key_location()
                word = find(said, ("value",))[1]
                value = word.value if isinstance(word, ScalarNode) else None
                code = _said(node, "else") or "unknown_value"
                check = {"that": f"{name} != {_literal(value)} or {needed}", "else": code, "field": name}
                checks.append(_mapping(at, {"check": _mapping(at, check)}))
        return _with(node, "values", MappingNode(tuple(kept), table[1].location), table[0])

    def _can_be_checked(self, node: MappingNode, said: Node, place: Place, table: MappingNode) -> bool:
        """Whether a check tells a word from all others; reported where not."""
        value = find(said, ("value",))[1]
        word = value.value if isinstance(value, ScalarNode) else None
        words = [each.value for _, other in table.entries if isinstance(each := find(other, ("value",))[1], ScalarNode)]
        if "list(" in (_said(node, "type") or ""):
            message, hint = "words of lists have no versions", "give the list `since`, or `check` its elements"
        elif node.entry("raw") is not None:
            message, hint = "beside `raw` every value is allowed, in every version", "drop `raw`, or drop the version"
        elif word is None or isinstance(word, float) or str(word).startswith("=") or "'" in str(word):
            message, hint = f"{word!s} is no word that a check can tell", "give it a plain word"
        elif words.count(word) > 1:
            message, hint = f"{word} is what several values mean", "give each a word of its own"
        else:
            return True
        self.draft.reports_entry(place, "conflicting-keys", message, hint)
        return False


def _span(versions: Versions, since: str | None, until: str | None) -> range:
    """The places of the versions from one to another, in as far as there are such."""
    first = versions.names.index(since) if since in versions.names else 0
    last = versions.names.index(until) if until in versions.names else len(versions.names) - 1
    return range(first, last + 1)


def _telling(form: StructType, versions: Versions, number: int) -> tuple[str, bool] | None:
    """A member that tells a version from all older ones, and whether the version has it; None if there is none."""
    for entry in form.fields:
        full = entry.full
        is_sure = entry.is_field and not full.optional and full.when is None and full.compute is None
        if not is_sure or full.counted or full.inline:
            continue
        span = _span(versions, full.since, full.until)
        older = [at in span for at in range(number)]
        if number in span and not any(older):
            return full.member or entry.key, True
        if number not in span and all(older):
            return full.member or entry.key, False
    return None


def _is_one_of(entry: Entry, values: Sequence[Scalar]) -> bool:
    """Whether the field is one of these values, whatever the record."""
    full = entry.full
    if full.const is not None:
        return True
    if full.values is None or full.raw is not None:
        return False
    words = [each.value if isinstance(each, language.MappedValue) else each for each in full.values.values()]
    return set(words) <= set(values)


def _with_entry(node: MappingNode, entry: MappingNode, *, last: bool = False) -> MappingNode:
    """The struct with one more item of `fields`, the first or the last."""
    fields = node.entry("fields")
    assert fields is not None  # noqa: S101 - a struct has fields
    items = fields[1]
    assert isinstance(items, SequenceNode)  # noqa: S101 - its shape was checked
    numbers = items.numbers or tuple(range(len(items.items)))
    if last:
        made = replace(items, items=(*items.items, entry), numbers=(*numbers, numbers[-1] if numbers else 0))
    else:
        made = replace(items, items=(entry, *items.items), numbers=(0, *numbers))
    return _with(node, "fields", made, fields[0])
