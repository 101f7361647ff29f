"""Converts definitions to structs of the spec, one for each way in which a type is used.

A type is converted at each use, since its expressions depend on the outer struct, the region, and its arguments. Equal
results share one name. An attribute that a spec cannot express becomes bytes if its size is known. Otherwise its struct
ends before it, and the rest of the region is not read.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wireloom.importing.ksy.definitions import Attribute, Definition
from wireloom.importing.ksy.fields import is_bits
from wireloom.importing.ksy.instances import Instances
from wireloom.importing.ksy.kinds import (
    Entry,
    Listed,
    Record,
    Scope,
    Stream,
    Translation,
    Union,
)
from wireloom.importing.ksy.outward import looks_outward
from wireloom.importing.ksy.reading import text
from wireloom.importing.ksy.scopes import UNREAD, UntranslatableError, aliased, reach
from wireloom.importing.naming import camel, one_line
from wireloom.importing.settling import SHALLOWER
from wireloom.spec.yaml import MappingNode

if TYPE_CHECKING:
    from wireloom.importing.ksy.forms import Use

MOST = 1500  # most structs in one spec
DEEPEST = 24  # deepest nesting of structs during the conversion
DEPTHS = {1: 4, 2: 2, 3: 2}  # depth of recursive structs, by their number: the depths multiply
_PATH = ".abcdefghijklmnopqrstuvwxyz_0123456789"


class Structs(Instances):
    """Makes the types of the spec from definitions."""

    def struct(self, definition: Definition, parent: Scope | None, use: "Use") -> Scope:
        """The struct of a type in a given use."""
        arguments, in_region = use.arguments, use.in_region
        around = parent.chain if parent else []
        for each in around:
            if each.definition is definition and each.is_stream == in_region and not arguments:
                each.is_recursive = True
                if use.within is not None:
                    self.rounds.setdefault(each.name, []).append(use.within)
                return each
        words = tuple(each.text for each in arguments)
        byte_order = use.order or self._byte_order(definition, parent)
        outward = looks_outward(definition) or bool(arguments)
        key = (definition, in_region, byte_order, words, id(parent) if outward else None, use.parent)
        if key in self.made:
            return self.made[key]
        if len(self.made) >= MOST or len(around) >= DEEPEST:
            message = f"types are nested more than {DEEPEST} deep, or there are more than {MOST}"
            raise UntranslatableError("too-large", message, "import a part of the description")
        scope = Scope(definition, parent, in_region, byte_order, self._free_type(definition, use.name))
        scope.stated_parent = use.parent
        self.made[key] = scope
        self.types[scope.name] = None
        self.scopes[scope.name] = scope
        scope.make_instance = lambda wanted: self._instance(scope, definition.instances[wanted])
        self._fill(scope, arguments)
        self._name(scope)
        return scope

    def _byte_order(self, definition: Definition, parent: Scope | None) -> str | None:
        node = definition.meta("endian")
        word = text(node)
        if word in ("le", "be"):
            return {"le": "little", "be": "big"}[word]
        if node is None and text(definition.meta("bit-endian")) == "le":
            return "little"
        return parent.byte_order if isinstance(node, MappingNode) and parent else None

    def _free_type(self, definition: Definition, name: str = "") -> str:
        base = name or camel(definition.name)
        if base in self.types and definition.around is not None and not name:
            base = f"{camel(definition.around.name)}{base}"
        found, number = base, 2
        while found in self.types:
            found, number = f"{base}_{number}", number + 1
        return found

    def _name(self, scope: Scope) -> None:
        """Add the struct to the types, or reuse the name of an equal one."""
        if self.types[scope.name] is not None:
            return
        scope.is_done = True
        body = self.body(scope)
        around = tuple(id(each.definition) for each in scope.chain) if looks_outward(scope.definition) else ()
        equal = (scope.definition, repr((body, scope.byte_order, around)))
        if equal in self._equal and scope.stated_parent is None and not scope.is_recursive and scope.parent is not None:
            del self.types[scope.name], self.scopes[scope.name]
            scope.name = self._equal[equal]
            scope.entries = self.scopes[scope.name].entries  # shared, so that later additions are in both
            return
        self._equal[equal] = scope.name
        self.types[scope.name] = body
        self.origins[scope.name] = scope.definition.location

    def body(self, scope: Scope) -> dict[str, Any]:
        """The struct as a mapping for the spec."""
        body: dict[str, Any] = {}
        if scope.definition.doc and scope.parent is not None:
            body["doc"] = one_line(scope.definition.doc)
        if scope.byte_order is not None and scope.byte_order != scope.root.byte_order:
            body["byteOrder"] = scope.byte_order
        if scope.is_recursive:
            body["depth"] = self.depth
        return body | {"fields": [{each.name: each.body} for each in scope.entries]}

    @property
    def depth(self) -> int:
        """The depth of recursive structs."""
        asked = [int(depth) for kind, depth in self.refused.values() if kind == SHALLOWER]
        return min([DEPTHS.get(sum(each.is_recursive for each in self.scopes.values()), 1), *asked])

    def _fill(self, scope: Scope, arguments: Sequence[Translation]) -> None:
        definition = scope.definition
        self._parameters(scope, arguments)
        run: list[Attribute] = []
        for attribute in definition.seq:
            if scope.is_cut:
                break
            if is_bits(attribute):
                run.append(attribute)
                continue
            self._bits(scope, run)
            run = []
            if not scope.is_cut:
                self._attribute(scope, attribute)
        if not scope.is_cut:
            self._bits(scope, run)
        for attribute in definition.instances.values():
            if attribute.name not in scope.kinds and attribute.name not in scope.dropped | set(scope.views):
                self._instance(scope, attribute)
        if (scope.is_stream or scope.is_cut) and not scope.is_greedy:
            scope.entries.append(Entry(UNREAD, {"type": "bytes(size - here)", "hidden": True}))
            scope.is_greedy = scope.is_cut
        if not any(each.name != "mark" for each in scope.entries) and not scope.is_stream:
            scope.entries.append(Entry("nothing", {"compute": "null", "type": "bool", "hidden": True}))

    def _parameters(self, scope: Scope, arguments: Sequence[Translation]) -> None:
        parent = scope.parent
        for parameter, argument in zip(scope.definition.params, arguments, strict=False):
            if isinstance(argument.kind, Record | Union | Stream | Listed) or parent is None:
                scope.views[parameter.name] = argument
                continue
            try:
                value = argument.text
                if argument.literal is None and "index" not in value:
                    is_path = value and set(value) <= set(_PATH)
                    value = (
                        reach(scope, parent, value, argument.kind) if is_path else aliased(parent, value, argument.kind)
                    )
                self._computed(scope, parameter, Translation(value, argument.kind))
            except UntranslatableError as error:
                scope.dropped.add(parameter.name)
                self._untranslatable(parameter, error)
        for parameter in scope.definition.params[len(arguments) :]:
            scope.dropped.add(parameter.name)
            self.find(
                parameter.location,
                "parameter",
                f"the parameter {parameter.name} has no value",
                "give it where the type is used",
            )
