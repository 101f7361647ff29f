"""Converts attributes to forms: the type of an attribute, or of the elements of its list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from wireloom.importing.ksy import expressions, wire
from wireloom.importing.ksy.definitions import Attribute, Definition, described
from wireloom.importing.ksy.kinds import (
    Integer,
    Kind,
    Octets,
    Record,
    Scope,
    Translation,
    Union,
    Unknown,
    View,
    Word,
)
from wireloom.importing.ksy.reading import text
from wireloom.importing.ksy.scopes import UntranslatableError, direct
from wireloom.importing.ksy.texts import Texts
from wireloom.importing.ksy.translation import Place, stream_size, translated
from wireloom.importing.ksy.wire import Form
from wireloom.importing.naming import camel
from wireloom.problems import Location
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, child, entries, scalar


@dataclass(frozen=True, slots=True)
class Use:
    """How a type is used: with a region, arguments, a byte order, or another parent."""

    in_region: bool
    arguments: Sequence[Translation] = ()
    order: str | None = None
    name: str = ""
    parent: "View | Literal[False] | None" = None
    within: Location | None = None


class Forms(Texts):
    """Makes the forms of attributes."""

    def struct(self, definition: Definition, parent: Scope | None, use: Use) -> Scope:
        """The struct of a type in a given use."""
        raise NotImplementedError

    def _form(self, scope: Scope, attribute: Attribute) -> Form:
        """The form of an attribute, or of an element of its list."""
        node = attribute.get("type")
        contents = attribute.get("contents")
        if contents is not None:
            return wire.contents(contents)
        size = self.expression(scope, attribute.get("size")) if attribute.get("size") is not None else None
        if size is None and attribute.says("size-eos"):
            size = self._rest(scope, attribute)
        region = size is not None
        unpack = self._process(scope, attribute)
        if unpack is None:
            raise AssertionError
        if unpack == "raw":
            form = self._characters(scope, attribute, "bytes", size)
            return replace(form, kind=Unknown("bytes that another process produces"))
        if isinstance(node, MappingNode):
            form = self._switch(scope, attribute, node, in_region=region)
        else:
            form = self._typed(scope, attribute, text(node) or "bytes", size, has_type=node is not None)
        if unpack:
            if not form.is_region:
                form = Form("bytes", Octets(), {}, size, is_region=True)
            form.keys["unpack"] = unpack
        if form.is_region:
            form.size = size
            form.is_greedy = attribute.says("size-eos") if region else form.is_greedy
            form.is_cut = form.is_cut and not region
        return form

    def _rest(self, scope: Scope, attribute: Attribute) -> Translation:
        """The number of bytes from an attribute to the end of its region."""
        if attribute.get("pos") is None or attribute.get("io") is not None:
            return Translation("size - here", Integer(), 9)
        at = self.expression(scope, attribute.get("pos"))
        whole = "size" if scope.stream is scope else stream_size(scope)
        return Translation(f"{whole} - {at.within(10)}", Integer(), 9)

    def _process(self, scope: Scope, attribute: Attribute) -> str | None:
        del scope
        process = attribute.text("process")
        if process is None:
            return ""
        if process == "zlib":
            return "zlib"
        hint = "read the bytes as they are, and decode them in the program that reads the records"
        self.find(attribute.location, "process", f"process: {process} of {attribute.name}", hint)
        return "raw"

    def _typed(
        self, scope: Scope, attribute: Attribute, type_name: str, size: Translation | None, *, has_type: bool
    ) -> Form:
        name, arguments = expressions.parse_type(type_name)
        if has_type and name == "bytes":
            name = "bytes_"  # Kaitai has no type `bytes`, so this is a user's type
        if name in ("str", "strz", "bytes"):
            return self._characters(scope, attribute, name, size)
        form = wire.number(name, scope) or wire.bits(name, scope, self._bit_default(scope, name))
        if form is not None:
            if size is not None:
                raise UntranslatableError("type", f"a number with a size: {type_name}")
            return form
        return self._user(scope, attribute, name, arguments, in_region=size is not None)

    def _bit_default(self, scope: Scope, name: str) -> str:
        default = {"le": "little"}.get(text(scope.definition.meta("bit-endian")) or "", "big")
        return wire.bit_order(name, default)

    def _user(
        self, scope: Scope, attribute: Attribute, name: str, arguments: Sequence[expressions.Tree], *, in_region: bool
    ) -> Form:
        definition = scope.definition.named(tuple(name.removeprefix("::").split("::")))
        if definition is None:
            raise UntranslatableError("type", f"there is no type {name}", "write it by hand")
        self._refuse(definition.location)
        place = Place(scope, direct(scope))
        values = [translated(each, place) for each in arguments]
        parent = self._stated_parent(scope, attribute)
        use = Use(in_region=in_region, arguments=tuple(values), parent=parent, within=attribute.location)
        orders = definition.meta("endian")
        if isinstance(orders, MappingNode) and isinstance(child(definition.node, "meta", "endian"), MappingNode):
            return self._by_order(scope, definition, use, orders)
        made = self.struct(definition, scope, use)
        return Form(
            made.name, Record(direct(made)), {}, None, is_region=True, is_greedy=made.is_greedy, is_cut=made.is_cut
        )

    def _stated_parent(self, scope: Scope, attribute: Attribute) -> "View | Literal[False] | None":
        node = attribute.get("parent")
        if node is None:
            return None
        if scalar(node) == "false":
            return False
        kind = self.expression(scope, node).kind
        if not isinstance(kind, Record):
            raise UntranslatableError(
                "parent", f"the parent {described(node)} is not a struct", "pass what it needs as a parameter"
            )
        return kind.view

    def _by_order(self, scope: Scope, definition: Definition, use: Use, node: MappingNode) -> Form:
        """A type whose byte order depends on the record: one struct for each order, and a select between them."""
        inside = Scope(definition, scope, is_stream=use.in_region, byte_order=None)
        tag = self._translated(child(node, "switch-on"), Place(scope, direct(inside)))
        cases: dict[str, Any] = {}
        made: list[Scope] = []
        for key, order in entries(child(node, "cases")):
            word = {"le": "little", "be": "big"}.get(text(order) or "")
            if word is None:
                raise UntranslatableError("byte-order", f"{text(order)} is not a byte order")
            each = self.struct(
                definition, scope, replace(use, order=word, name=f"{camel(definition.name)}{word.capitalize()}")
            )
            made.append(each)
            cases[self._case_key(scope, key, tag)] = each.name
        type: dict[str, Any] = {"select": tag.text, "cases": {key: each for key, each in cases.items() if key != "_"}}
        if "_" in cases:
            type["otherwise"] = cases["_"]
        if not made:
            raise UntranslatableError("byte-order", "a choice of byte order without cases")
        kind = Union(tuple(Record(direct(each)) for each in made))
        return Form(type, kind, {}, None, is_region=True, is_greedy=any(each.is_greedy for each in made))

    def _switch(self, scope: Scope, attribute: Attribute, node: MappingNode, *, in_region: bool) -> Form:
        tag = self.expression(scope, child(node, "switch-on"))
        if tag.literal is not None:
            return self._constant_choice(scope, attribute, node, tag, in_region=in_region)
        cases: dict[str, Any] = {}
        kinds: list[Kind] = []
        flags: list[Form] = []
        otherwise = None
        for key, each in entries(child(node, "cases")):
            form = self._case(scope, attribute, each, in_region=in_region)
            flags.append(form)
            if key.text == "_":
                otherwise = form.type
                kinds.append(form.kind)
                continue
            cases[self._case_key(scope, key, tag)] = form.type
            kinds.append(form.kind)
        type: dict[str, Any] = {"select": tag.text, "cases": cases}
        if otherwise is None and in_region:
            otherwise = "bytes" if attribute.get("repeat") is None else self._raw(attribute)
        keys: dict[str, Any] = {}
        if otherwise is None and attribute.get("repeat") is None and cases:
            listed = ", ".join(literal(each) for each in cases)
            keys["when"] = f"{tag.within(5)} in [{listed}]"
        elif otherwise is None:
            otherwise = self._nothing()
        if otherwise is not None:
            type["otherwise"] = otherwise
        if not cases:
            only = flags[0] if flags else None
            if only is None:
                raise UntranslatableError("switch-on", "a choice without cases")
            return replace(only, is_region=in_region or only.is_region)
        return Form(
            type, Union(tuple(kinds)), keys, None, is_region=True,
            is_greedy=any(each.is_greedy for each in flags), is_cut=any(each.is_cut for each in flags),
        )  # fmt: skip

    def _constant_choice(
        self, scope: Scope, attribute: Attribute, node: MappingNode, tag: Translation, *, in_region: bool
    ) -> Form:
        cases = entries(child(node, "cases"))
        keys = [self._case_key(scope, key, tag) for key, _ in cases]
        wanted = next((key for key in keys if key == tag.literal), "_")
        if wanted not in keys:
            raise UntranslatableError("switch-on", "a choice by a constant without a case", "leave it out")
        return self._case(scope, attribute, cases[keys.index(wanted)][1], in_region=in_region)

    def _raw(self, attribute: Attribute) -> str:
        """A struct with raw bytes, for list elements without a case."""
        self.types.setdefault("Raw", {"fields": [{"raw": "bytes"}]})
        message = f"elements of {attribute.name} without a case become structs with their bytes in `raw`"
        self.find(attribute.location, "case", message, "read `raw` of each")
        return "Raw"

    def _case(self, scope: Scope, attribute: Attribute, node: Node, *, in_region: bool) -> Form:
        name, arguments = expressions.parse_type(text(node) or "")
        if name in ("str", "strz"):
            type, keys, kind = wire.characters(attribute, name, scope)
            if keys or name == "strz":
                raise UntranslatableError("case", f"the case {name}", "define a type with this one attribute")
            return Form(type, kind, is_greedy=True)
        form = wire.number(name, scope) or wire.bits(name, scope, self._bit_default(scope, name))
        if form is None:
            return self._user(scope, attribute, name, arguments, in_region=in_region)
        if form.keys:
            raise UntranslatableError(
                "case", f"the case {name}, a number with another byte order", "define a type for it"
            )
        return form

    def _case_key(self, scope: Scope, key: ScalarNode, tag: Translation) -> Any:  # noqa: ANN401 - a key of YAML
        if key.text == "_":
            return "_"
        value = self._translated(key, Place(scope, direct(scope)))
        if value.literal is None:
            raise UntranslatableError("switch-on", f"the case {key.text} is not a constant")
        if isinstance(tag.kind, Word) and tag.kind.named and isinstance(value.literal, int):
            known = tag.kind.enum.words.get(value.literal)
            return known[0] if known else value.literal
        return value.literal

    def _nothing(self) -> str:
        """The type of a case that reads nothing."""
        self.types.setdefault("Nothing", {"fields": [{"nothing": {"compute": "null", "type": "bool", "hidden": True}}]})
        return "Nothing"


def literal(value: object) -> str:
    """The value of a case as a literal."""
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else f"'{value}'"
