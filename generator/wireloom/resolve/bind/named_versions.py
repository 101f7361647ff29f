"""Rewrite named versions as constructs that all later passes know (docs/decisions/0026-named-versions.md).

`since` and `until` of a field become a part of its condition; at a value, they become a check after the field. The
field that holds the version is checked where it is read, and the column with the version's name is a computed field
after it. `from: fits` becomes an attempt with one alternative per version, newest first, or, for objects, a select by
their members. Later passes see conditions, checks, computed fields, selects and attempts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from wireloom import names
from wireloom.encodings import Form
from wireloom.model.format import Versions
from wireloom.model.traversal import closure
from wireloom.problems import Location, nearest
from wireloom.resolve.bind.draft import Draft, TypeForm, entries_of, form_of
from wireloom.resolve.bind.outline import direct_names
from wireloom.spec import language
from wireloom.spec.documents import Place
from wireloom.spec.entries import STEPS
from wireloom.spec.language import Entry, MappedValue, StructType
from wireloom.spec.yaml import MappingNode, Node, Scalar, ScalarNode, SequenceNode, changed, child, find

FITS = "fits"
_CODE = "unknown_version"
_UNFIT = (
    *("truncated", "trailing_bytes", "bad_region", "bad_arity"),
    *("missing_key", "unexpected_property", "type_mismatch"),
)
"""Error codes that show that a record does not fit a version, so the next older one is tried."""
_PLAIN = frozenset(("type", "doc", "unit", "as", "hidden", "member", "tag", "optional", "default", "byteOrder"))
"""Keys that a field may have together with `values` or `range`."""
_SPAN = frozenset(("since", "until"))
_Site = tuple[str, int]  # a struct and the index of a field in it


def with_versions(draft: Draft) -> Draft | None:
    """The format without versions, and what builders must know about them; None if a mistake was reported."""
    forms = [form for form in draft.content.types.values() if isinstance(form, StructType)]
    if draft.content.versions is None and not any(isinstance(form.versions, language.Versions) for form in forms):
        return draft
    return _Lowering(draft).result()


def condition(versions: Versions, since: str | None, until: str | None) -> str:
    """The expression that is true in the versions `since` to `until`; empty if it is true in all."""
    found = span_of(versions.names, since, until)
    first, last = found[0], found[-1]
    is_newest = last == len(versions.names) - 1
    if first == 0 and is_newest:
        return ""
    if versions.ordered:
        bounds = [(">=", versions.values[first])] * bool(first) + [("<=", versions.values[last])] * (not is_newest)
        return " and ".join(f"{versions.told} {operator} {value}" for operator, value in bounds)
    if is_newest and versions.newer:
        return _among(versions.told, versions.values[:first], negated=True)
    return _among(versions.told, versions.values[first : last + 1])


def span_of(order: Sequence[str], since: str | None, until: str | None) -> range:
    """The indices of the versions `since` to `until`; unknown names are ignored."""
    first = order.index(since) if since in order else 0
    last = order.index(until) if until in order else len(order) - 1
    return range(first, last + 1)


def check_span(draft: Draft, place: Place, order: Sequence[str], since: str | None, until: str | None) -> bool:
    """Whether `since` and `until` name versions, and `since` is not the newer one; reports a mistake."""
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
    """The expression that is true if the value names a version; empty if every value does."""
    if not versions.newer:
        return _among(versions.told, versions.values)
    older, newest = versions.values[:-1], f"{versions.told} >= {versions.values[-1]}"
    return "" if not versions.ordered else f"{_among(versions.told, older)} or {newest}" if older else newest


def _chosen(pairs: Sequence[tuple[str, str]], told: str) -> str:
    """The expression that maps `told` by the pairs; a value without a pair gets the second of the last pair."""
    *older, (_, newest) = pairs
    return "".join(f"{told} == {first} ? {second} : " for first, second in older) + newest


# --- nodes ---------------------------------------------------------------------------------------------------------


def _scalar(value: Scalar, at: Location, written: str = "") -> ScalarNode:
    """A new scalar with the location of the text that it replaces in the file."""
    text = value if isinstance(value, str) else str(value).lower() if value is not None else "null"
    return ScalarNode(value, text, at, written=written, columns=(0,) * (len(text) or 1))


def _mapping(at: Location, entries: Mapping[str, Scalar | Node]) -> MappingNode:
    nodes = {key: each if isinstance(each, Node) else _scalar(each, at) for key, each in entries.items()}
    return MappingNode(tuple((_scalar(key, at), each) for key, each in nodes.items()), at)


def _computed(at: Location, name: str, text: str, type: str = "str", *, hidden: bool = False) -> MappingNode:
    """A computed field: a hidden one, or the column with the version's name."""
    keys: dict[str, Scalar | Node] = {"compute": text, "type": type, "hidden": hidden}
    return _mapping(at, {name: _mapping(at, keys if hidden else {**keys, "doc": "The version of the record"})})


