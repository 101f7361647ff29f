"""Converts texts and bytes: with a size, a terminator, or both."""

from dataclasses import replace

from wireloom.importing.ksy import wire
from wireloom.importing.ksy.definitions import Attribute
from wireloom.importing.ksy.kinds import (
    Octets,
    Scope,
    Translation,
)
from wireloom.importing.ksy.making import documented, short
from wireloom.importing.ksy.scopes import UNREAD, UntranslatableError
from wireloom.importing.ksy.wire import Form
from wireloom.importing.ksy.words import Words
from wireloom.importing.naming import field_name, renamed
from wireloom.importing.writing import Quoted


class Texts(Words):
    """Makes the forms of texts and bytes."""

    def _characters(self, scope: Scope, attribute: Attribute, base: str, size: Translation | None) -> Form:
        """A text or bytes, with a size, a terminator or both."""
        try:
            type, keys, kind = wire.characters(attribute, base, scope)
        except UntranslatableError as error:
            self.find(attribute.location, error.kind, error.message, error.hint)
            type, keys, kind = "bytes", {}, Octets()
        end = wire.terminator(attribute, base, keys.get("charset"))
        pad = wire.pad(attribute)
        if end is None:
            return self._sized(attribute, Form(type, kind, keys), size, pad)
        if size is None:
            return self._ended(attribute, Form(type, kind, keys), end, scope)
        return self._ended_within(scope, attribute, Form(type, kind, keys), size, end)

    def _sized(self, attribute: Attribute, form: Form, size: Translation | None, pad: str | None) -> Form:
        if size is None:
            raise UntranslatableError("size", f"the size of {attribute.name} is not stated")
        if attribute.says("size-eos") and attribute.get("size") is None:
            form.is_greedy = True
        else:
            form.type = f"{form.type}({size.text})"
        if pad is not None:
            if size.literal is None:
                message = f"the padding of {attribute.name} stays in the value"
                self.find(attribute.location, "pad", message, "remove it in the program that reads the records")
            else:
                form.keys["pad"] = Quoted(pad)
        return form

    def _ended(self, attribute: Attribute, form: Form, end: str, scope: Scope) -> Form:
        form.keys["delimiter"] = Quoted(end)
        if attribute.says("include"):
            form.keys["kept"] = True
        if not attribute.says("eos-error", default=True):
            return self._alternatives(scope, attribute, form, in_region=False)
        if not attribute.says("consume", default=True):
            if attribute.get("repeat") is not None or attribute.get("pos") is not None or attribute.says("include"):
                raise UntranslatableError(
                    "consume", "a terminator that is read again", "read it as a part of this value"
                )
            form.keys |= {"at": "0", "from": scope.free(f"{attribute.name}_start")}
        return form

    def _ended_within(self, scope: Scope, attribute: Attribute, form: Form, size: Translation, end: str) -> Form:
        """A value of a fixed size that ends at its terminator, or fills the size without one."""
        if attribute.get("repeat") is not None:
            if size.literal is None or attribute.says("include"):
                raise UntranslatableError(
                    "text-in-list", "a list of texts that end within their size", "use a list of structs with one text"
                )
            message = f"elements of {attribute.name} keep the bytes after their terminator, unless they equal it"
            self.find(attribute.location, "text-in-list", message, "use a list of structs with one text")
            return Form(f"{form.type}({size.text})", form.kind, form.keys | {"pad": Quoted(end)})
        ended = replace(form, keys={**form.keys, "delimiter": Quoted(end)})
        if attribute.says("include"):
            ended.keys["kept"] = True
        found = self._alternatives(scope, attribute, ended, in_region=True)
        found.size = size
        return found

    def _alternatives(self, scope: Scope, attribute: Attribute, ended: Form, *, in_region: bool) -> Form:
        name = self._free_named(scope, attribute)
        member = field_name(attribute.name)
        whole = {key: each for key, each in ended.keys.items() if key not in ("delimiter", "kept")}
        rest = [{UNREAD: {"type": "bytes(size - here)", "hidden": True}}] if in_region else []
        names = renamed(attribute.name) | documented(attribute)
        self.types[name] = {
            "attempt": [
                {"name": "ended", "type": f"{name}Ended", "fallback": [{"codes": ["truncated", "bad_region"]}]},
                {"name": "whole", "type": f"{name}Whole"},
            ],
            "kind": None,
            "reason": None,
        }
        self.types[f"{name}Ended"] = {"fields": [{member: {"type": ended.type, **ended.keys, **names}}, *rest]}
        self.types[f"{name}Whole"] = {"fields": [{member: short({"type": ended.type, **whole, **names})}]}
        for each in (name, f"{name}Ended", f"{name}Whole"):
            self.origins[each] = attribute.location
        return Form(name, ended.kind, {"flatten": True}, None, is_region=in_region, is_greedy=not in_region)
