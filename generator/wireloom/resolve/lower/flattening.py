"""Copy structs whose members are renamed where they are flattened, so that each copy has its own names.

Expressions are resolved before this step, by the names at their place. In a copy they get the copy's names, as do the
expressions of types within it that refer outward. Later passes see only flattened structs without renaming. A copy
keeps the places of its original, so that a mistake in both is reported once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from wireloom.expr.ast import FieldRef
from wireloom.model import types
from wireloom.model.traversal import NamedTypes, with_fields, with_parts
from wireloom.model.types import Attempt, Bit, Field, Meaning, Reference, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.renamings import Renamings, renamed, renamings_of
from wireloom.resolve.facts.sites import Types, held
from wireloom.spec.entries import STEPS
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode, changed, with_entries

_Name = tuple[int, str]  # a number of structs outward, and the name of a field there


def melted(draft: Draft, named: NamedTypes, roots: Iterable[Type]) -> "Molten":
    """The types with a copy for each renaming."""
    if not any(renamings_of(draft, name) for name, _ in named):
        return Molten(draft, named)
    melting = _Melting(draft, dict(named), _outward(dict(named)))
    for root in roots:
        melting.part(root, (), ())
    for name, _ in named:
        if not any(original == name for original, *_ in melting.known):
            melting.name(name, (), ())  # it is unused, which is reported elsewhere
    return melting.result()


@dataclass(frozen=True, slots=True)
class Molten:
    """A format with renamed copies of flattened structs: its types, and a document with a place for each."""

    draft: Draft
    named: NamedTypes


def _outward(named: Types) -> dict[str, set[_Name]]:
    """For each type, the fields of enclosing structs that it, or a type within it, refers to."""
    found: dict[str, set[_Name]] = {name: set() for name in named}
    changed = True
    while changed:
        changed = False
        for name, type in named.items():
            inside = 1 if isinstance(type, Struct) else 0
            references = {(up - inside, each) for up, each in _outward_names(type, found) if up >= inside}
            changed = changed or not references <= found[name]
            found[name] |= references
    return found


def _outward_names(part: Any, known: Mapping[str, set[_Name]], inside: int = 0) -> Iterator[_Name]:  # noqa: ANN401
    match part:
        case FieldRef(up, name):
            yield from ((up - inside, name),) if up >= inside else ()
        case Reference(name):
            yield from known[name]
        case types.TableReference(table):
            yield 1, table
        case types.Last(holds):
            yield from _outward_names(holds, known, inside + 1)
        case types.Discard(keep=keep, when=when):
            yield from _outward_names(keep, known, inside + 1)
            yield from _outward_names(when, known, inside)
        case tuple():
            for each in part:
                yield from _outward_names(each, known, inside)
        case _ if is_dataclass(part):
            for each in fields(part):
                yield from _outward_names(getattr(part, each.name), known, inside)
        case _:
            return


@dataclass(frozen=True, slots=True)
class _Level:
    """A struct around a part of a type, and the renamings of its members."""

    struct: str
    renamings: Renamings


_Levels = tuple[_Level, ...]  # from the innermost


@dataclass
class _Melting:
    """The copies of each type, by how its members are renamed and by what it sees of those around it."""

    draft: Draft
    named: Types
    outward: Mapping[str, set[_Name]]
    made: dict[str, Type] = field(default_factory=dict)
    known: dict[tuple[str, Renamings, tuple[tuple[int, str, str], ...]], str] = field(default_factory=dict)
    nodes: dict[str, tuple[ScalarNode, Node]] = field(default_factory=dict)

    def result(self) -> Molten:
        """The types in the order of the spec, with copies together, and the document with a place for each."""
        order = {name: place for place, name in enumerate(self.named)}
        copies = sorted(self.known.items(), key=lambda item: order[item[0][0]])
        holders: dict[str, list[str]] = {}
        for (original, *_), name in copies:
            holders.setdefault(original, []).append(name)
        named = tuple((name, _with_holders(self.made[name], holders)) for _, name in copies)
        return Molten(self._placed(), named)

    def _placed(self) -> Draft:
        node = with_entries(self.draft.document.node, "types", tuple(self.nodes.values()))
        return replace(self.draft, document=replace(self.draft.document, node=node))

    def name(self, name: str, levels: _Levels, renamings: Renamings) -> str:
        """The name of the copy of a type within structs of these levels, whose own members have these renamings."""
        seen = tuple(
            sorted((up, each, new) for up, each in self.outward[name] if (new := _new(levels, up, each)) != each)
        )
        key = (name, renamings, seen)
        if key not in self.known:
            labels = [each.label for level in (_Level(name, renamings), *levels) for each in level.renamings]
            new = name if not renamings and not seen else self._free("_".join((name, *labels)))
            self.known[key] = new
            type = self.named[name]
            if new != name:
                self.nodes[new] = self._node(name, new, renamings)
            if isinstance(type, Struct):
                level = _Level(name, renamings)
                self.made[new] = replace(
                    type,
                    name=new,
                    steps=tuple(self._step(each, step, (level, *levels)) for each, step in enumerate(type.steps)),
                    versions=self.part(type.versions, (level, *levels), ()),
                )
            else:
                self.made[new] = self.part(type, levels, renamings)
        return self.known[key]

    def _free(self, name: str) -> str:
        while name in self.named or name in self.known.values():
            name += "_"
        return name

    # --- parts ---

    def _step(self, position: int, step: types.Step, levels: _Levels) -> types.Step:
        level = levels[0]
        match step:
            case Field():
                return self._field(position, step, levels)
            case types.Discard(list, keep, count, when):
                list, count = (renamed(level.renamings, name) for name in (list, count))
                return types.Discard(list, self.part(keep, levels, (), 1), count, self.part(when, levels, ()))
            case types.Check(field=name) | types.Need(field=name) | types.Frame(field=name) | types.Verify(field=name):
                changed: types.Check | types.Need | types.Frame | types.Verify = self.part(step, levels, ())
                return replace(changed, field=renamed(level.renamings, name)) if name else changed
            case _:
                return step

    def _field(self, position: int, step: Field, levels: _Levels) -> Field:
        own = levels[0].renamings
        inner = (*renamings_of(self.draft, levels[0].struct).get(position, ()), *own) if step.flatten else ()
        rest: Field = self.part(replace(step, type=types.Null()), levels, ())
        return replace(
            rest,
            name=renamed(own, step.wire_name, step.name),
            wire_name=renamed(own, step.wire_name),
            type=self.part(step.type, levels, inner),
            meaning=_meaning(step.meaning, own),
            bits=tuple(_bit(bit, own) for bit in rest.bits),
        )

    def part(self, part: Any, levels: _Levels, renamings: Renamings, inside: int = 0) -> Any:  # noqa: ANN401
        """A part of a type with the copies' names; `renamings` apply to the members of what it refers to."""
        match part:
            case FieldRef():
                return self._reference(part, levels, inside)
            case Reference(name):
                return Reference(self.name(name, levels, renamings))
            case types.Last(holds):
                return replace(part, holds=self.part(holds, levels, (), inside + 1))
            case types.TableReference(table):
                return replace(part, table=_new(levels, 1, table))
            case types.Salvage(lost=lost):
                when = self.part(part.when, levels, (), inside)
                return replace(part, when=when, lost=_new(levels, 0, lost))
            case Attempt():
                return self._attempt(part, levels, renamings)
            case types.Nullable() | types.OneOf() | types.Alternative() | types.Select() | types.Case() | tuple():
                return with_parts(part, lambda each: self.part(each, levels, renamings, inside))
            case _:
                return with_parts(part, lambda each: self.part(each, levels, (), inside))

    def _attempt(self, attempt: Attempt, levels: _Levels, renamings: Renamings) -> Attempt:
        trials = tuple(
            replace(trial, type=self.part(trial.type, levels, renamings), build_when=self._of_value(trial, renamings))
            for trial in attempt.trials
        )
        kind, reason = (each and renamed(renamings, each) for each in (attempt.kind_field, attempt.reason_field))
        return Attempt(trials, kind, reason)

    def _of_value(self, trial: types.Trial, renamings: Renamings) -> Any:  # noqa: ANN401
        """The condition on an alternative's value, with the new names of its members."""
        structs = [struct.name for struct, _ in held(trial.type, self.named)]
        levels = (_Level(structs[0], renamings),) if structs else ()
        return self.part(trial.build_when, levels, ())

    def _reference(self, reference: FieldRef, levels: _Levels, inside: int) -> FieldRef:
        up = reference.up - inside
        if not 0 <= up < len(levels) or not levels[up].renamings:
            return reference
        renamings, members = levels[up].renamings, list(reference.members)
        structs, name = [levels[up].struct], reference.name
        for place, member in enumerate(members):  # members of a flattened struct belong to this struct
            melting = [each for each in self._fields(structs, name) if each.flatten]
            if not melting:
                break
            members[place], name = renamed(renamings, member), member
            structs = [inner.name for each in melting for inner, _ in held(each.type, self.named)]
        return replace(reference, name=renamed(renamings, reference.name), members=tuple(members))

    def _fields(self, structs: Iterable[str], name: str) -> Iterator[Field]:
        for each in structs:
            struct = self.named[each]
            yield from (f for f in struct.fields if f.wire_name == name) if isinstance(struct, Struct) else ()

    # --- places ---

    def _node(self, name: str, new: str, renamings: Renamings) -> tuple[ScalarNode, Node]:
        """The entry of a copy: the original's node with the copy's names."""
        place = self.draft.place / "types" / name
        key = ScalarNode(new, new, place.key_location(), written=name)
        return key, _renamed_node(place.node, renamings) if renamings else place.node