def _with(node: MappingNode, key: str, value: Node, at: ScalarNode) -> MappingNode:
    """The mapping with another value for a key; `at` is the location that problems show."""
    kept = tuple(entry for entry in node.entries if entry[0].text != key)
    own = node.entry(key)
    return MappingNode((*kept, (own[0] if own else _scalar(key, at.location, at.text), value)), node.location)


def _text_of(node: Node, key: str) -> str | None:
    """The text of a key; None if the node has no such key, or is no mapping."""
    found = child(node, key)
    return found.text if isinstance(found, ScalarNode) else None


def _both(added: str, own: ScalarNode | None, at: Location) -> ScalarNode:
    """The field's condition combined with another one."""
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
    """Rewrites the types of a format without versions."""

    draft: Draft
    stated: Versions | None = None  # those of the format
    within: Versions | None = None  # the same, for types inside of the struct that holds the version field
    inside: frozenset[str] = frozenset()  # these types
    types: dict[str, TypeForm] = field(default_factory=dict)
    nodes: dict[str, tuple[ScalarNode, Node]] = field(default_factory=dict)
    added: dict[_Site, list[MappingNode]] = field(default_factory=dict)  # items to insert after a field
    extra: dict[_Site, dict[str, Scalar | Node]] = field(default_factory=dict)  # keys to add to a field

    def result(self) -> Draft | None:
        """The rewritten format; None if a mistake was reported."""
        draft, forms = self.draft, self.draft.content.types
        if draft.content.versions is not None:
            self.stated = self._of_format(draft.content.versions)
        own = {
            name: self._of_struct(name, form, form.versions)
            for name, form in forms.items()
            if isinstance(form, StructType) and isinstance(form.versions, language.Versions)
        }
        if draft.problems.found:
            return None
        for name, form in forms.items():
            known = self.within if name in self.inside else self.stated
            self._type(name, form, own.get(name, known), is_own=name in own)
        if draft.problems.found:
            return None
        types = tuple(self.nodes.values())
        node = changed(draft.document.node, "types", lambda each: MappingNode(types, each.location))
        return replace(draft.rewritten(node, {"types": self.types}), versions=self.stated)

    # --- stated versions ---

    def _stated(self, place: Place, stated: language.Versions) -> Versions | None:
        """The versions as the spec states them; None if a mistake was reported."""
        by_name = stated.order if isinstance(stated.order, dict) else {name: name for name in stated.order}
        order = tuple(by_name)
        values: tuple[Any, ...] = tuple(range(len(order))) if stated.from_ == FITS else tuple(by_name.values())
        flaw = next(_flaws(stated, order, values), None)
        if flaw is not None:
            key, id, message, hint = flaw
            self.draft.reports_entry(place / key, id, message, hint)
            return None
        newer = stated.newer != "error"
        return Versions(order, values, stated.from_, ordered=_grow(values), newer=newer, column=stated.column or "")

    def _of_format(self, stated: language.Versions) -> Versions | None:
        """The versions of the format, with the path of the version in a record."""
        content, place = self.draft.content, self.draft.place / "versions"
        versions = self._stated(place, stated)
        roots = content.root_types
        if versions is None:
            return None
        if versions.told == FITS:
            return self._fitting(versions, roots)
        first, _, rest = versions.told.partition(".")
        holders = {name: self._holders(self._named(type), first) for name, type in roots.items()}
        found = {name: at for each in holders.values() for name, at in each.items()}
        if not found and versions.told in content.parameters:
            return self._by_parameter(versions, stated, roots)
        records = [form for type in roots.values() for form in map(content.types.get, self._reach(self._named(type)))]
        if not found:
            self._lacks(place, first, records, [*content.parameters, FITS])
            return None
        told = self._by_field(versions, stated, place, list(found.items()))
        if told is not None and rest:
            below = [name for site in found.items() for name in self._of_field(site)]
            outside = self._reach([name for type in roots.values() for name in self._named(type)], below)
            self.inside = frozenset(self._reach(below)) - outside.keys()
            self.within = replace(told, told=rest)
        return told and replace(told, roots=tuple(name for name, each in holders.items() if each))

    def _of_struct(self, name: str, form: StructType, stated: language.Versions) -> Versions | None:
        """A struct's own versions."""
        place = self.draft.place / "types" / name / "versions"
        versions = self._stated(place, stated)
        if versions is None or versions.told == FITS or versions.told in self.draft.content.parameters:
            return versions
        first = versions.told.partition(".")[0]
        found = [(name, at) for at, entry in enumerate(form.fields) if entry.is_field and entry.key == first][:1]
        if not found:
            self._lacks(place, first, [form], [FITS])
            return None
        return self._by_field(versions, stated, place, found)

    def _lacks(self, place: Place, name: str, forms: Sequence[TypeForm | None], others: Sequence[str]) -> None:
        """Report that `from` names neither a field nor a parameter."""
        keys = [entry.key for form in forms for entry in entries_of(form) if entry.is_field]
        known = [*dict.fromkeys(keys), *others]
        hint = nearest(name, known) or "name a field, a parameter, or `fits`"
        self.draft.reports(place / "from", "unknown-name", f"there is no field {name}, and no such parameter", hint)

    # --- version in a field ---

    def _holders(self, types: Sequence[str], name: str) -> dict[str, int]:
        """The structs that have a field with this name, with the field's index."""
        found: dict[str, int] = {}

        def inner(type: str) -> Sequence[str]:
            form = self.draft.content.types[type]
            if not isinstance(form, StructType):
                return self._named(form)
            fields = [(at, entry) for at, entry in enumerate(form.fields) if entry.is_field]
            if places := [at for at, entry in fields if entry.key == name]:
                found[type] = places[0]
                return ()
            melting = (at for at, entry in fields if entry.full.flatten or entry.full.inline)
            return [each for at in melting for each in self._of_field((type, at))]

        closure(types, inner)
        return found

    def _by_field(
        self, versions: Versions, stated: language.Versions, place: Place, holders: Sequence[_Site]
    ) -> Versions | None:
        """The versions, if a field of these structs, or a member of the field, holds the version."""
        rest = versions.told.partition(".")[2]
        sites = list[tuple[_Site, _Site]]()
        for outer in holders:
            inner = self._holders(self._of_field(outer), rest) if rest else dict([outer])
            if not inner:
                message, hint = f"{self._entry(outer).key} has no field {rest}", "name a field of the struct"
                self.draft.reports(place / "from", "unknown-name", message, hint)
                return None
            sites += [(outer, site) for site in inner.items()]
        fields = [self._entry(site).full for _, site in sites]
        is_bare = all(each.given <= _PLAIN for each in fields)
        by_name = is_bare and bool(versions.column) and not (rest or versions.newer) and all(f.hidden for f in fields)
        told = replace(versions, values=versions.names, ordered=False) if by_name else versions
        for outer, site in sites:
            self._limit(site, replace(versions, told=rest or versions.told), stated, by_name=by_name, is_bare=is_bare)
            if versions.column:
                self._add(outer, self._column(outer, told))
        paths = {self._path(outer, site) if rest else self._path(outer) for outer, site in sites}
        if versions.column and (len(paths) > 1 or None in paths):
            return replace(told, path=(versions.column,))
        if len(paths) > 1:
            message = f"readers call {versions.told} by several names"
            self.draft.reports(place / "from", "ambiguous-name", message, "give it one name, or add `column`")
        return replace(told, path=next(filter(None, paths), ()))

    def _limit(
        self, site: _Site, versions: Versions, stated: language.Versions, *, by_name: bool, is_bare: bool
    ) -> None:
        """Restrict the field to the values of versions."""
        entry, at, code = self._entry(site), self._at(site), stated.else_ or _CODE
        extra: dict[str, Scalar | Node] = {}
        values, texts = versions.values, not isinstance(versions.values[0], int)
        step = versions.ordered and all(other == one + 1 for one, other in pairwise(map(int, values)))
        if by_name or (is_bare and texts and not versions.newer):
            shown = versions.names if by_name else values
            extra["values"] = _mapping(at, dict(zip(map(str, values), shown, strict=True)))
        elif is_bare and step:
            extra["range"] = f"{values[0]} ..{'' if versions.newer else f' {values[-1]}'}"
        elif (known := _known(versions)) and not _is_one_of(entry, values):
            self._add(site, _mapping(at, {"check": _mapping(at, {"that": known, "else": code, "field": entry.key})}))
        if extra:
            extra["else"] = code
        if entry.full.hidden and versions.column and entry.full.derive is None and entry.full.const is None:
            pairs = [(f"'{name}'", _literal(value)) for name, value in zip(versions.names, values, strict=True)]
            extra["derive"] = versions.column if by_name else _chosen(pairs, versions.column)
        self.extra[site] = extra

    def _path(self, outer: _Site, inner: _Site | None = None) -> tuple[str, ...] | None:
        """The path of a field, or of its member, as readers see it; None if it is hidden."""
        entries = [self._entry(site) for site in (outer, inner) if site is not None]
        if any(entry.full.hidden for entry in entries):
            return None
        return tuple(entry.full.as_ or entry.key for entry in entries if not entry.full.flatten)

    def _entry(self, site: _Site) -> Entry:
        return entries_of(self.draft.content.types[site[0]])[site[1]]

    def _at(self, site: _Site) -> Location:
        return self.draft.place_of(*site, self._entry(site)).key_location()

    def _named(self, form: TypeForm) -> list[str]:
        """The named types that a type mentions, by their keys."""
        return [name for name, _ in direct_names(self.draft, form)]

    def _of_field(self, site: _Site) -> list[str]:
        return self._named(StructType(fields=[self._entry(site)]))

    def _reach(self, types: Sequence[str], without: Sequence[str] = ()) -> dict[str, None]:
        """The types that can be reached from some types, without passing through others."""

        def inner(name: str) -> list[str]:
            return [each for each in self._named(self.draft.content.types[name]) if each not in without]

        return closure((name for name in types if name not in without), inner)

    def _add(self, site: _Site, entry: MappingNode) -> None:
        self.added.setdefault(site, []).append(entry)

    def _column(self, site: _Site, versions: Versions) -> MappingNode:
        """The computed field with the version's name."""
        pairs = [(_literal(value), f"'{name}'") for name, value in zip(versions.names, versions.values, strict=True)]
        shown = versions.told if versions.values == versions.names else _chosen(pairs, versions.told)
        return _computed(self._at(site), versions.column, shown)

    # --- version elsewhere ---

    def _by_parameter(self, versions: Versions, stated: language.Versions, roots: Mapping[str, str]) -> Versions | None:
        """The versions, if the caller states the version in a parameter."""
        draft, name, place = self.draft, versions.told, self.draft.place / "versions"
        options = draft.content.parameters[name].one_of or []
        if set(options) != set(versions.values):
            listed = ", ".join(map(str, versions.values))
            message = f"{name} may be {', '.join(options) or 'any value'}, but the versions are {listed}"
            draft.reports(place / "from", "unfit-parameter", message, f"write `{name}: {{oneOf: [{listed}], ...}}`")
        for key, given in (("else", stated.else_ is not None), ("newer", stated.newer != "error")):
            if given:
                message, hint = f"`{key}` beside a parameter", f"drop `{key}`: a parameter has no other values"
                draft.reports_entry(place / key, "conflicting-keys", message, hint)

        def inner(type: str) -> Sequence[str]:
            form = draft.content.types[type]
            return () if isinstance(form, StructType) else self._named(form)

        records = closure((record for type in roots.values() for record in self._named(type)), inner)
        for record in records if versions.column else ():
            if entries_of(draft.content.types[record]):
                self._add((record, -1), self._column((record, 0), versions))
        return replace(versions, parameter=name, roots=tuple(roots))

    def _fitting(self, versions: Versions, roots: Mapping[str, str]) -> Versions | None:
        """The versions, if neither a field nor a parameter states them: a record has the newest that it fits."""
        types, first = self.draft.content.types, next(iter(roots.values()), "")
        record = next(iter(self._named(first)), "")
        form = types.get(record)
        if not isinstance(form, StructType) or form.versions is not None:
            message, hint = f"`from: fits` needs a struct, and {first} is not one", "give `versions` to its structs"
            self.draft.reports(self.draft.place / "versions" / "from", "wrong-shape", message, hint)
            return None
        taken = {entry.key for _, _, entry in self.draft.entries}
        field_name = next(
            name for name in (f"versionThatFits{'_' * n}" for n in range(len(taken) + 1)) if name not in taken
        )
        fitting = tuple(name for name, type in roots.items() if record in self._named(type))
        return replace(versions, told=field_name, path=(versions.column,), roots=fitting, record=record)

    # --- types ---

    def _type(self, name: str, form: TypeForm, versions: Versions | None, *, is_own: bool) -> None:
        """Add the type, rewritten without versions, to the format's types."""
        head, node = find(self.draft.document.node, ("types", name))
        assert head is not None  # noqa: S101 - it is an entry
        told_one_by_one = isinstance(form, StructType) and form.versions is not None and not is_own
        if not isinstance(form, StructType) or versions is None or told_one_by_one or not isinstance(node, MappingNode):
            self.types[name], self.nodes[name] = form, (head, node)
        elif not (is_own and versions.told == FITS) and versions.record != name:
            self._keep(head, self._struct(node, name, versions), form)
        elif is_own and (arities := self._arities(form, versions)):
            self._keep(head, _with(node, "versions", _mapping(head.location, arities), head), form)
        else:
            self._fits(head, node, form, versions)

    def _keep(self, head: ScalarNode, node: Node, form: StructType | None = None) -> None:
        """Add a rewritten type to the format's types, with the encoding and byte order of its library."""
        self.types[head.text], self.nodes[head.text] = form_of(node, form), (head, node)

    def _container(self, form: StructType) -> Form:
        """The container that holds the fields of a struct."""
        return Form(form.form) if form.form else self.draft.struct_encoding(form).forms[0]

    def _arities(self, form: StructType, versions: Versions) -> dict[str, Node]:
        """The number of array elements in each version; empty if that does not distinguish the versions."""
        fields = [entry.full for entry in form.fields if entry.is_field]
        written = [
            span_of(versions.names, each.since, each.until) for each in fields if not (each.compute or each.counted)
        ]
        found = [sum(number in span for span in written) for number in range(len(versions.names))]
        is_told = len(set(found)) == len(found) and not any(each.when is not None or each.optional for each in fields)
        if self._container(form) is not Form.ARRAY or versions.column or not is_told:
            return {}
        at = (self.draft.place / "types").key_location()
        return {name: _mapping(at, {"arity": count}) for name, count in zip(versions.names, found, strict=True)}

    def _fits(self, head: ScalarNode, node: MappingNode, form: StructType, versions: Versions) -> None:
        """Add a type for each version, and one that chooses the newest version that fits."""
        at, name, encoding = head.location, head.text, self.draft.struct_encoding(form)
        by_members = self._container(form) is Form.OBJECT and not encoding.tries
        if flaw := self._unfit(form, versions, by_members=by_members):
            self.draft.reports_entry(self.draft.place / "types" / name, *flaw)
            return
        copies = [self._free(versions.copy_name(name, version)) for version in versions.names]
        if by_members:
            self._selects(head, form, versions, copies)
        else:
            self._attempt(head, form, versions, copies)
        for number, (version, copy) in enumerate(zip(versions.names, copies, strict=True)):
            first: list[Node] = []
            if versions.record == name:
                hidden = _computed(at, versions.told, str(number), type="uint8", hidden=True)
                first.append(hidden)
            if by_members and versions.column:
                first.append(_computed(at, versions.column, f"'{version}'"))
            last = [_mapping(at, {"end": "trailing_bytes"})] if encoding.laid_out else []
            made = self._struct(node, name, versions, number, (first, last))
            self._keep(replace(head, value=copy, text=copy, written=name, stands_for=f"version {version}"), made, form)

    def _unfit(self, form: StructType, versions: Versions, *, by_members: bool) -> tuple[str, str, str] | None:
        """Why `from: fits` is impossible: the id of the problem, its message and its hint."""
        if not by_members and not self.draft.struct_encoding(form).tries:
            if self._container(form) is Form.ARRAY:
                message = "an array's version depends only on its number of elements"
                hint = "drop `column`, and `when` and `optional` of fields"
                return "wrong-encoding", message, hint
            message = "every version fits a message, since unknown fields are skipped"
            return "wrong-encoding", message, "write `from: FIELD` or `from: PARAMETER`"
        if not by_members and not versions.column:
            message = "several versions may fit, so builders need a column with the version"
            return "missing-key", message, "write `column: NAME`"
        if by_members:
            lacking = next((n for n in range(1, len(versions.names)) if _telling(form, versions, n) is None), None)
            message = f"no member distinguishes {versions.names[lacking or 0]} from the versions before it"
            hint = "give it a required member that they lack, or give one of their required members `until`"
            return None if lacking is None else ("ambiguous-alternatives", message, hint)
        others = [each for each in self.draft.content.types.values() if each is not form]
        if versions.record and any(entry.full.given & _SPAN for each in others for entry in entries_of(each)):
            return None  # types inside of the record differ between the versions
        seen: dict[str, str] = {}
        for number, version in reversed(list(enumerate(versions.names))):
            shape = _shape(form, versions, number, named=self._container(form) is Form.OBJECT)
            if shape in seen:
                message = f"records of {version} and {seen[shape]} look the same, so no record is read as {version}"
                return "ambiguous-alternatives", message, "write `from: FIELD` or `from: PARAMETER`, or drop a version"
            seen[shape] = version
        return None

    def _attempt(self, head: ScalarNode, form: StructType, versions: Versions, copies: Sequence[str]) -> None:
        """An attempt with the types of all versions, newest first."""
        at = head.location
        codes = SequenceNode(tuple(_scalar(code, at) for code in _UNFIT), at)
        older = SequenceNode((_mapping(at, {"codes": codes}),), at)
        pairs = list(zip(versions.names, copies, strict=True))
        newer = [_mapping(at, {"name": name, "type": copy, "fallback": older}) for name, copy in reversed(pairs[1:])]
        trials = SequenceNode((*newer, _mapping(at, {"name": pairs[0][0], "type": pairs[0][1]})), at)
        self._keep(head, _mapping(at, {"attempt": trials, "kind": versions.column, "reason": None, "doc": form.doc}))

    def _selects(self, head: ScalarNode, form: StructType, versions: Versions, copies: Sequence[str]) -> None:
        """Nested selects, each by a member that only this version requires, or that only older versions require."""
        at, older = head.location, copies[0]
        for number, newer in enumerate(copies[1:], 1):
            name = head.text if newer == copies[-1] else self._free(f"{head.text}_to_{number}")
            member, is_there = _telling(form, versions, number) or ("", True)
            cases = _mapping(at, {"true": newer if is_there else older, "false": older if is_there else newer})
            tag = _mapping(at, {"member": member, "presence": True})
            key = replace(head, value=name, text=name, written=head.written or head.text)
            self._keep(key, _mapping(at, {"select": tag, "cases": cases, "doc": form.doc}))
            older = name

    def _free(self, name: str) -> str:
        while name in self.draft.content.types or name in self.types:
            name += "_"
        return name

    # --- fields ---

    def _struct(
        self,
        node: MappingNode,
        name: str,
        versions: Versions,
        number: int | None = None,
        around: tuple[Sequence[Node], Sequence[Node]] = ((), ()),
    ) -> MappingNode:
        """The struct without versions.

        With `number`, its copy for that version, with the items `around` before and after its own.
        """
        fields = node.entry("fields")
        if fields is None or not isinstance(fields[1], SequenceNode):
            return node
        items, place = fields[1], self.draft.place / "types" / name / "fields"
        found = [(entry, 0) for entry in (*around[0], *self.added.get((name, -1), ()))]
        for position, item in enumerate(items.items):
            made = [item]
            if isinstance(item, MappingNode) and item.entries[0][0].text not in STEPS:
                made = self._field(item, place / position, versions, number, self.extra.get((name, position), {}))
            made[1:1] = self.added.get((name, position), []) if number is None else []
            found += [(each, items.number(position)) for each in made]
        found += [(entry, found[-1][1] if found else 0) for entry in around[1]]
        entries, numbers = tuple(node for node, _ in found), tuple(number for _, number in found)
        lowered = replace(items, items=entries, numbers=numbers)
        kept = ((key, lowered if key is fields[0] else value) for key, value in node.entries if key.text != "versions")
        return MappingNode(tuple(kept), node.location)

    def _field(
        self,
        item: MappingNode,
        place: Place,
        versions: Versions,
        number: int | None,
        extra: Mapping[str, Scalar | Node],
    ) -> list[Node]:
        """A field with its versions as part of its condition, and with the checks of its values after it."""
        (key, node), where, checks = item.entries[0], place / item.entries[0][0].text, list[Node]()
        node = node if isinstance(node, MappingNode) or not extra else _mapping(node.location, {"type": node})
        if not isinstance(node, MappingNode):
            return [item]
        for each, value in extra.items():
            node = _with(node, each, value if isinstance(value, Node) else _scalar(value, key.location), key)
        since, until = _text_of(node, "since"), _text_of(node, "until")
        if (since or until) and check_span(self.draft, where, versions.names, since, until):
            needed = condition(versions, since, until)
            if number is not None:
                needed = "" if number in span_of(versions.names, since, until) else "false"
            own, at = node.entry("when"), (node.entry("since") or node.entry("until") or (key,))[0]
            if needed:
                when = _both(needed, own[1] if own and isinstance(own[1], ScalarNode) else None, at.location)
                node = _with(node, "when", when, own[0] if own else at)
        if versions not in (self.stated, self.within):  # later passes do not know a struct's own versions
            node = MappingNode(tuple(each for each in node.entries if each[0].text not in _SPAN), node.location)
        bits = node.entry("bits")
        if bits is not None and isinstance(bits[1], MappingNode):
            words = [
                (bit, self._words(document, bit.text, where / "bits" / bit.text, versions, number, checks))
                for bit, document in bits[1].entries
            ]
            node = _with(node, "bits", MappingNode(tuple(words), bits[1].location), bits[0])
        made = self._words(node, key.text, where, versions, number, checks)
        return [MappingNode(((key, made),), item.location), *checks]

    def _words(  # noqa: PLR0913 - the parts of a table
        self, node: Node, name: str, place: Place, versions: Versions, number: int | None, checks: list[Node]
    ) -> Node:
        """The field or bits with the values of a version; adds the checks that the values of other versions need."""
        table = node.entry("values") if isinstance(node, MappingNode) else None
        if table is None or not isinstance(node, MappingNode) or not isinstance(table[1], MappingNode):
            return node
        kept: list[tuple[ScalarNode, Node]] = []
        for key, value in table[1].entries:
            since, until, where = _text_of(value, "since"), _text_of(value, "until"), place / "values" / key.text
            is_spanned = bool(since or until) and check_span(self.draft, where, versions.names, since, until)
            if is_spanned and number is not None and number not in span_of(versions.names, since, until):
                continue
            kept.append((key, value))
            needed = condition(versions, since, until) if is_spanned and number is None else ""
            if needed and self._can_be_checked(node, value, where, table[1]):
                word, at = _literal(_value(value)), where.key_location()
                check = {"that": f"{name} != {word} or {needed}", "else": _text_of(node, "else") or "unknown_value"}
                checks.append(_mapping(at, {"check": _mapping(at, {**check, "field": name})}))
        return _with(node, "values", MappingNode(tuple(kept), table[1].location), table[0])

    def _can_be_checked(self, node: MappingNode, said: Node, place: Place, table: MappingNode) -> bool:
        """Whether a check can test for the value; reports a mistake otherwise."""
        word, words = _value(said), [_value(other) for _, other in table.entries]
        if "list(" in (_text_of(node, "type") or ""):
            message, hint = "words of lists cannot have versions", "give the list `since`, or `check` its elements"
        elif node.entry("raw") is not None:
            message, hint = "beside `raw` every value is allowed, in every version", "drop `raw`, or drop the version"
        elif word is None or isinstance(word, float) or str(word).startswith("=") or "'" in str(word):
            message, hint = f"{word!s} cannot have a version", "use a word without quotes, not a number"
        elif words.count(word) > 1:
            message, hint = f"several values have the word {word}", "give each value another word"
        else:
            return True
        self.draft.reports_entry(place, "conflicting-keys", message, hint)
        return False


