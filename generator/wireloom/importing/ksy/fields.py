"""Converts the attributes of `seq` to fields in order; adjacent bit fields are filled up to whole bytes."""

from typing import Any

from wireloom.importing.ksy import wire
from wireloom.importing.ksy.definitions import Attribute
from wireloom.importing.ksy.expressions import SyntaxFlaw
from wireloom.importing.ksy.kinds import (
    Entry,
    Scope,
    Unknown,
)
from wireloom.importing.ksy.lists import Lists, takes_all, with_place
from wireloom.importing.ksy.making import documented, short
from wireloom.importing.ksy.reading import text
from wireloom.importing.ksy.scopes import UntranslatableError
from wireloom.importing.ksy.sizes import BITS
from wireloom.importing.ksy.wire import Form
from wireloom.importing.naming import field_name, renamed
from wireloom.importing.settling import BYTES_TOO


class Fields(Lists):
    """The fields of a struct."""

    def _attribute(self, scope: Scope, attribute: Attribute) -> None:
        try:
            self._refuse(attribute.location)
            self._place(scope, attribute, self._form(scope, attribute), {})
        except (UntranslatableError, SyntaxFlaw) as error:
            self._untranslatable(attribute, error)
            self._instead(scope, attribute)

    def _instead(self, scope: Scope, attribute: Attribute) -> None:
        """Add an attribute that cannot be carried over as bytes; if its size is unknown, the struct ends before it."""
        scope.kinds.pop(attribute.name, None)
        size = self._size_alone(scope, attribute)
        if size is not None:
            scope.entries.append(Entry(field_name(attribute.name), short(size), attribute.location))
            scope.kinds[attribute.name] = Unknown("bytes that were not imported")
            return
        scope.is_cut = True
        scope.dropped.add(attribute.name)
        message = f"{scope.definition.name} ends before {attribute.name}; everything after it is not read"
        self.find(attribute.location, "cut", message, "write the rest of the struct by hand")

    def _size_alone(self, scope: Scope, attribute: Attribute) -> dict[str, Any] | None:
        """A field with the bytes of an attribute; None if their number is unknown."""
        stated_size = attribute.get("size")
        refusal = self.refused.get(attribute.location, ("", ""))
        if stated_size is None or attribute.get("repeat") is not None or refusal[1].endswith(BYTES_TOO):
            return None
        try:
            size = self.expression(scope, stated_size)
            return {"type": f"bytes({size.text})", **self._condition(scope, attribute), **renamed(attribute.name)}
        except (UntranslatableError, SyntaxFlaw):
            return None

    def _place(self, scope: Scope, attribute: Attribute, form: Form, keys: dict[str, Any]) -> None:
        """Add the field of a form, with its repetition, words and checks."""
        name = field_name(attribute.name)
        keys = keys | self._condition(scope, attribute)
        if keys.get("when") == "false":
            keys = renamed(attribute.name) | documented(attribute)
            scope.entries.append(Entry(name, {"compute": "null", "type": "bool", **keys}, attribute.location))
            scope.kinds[attribute.name] = Unknown("a value that is always absent")
            return
        repeat = attribute.text("repeat")
        if repeat is None:
            type, kind = form.type, form.kind
            own = dict(form.keys)
            if form.size is not None and form.is_region:
                own["size"] = form.size.text
            kind, words = self._words(scope, attribute, kind)
            own |= words
            if "when" in own and "when" in keys:
                keys["when"] = f"({keys['when']}) and {own.pop('when')}"
        else:
            type, kind, own = self._list(scope, attribute, form, repeat)
            kind = with_place(scope, name, form, own, kind)
        valid, checks = self._valid(scope, attribute, kind)
        if "range" in valid and "const" in own:
            valid.pop("range")
        body = {"type": type, **own, **valid, **keys, **renamed(attribute.name), **documented(attribute)}
        if own.get("flatten"):
            body.pop("as", None)
            name = scope.free(f"{name}_in_region")
        if "from" in own:
            scope.entries.append(Entry("mark", own["from"]))
        scope.entries.append(Entry(name, short(body), attribute.location))
        if "from" in own:
            skipped = {"type": f"bytes(len({name}))", "hidden": True, **self._condition(scope, attribute)}
            scope.entries.append(Entry(scope.free(f"{name}_bytes"), skipped, attribute.location))
        scope.kinds[attribute.name] = kind
        scope.entries += [Entry("check", each, attribute.location) for each in checks]
        if "at" in keys:
            return
        scope.is_cut = scope.is_cut or form.is_cut
        scope.is_greedy = scope.is_greedy or form.is_greedy or form.is_cut or takes_all(own, repeat)

    def _bits(self, scope: Scope, run: list[Attribute]) -> None:
        """Add adjacent bit fields, filled up to whole bytes. A change of the bit order starts a new byte."""
        default = {"le": "little"}.get(text(scope.definition.meta("bit-endian")) or "", "big")
        group: list[tuple[Attribute, str]] = []
        for attribute in run:
            order = wire.bit_order(attribute.text("type") or "", default)
            if group and group[-1][1] != order:
                self._bit_group(scope, group)
                group = []
            group.append((attribute, order))
        if group:
            self._bit_group(scope, group)

    def _bit_group(self, scope: Scope, group: list[tuple[Attribute, str]]) -> None:
        total = 0
        for attribute, order in group:
            if scope.is_cut:
                return
            try:
                self._refuse(attribute.location)
                form = wire.bits(attribute.text("type") or "", scope, order, is_aligned=total % 8 == 0)
                if form is not None:
                    self._place(scope, attribute, form, {})
            except (UntranslatableError, SyntaxFlaw) as error:
                self._untranslatable(attribute, error)
                self._instead(scope, attribute)
            total += int(BITS.fullmatch(attribute.text("type") or "")["bits"])  # type: ignore[index]
        if total % 8 and not scope.is_cut:
            form = wire.bits(f"b{-total % 8}", scope, group[-1][1])
            if form is not None:
                scope.entries.append(Entry(scope.free("filler"), {"type": form.type, **form.keys, "hidden": True}))


def is_bits(attribute: Attribute) -> bool:
    """Whether an attribute is a bit field."""
    return bool(BITS.fullmatch(attribute.text("type") or "")) and attribute.get("repeat") is None
