"""Converts instances: computed values, and attributes at offsets."""

from dataclasses import replace
from typing import Any

from wireloom.importing.ksy.definitions import Attribute, described
from wireloom.importing.ksy.expressions import SyntaxFlaw
from wireloom.importing.ksy.fields import Fields
from wireloom.importing.ksy.kinds import (
    Entry,
    Integer,
    Listed,
    Octets,
    Record,
    Scope,
    Stream,
    Translation,
    Union,
    View,
    Word,
    computed_type,
)
from wireloom.importing.ksy.making import documented
from wireloom.importing.ksy.scopes import FILE_START, START, UntranslatableError
from wireloom.importing.naming import field_name, renamed
from wireloom.spec.yaml import Node


class Instances(Fields):
    """Makes the instances of a struct."""

    def _instance(self, scope: Scope, attribute: Attribute) -> None:
        if attribute.name in scope.busy:
            raise UntranslatableError("circular", f"{attribute.name} is computed from itself")
        if attribute.name in scope.dropped:
            return
        scope.busy.add(attribute.name)
        try:
            self._refuse(attribute.location)
            if attribute.get("value") is not None:
                self._value_instance(scope, attribute)
            else:
                self._place(scope, attribute, self._form(scope, attribute), self._position(scope, attribute))
        except (UntranslatableError, SyntaxFlaw) as error:
            scope.dropped.add(attribute.name)
            self._untranslatable(attribute, error)
        finally:
            scope.busy.discard(attribute.name)

    def _value_instance(self, scope: Scope, attribute: Attribute) -> None:
        value = self.expression(scope, attribute.get("value"))
        if attribute.get("enum") is not None and isinstance(value.kind, Integer | Word):
            enum = self._enum(scope, attribute)
            value = replace(value, kind=Word(enum, named=False)) if enum else value
        if isinstance(value.kind, Octets) and value.literal is not None:
            scope.views[attribute.name] = value
            hint = "expressions can use them; readers do not see them"
            self.find(attribute.location, "constant-bytes", f"{attribute.name} is constant bytes", hint)
            return
        if computed_type(value.kind) is None:
            if isinstance(value.kind, Record | Union | Listed | Stream):
                scope.views[attribute.name] = value
                message = f"{attribute.name} is another name of a struct or a list"
                hint = "expressions can use it; readers see it under its first name"
                self.find(attribute.location, "struct-value", message, hint)
                return
            raise UntranslatableError("value", f"{attribute.name} has a type that specs do not have")
        if attribute.get("if") is not None:
            condition = self.expression(scope, attribute.get("if"))
            value = Translation(f"{condition.within(1)} ? {value.within(1)} : null", value.kind, 0)
        self._computed(scope, attribute, value)

    def _computed(self, scope: Scope, attribute: Attribute, value: Translation) -> None:
        name = field_name(attribute.name)
        kind, keys = value.kind, renamed(attribute.name) | documented(attribute)
        if isinstance(kind, Word):
            words = self._range_name(kind.enum)
            number = Entry(f"{name}_number", {"compute": value.text, "type": "int64"}, attribute.location)
            scope.entries.append(number)
            body = {"compute": f"rangeName({name}_number, '{words}')", "type": "str", **keys}
            kind = Word(kind.enum, named=False)
        else:
            body = {"compute": value.text, "type": computed_type(kind), **keys}
        scope.entries.append(Entry(name, body, attribute.location))
        scope.kinds[attribute.name] = kind

    def _position(self, scope: Scope, attribute: Attribute) -> dict[str, Any]:
        """The keys `at` and `from` of an instance."""
        node = attribute.get("pos")
        io = attribute.get("io")
        if node is None and io is None:
            raise UntranslatableError("instance", f"{attribute.name} has neither a value nor an offset")
        at = self.expression(scope, node) if node is not None else Translation("0", Integer())
        if io is None:
            return {"at": at.text, "from": start_mark(scope.stream)}
        of = self.expression(scope, io).kind
        if not isinstance(of, Stream):
            raise UntranslatableError("stream", f"{described(io)} is not a stream")
        if not of.view.prefix:
            start = of.view.scope.stream
            mark = start_mark(start)
            between = next(each for each in scope.chain if each is start or any(e.body == mark for e in each.entries))
            if between is not start:
                raise UntranslatableError(
                    "stream",
                    f"{described(io)} is not the innermost region",
                    "count the offset from the start of the innermost region",
                )
            return {"at": at.text, "from": mark}
        return self._within(of.view, at, io)

    def _within(self, view: View, at: Translation, io: Node) -> dict[str, Any]:
        """The keys for an offset in the region of another field, counted from a mark before that field."""
        name, _, deeper = view.prefix.partition(".")
        owner = view.owner
        entry = owner.entry(name)
        body = entry.body if entry else None
        if deeper or entry is None or not isinstance(body, dict) or {"unpack", "when"} & set(body):
            raise UntranslatableError("stream", f"an offset in {described(io)}", "read it where that region is read")
        if "at" in body:
            return {"at": f"({body['at']}) + {at.within(9)}", "from": body["from"]}
        mark = f"{name}_start"
        place = owner.entries.index(entry)
        if not any(each.body == mark for each in owner.entries):
            owner.entries.insert(place, Entry("mark", mark))
        return {"at": at.text, "from": mark}


def start_mark(scope: Scope) -> str:
    """The name of the mark at the start of a region; adds the mark if it is missing."""
    mark = FILE_START if scope.parent is None else START
    if not any(each.name == "mark" and each.body == mark for each in scope.entries):
        scope.entries.insert(0, Entry("mark", mark))
    return mark