def _flaws(
    stated: language.Versions, order: Sequence[str], values: Sequence[Any]
) -> Iterator[tuple[str, str, str, str]]:
    """The mistakes in stated versions: the key, the problem's id, its message and its hint."""
    newer, coded, whole = stated.newer != "error", stated.else_ is not None, all(type(each) is int for each in values)
    if not order or len(order) < len(stated.order):
        yield "order", "unknown-version", "`order` is empty, or names a version twice", "name each version once"
    if stated.from_ == FITS and isinstance(stated.order, dict):
        hint = f"write `order: [{', '.join(order)}]`"
        yield "order", "conflicting-keys", "versions with `from: fits` have no values", hint
    odd = next((each for each in values if type(each) not in (int, str)), None)
    if odd is not None:
        yield "order", "wrong-type", f"{odd!r} cannot be the value of a version", "write an integer or a text"
    if any("'" in f"{each}" for each in (*order, *values)):
        yield "order", "bad-name", "the name or the value of a version has a quote", "write it without the quote"
    if len(set(values)) < len(values) or len(set(map(type, values))) > 1:
        hint = "give each version its own value: all numbers, or all texts"
        yield "order", "duplicate-value", "two versions have the same value, or numbers and texts are mixed", hint
    if stated.column is not None and (flaw := names.name_flaw(stated.column)):
        yield "column", "bad-name", f"{stated.column} cannot be the name of a column", flaw
    if stated.from_ == FITS and (newer or coded):
        key = "else" if coded else "newer"
        hint = "drop it: a record that fits no version has an error of its own"
        yield key, "conflicting-keys", f"`{key}` beside `from: fits`", hint
    if newer and coded and not whole:
        hint = "drop one: every other text is read as the newest"
        yield "else", "conflicting-keys", "`else` beside `newer: newest`", hint
    if newer and whole and not _grow(values):
        yield "newer", "conflicting-keys", "`newer` needs numbers that increase from version to version", "drop `newer`"


