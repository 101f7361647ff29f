"""Converts repeated attributes to lists, and names the types of their elements."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wireloom.importing.ksy.definitions import Attribute, Definition
from wireloom.importing.ksy.forms import Forms
from wireloom.importing.ksy.kinds import (
    Entry,
    Kind,
    Listed,
    Numbers,
    Record,
    Scope,
    Translation,
    Truth,
    computed_type,
)
from wireloom.importing.ksy.making import short
from wireloom.importing.ksy.scopes import AT_END, UntranslatableError, direct
from wireloom.importing.ksy.translation import Place
from wireloom.importing.ksy.wire import Form
from wireloom.spec.yaml import scalar


class Lists(Forms):
    """Makes the lists of attributes."""

    def _list(self, scope: Scope, attribute: Attribute, form: Form, repeat: str) -> tuple[str, Kind, dict[str, Any]]:
        """The type of a list, its kind and its keys."""
        element = self._element_type(scope, attribute, form)
        own = {key: each for key, each in form.keys.items() if key in _OF_ELEMENTS}
        kind, words = self._words(scope, attribute, form.kind)
        if words:
            own |= {"values": words["values"]}
            message = f"a number in {attribute.name} that its enum does not list is an error of the record"
            self.find(attribute.location, "enum-list", message, "remove `values` to allow any number")
        if repeat == "expr":
            own["count"] = self.expression(scope, attribute.get("repeat-expr")).text
        elif repeat == "until" and scalar(attribute.get("repeat-until")).strip() != "_io.eof":
            element, kind, last = self._until(scope, attribute, element, kind, own)
            return f"list({element})", Listed(kind), last
        elif repeat not in ("eos", "until"):
            raise UntranslatableError("repeat", f"repeat: {repeat}")
        return f"list({element})", Listed(kind), own

    def _element_type(self, scope: Scope, attribute: Attribute, form: Form) -> str:
        """The name of the element type; choices and regions get a named type."""
        element = form.type
        if not isinstance(element, str):
            name = self._free_named(scope, attribute)
            self.types[name], self.origins[name] = element, attribute.location
            element = name
        if "flatten" in form.keys:
            raise UntranslatableError("text-in-list", "a list of texts that end at a terminator within their size")
        if form.is_region and form.size is not None:
            name = self._free_named(scope, attribute)
            body = {"type": element, "size": form.size.text, **form.keys, "flatten": True}
            self.types[name] = {"fields": [{"element": body}]}
            self.origins[name] = attribute.location
            element = name
        return element

    def _until(
        self, scope: Scope, attribute: Attribute, element: str, kind: Kind, own: dict[str, Any]
    ) -> tuple[str, Kind, dict[str, Any]]:
        node = attribute.get("repeat-until")
        if isinstance(kind, Record):
            inner, of = kind.view.scope, Translation("", kind)
            if "_io.eof" in scalar(node) and not inner.is_stream:
                know_end(inner)
            place = Place(inner if not inner.is_recursive else scope, direct(scope), of)
        else:
            if computed_type(kind) is None:
                raise UntranslatableError("repeat-until", "a list of choices that ends at a condition")
            one = Definition("element", attribute.node, scope.definition)
            inner = Scope(one, scope, is_stream=False, byte_order=scope.byte_order)
            inner.entries.append(Entry("value", short({"type": element, **own})))
            if "_io.eof" in scalar(node):
                know_end(inner)
            name = self._free_named(scope, attribute)
            self.types[name] = {"fields": [{each.name: each.body} for each in inner.entries]}
            self.origins[name] = attribute.location
            place = Place(inner, direct(scope), Translation("value", kind))
            element, own, kind = name, {}, Record(direct(inner))
            message = f"elements of {attribute.name} are structs with a `value`, since only these can say which is last"
            self.find(attribute.location, "repeat-until", message, "read `value` of each")
        last = self._translated(node, place)
        return element, kind, own | {"lastWhen": last.text}


def with_place(scope: Scope, name: str, form: Form, own: Mapping[str, Any], kind: Kind) -> Kind:
    """The kind of a list, with the position of each number if it is a list of whole-byte integers."""
    found = re.fullmatch(r"(u?)int(8|16|32|64)", form.type) if isinstance(form.type, str) else None
    if found is None or not isinstance(kind, Listed) or isinstance(kind.element, Record):
        return kind
    order = own.get("byteOrder") or scope.byte_order or "big"
    return replace(kind, numbers=Numbers(scope, name, int(found[2]) // 8, not found[1], order))


_OF_ELEMENTS = ("delimiter", "kept", "charset", "byteOrder", "pad", "const")


def know_end(element: Scope) -> None:
    """Add a hidden field to an element that tells whether its region ends there, for conditions on the last element."""
    if AT_END not in element.kinds:
        element.kinds[AT_END] = Truth()
        element.entries.append(Entry(AT_END, {"compute": "here >= size", "type": "bool", "hidden": True}))


def takes_all(own: Mapping[str, Any], repeat: str | None) -> bool:
    """Whether a list extends to the end of its region."""
    return repeat is not None and "count" not in own and "lastWhen" not in own