def _new(levels: _Levels, up: int, name: str) -> str:
    return renamed(levels[up].renamings, name) if up < len(levels) else name


def _with_holders(type: Type, copies: Mapping[str, list[str]]) -> Type:
    """The type, whose references to a table include all copies of the structs that have it."""

    def changed(field: Field) -> Field:
        if field.refers is None:
            return field
        holders = tuple(copy for name in field.refers.holders for copy in copies.get(name, ()))
        return replace(field, refers=replace(field.refers, holders=holders))

    return with_fields(type, changed) if isinstance(type, Struct) else type


def _renamed_node(struct: Node, renamings: Renamings) -> Node:
    """A struct's node with new names for its fields and their bits."""

    def field(node: Node) -> Node:
        return changed(node, "bits", lambda bits: _with_keys(bits, renamings, lambda bit: bit))

    def fields(node: Node) -> Node:
        assert isinstance(node, SequenceNode)  # noqa: S101 - its shape was checked
        return replace(node, items=tuple(_with_keys(entry, renamings, field) for entry in node.items))

    return changed(struct, "fields", fields)


def _with_keys(node: Node, renamings: Renamings, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node, MappingNode):
        return node
    return replace(node, entries=tuple((_key(key, renamings), change(value)) for key, value in node.entries))


def _key(key: ScalarNode, renamings: Renamings) -> ScalarNode:
    if key.text in STEPS:
        return key
    new = renamed(renamings, key.text)
    return replace(key, value=new, text=new, written=key.written or key.text)


def _bit(bit: Bit, renamings: Renamings) -> Bit:
    return replace(bit, name=renamed(renamings, bit.name), meaning=_meaning(bit.meaning, renamings))


def _meaning(meaning: Meaning | None, renamings: Renamings) -> Meaning | None:
    """A meaning with the new name of its `raw`."""
    return meaning and replace(meaning, raw=meaning.raw and renamed(renamings, meaning.raw))