def _grow(values: Sequence[Any]) -> bool:
    """Whether the values are numbers in increasing order."""
    return all(type(each) is int for each in values) and all(one < other for one, other in pairwise(values))


def _value(entry: Node) -> Scalar:
    """The meaning of an entry of a value table."""
    node = find(entry, ("value",))[1]
    return node.value if isinstance(node, ScalarNode) else None


def _shape(form: StructType, versions: Versions, number: int, *, named: bool) -> str:
    """The fields of a version, with their names in objects; versions with equal shapes cannot be distinguished."""
    fields = [entry for entry in form.fields if entry.is_field]
    bare = {"since": None, "until": None, "as_": None}
    return repr(
        [
            (entry.key * named, entry.full.model_copy(update=bare))
            for entry in fields
            if number in span_of(versions.names, entry.full.since, entry.full.until)
        ]
    )


def _telling(form: StructType, versions: Versions, number: int) -> tuple[str, bool] | None:
    """A member that distinguishes a version from all older ones, and whether the version has it.

    None if there is none.
    """
    for entry in form.fields:
        full = entry.full
        is_sure = entry.is_field and not full.optional and full.when is None and full.compute is None
        span = span_of(versions.names, full.since, full.until)
        older = [at in span for at in range(number)]
        if is_sure and not (full.counted or full.inline):
            if number in span and not any(older):
                return full.member or entry.key, True
            if number not in span and all(older):
                return full.member or entry.key, False
    return None


def _is_one_of(entry: Entry, values: Sequence[Scalar]) -> bool:
    """Whether the field can only have one of these values."""
    full = entry.full
    if full.const is not None or full.compute in values:
        return True
    words = [each.value if isinstance(each, MappedValue) else each for each in (full.values or {}).values()]
    return bool(words) and full.raw is None and set(words) <= set(values)
