"""Definitions -> structs of the spec, one for each way in which a type is used.

A type is made where it is used, since what its expressions mean depends on what is around it: the struct that holds
it, the region that it is read from, and its arguments. Equal results share one name. An attribute without words in the
spec becomes bytes where its size is known; else its struct ends before it, and what is left of the region is unread.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wireloom.importing.findings import Finding
from wireloom.importing.ksy import expressions, wire
from wireloom.importing.ksy.definitions import Attribute, Definition, Enum, described
from wireloom.importing.ksy.expressions import SyntaxFlaw
from wireloom.importing.ksy.kinds import (
    Integer,
    Kind,
    Listed,
    Numbers,
    Octets,
    Record,
    Said,
    Stream,
    Text,
    Truth,
    Union,
    Unknown,
    Word,
    computed_type,
)
from wireloom.importing.ksy.outward import looks_outward
from wireloom.importing.ksy.reading import Files, child, entries, text
from wireloom.importing.ksy.scopes import (
    AT_END,
    FILE_START,
    START,
    UNREAD,
    Entry,
    NotCarriedError,
    Scope,
    View,
    aliased,
    direct,
    field_name,
    reach,
)
from wireloom.importing.ksy.sizes import BITS
from wireloom.importing.ksy.translation import Place, said, translate
from wireloom.importing.ksy.wire import Form
from wireloom.importing.ksy.writing import Quoted
from wireloom.names import type_name_flaw
from wireloom.problems import Location
from wireloom.spec.yaml import MappingNode, Node, ScalarNode

MOST = 1500  # structs of one spec
DEEPEST = 24  # structs in one another while they are made
DEPTH = 4  # of structs that hold themselves
INVALID = "not_valid"
CERTAIN = "certain"
_PATH = ".abcdefghijklmnopqrstuvwxyz_0123456789"


@dataclass(slots=True)
class Structs:
    """The types of the spec, made of definitions. `refused` are places that a check of an earlier draft refused."""

    files: Files
    refused: Mapping[Location, tuple[str, str]]
    types: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Location] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    ranges: dict[str, Any] = field(default_factory=dict)
    rounds: dict[str, list[Location]] = field(default_factory=dict)
    """The places through which a struct holds itself."""
    has_checks: bool = False
    made: dict[tuple[object, ...], Scope] = field(default_factory=dict)
    _equal: dict[tuple[object, str], str] = field(default_factory=dict)
    _ranged: dict[int, str] = field(default_factory=dict)

    def find(self, location: Location, kind: str, message: str, hint: str) -> None:
        """Note something that is not carried over, once."""
        finding = Finding(location, kind, message, hint)
        if finding not in self.files.findings:
            self.files.findings.append(finding)

    # structs

    def struct(
        self,
        definition: Definition,
        parent: Scope | None,
        arguments: Sequence[Said] = (),
        *,
        in_region: bool,
        order: str | None = None,
        name: str = "",
        parent_view: "View | Literal[False] | None" = None,
        within: Location | None = None,
    ) -> Scope:
        """The struct that a type is, where it is used so."""
        around = parent.chain if parent else []
        for each in around:
            if each.definition is definition and each.is_stream == in_region and not arguments:
                each.is_recursive = True
                if within is not None:
                    self.rounds.setdefault(each.name, []).append(within)
                return each
        words = tuple(each.text for each in arguments)
        byte_order = order or self._byte_order(definition, parent)
        outward = looks_outward(definition) or bool(arguments)
        key = (definition, in_region, byte_order, words, id(parent) if outward else None, parent_view)
        if key in self.made:
            return self.made[key]
        if len(self.made) >= MOST or len(around) >= DEEPEST:
            message = f"types stand more than {DEEPEST} deep in one another, or come to more than {MOST}"
            raise NotCarriedError("too-large", message, "import a part of the description")
        scope = Scope(definition, parent, in_region, byte_order, self._free_type(definition, name))
        scope.stated_parent = parent_view
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
        if (base in self.types or type_name_flaw(base)) and definition.around is not None and not name:
            base = f"{camel(definition.around.name)}{base}"
        found, number = base, 2
        while found in self.types or type_name_flaw(found):
            found, number = f"{base}_{number}", number + 1
        return found

    def _name(self, scope: Scope) -> None:
        """Write the struct among the types; one that another is equal to has that one's name."""
        if self.types[scope.name] is not None:
            return
        scope.is_done = True
        body = self.body(scope)
        around = tuple(id(each.definition) for each in scope.chain) if looks_outward(scope.definition) else ()
        equal = (scope.definition, repr((body, scope.byte_order, around)))
        if equal in self._equal and scope.stated_parent is None and not scope.is_recursive and scope.parent is not None:
            del self.types[scope.name], self.scopes[scope.name]
            scope.name = self._equal[equal]
            scope.entries = self.scopes[scope.name].entries  # what is added later is of both
            return
        self._equal[equal] = scope.name
        self.types[scope.name] = body
        self.origins[scope.name] = scope.definition.location

    def body(self, scope: Scope) -> dict[str, Any]:
        """The struct as the spec says it."""
        body: dict[str, Any] = {}
        if scope.definition.doc and scope.parent is not None:
            body["doc"] = one_line(scope.definition.doc)
        if scope.byte_order is not None and scope.byte_order != scope.root.byte_order:
            body["byteOrder"] = scope.byte_order
        if scope.is_recursive:
            body["depth"] = DEPTH
        return body | {"fields": [{each.name: each.body} for each in scope.entries]}

    def _fill(self, scope: Scope, arguments: Sequence[Said]) -> None:
        definition = scope.definition
        self._parameters(scope, arguments)
        run: list[Attribute] = []
        for attribute in definition.seq:
            if scope.is_cut:
                break
            if _is_bits(attribute):
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

    # parameters

    def _parameters(self, scope: Scope, arguments: Sequence[Said]) -> None:
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
                        reach(scope, parent, value, argument.kind)
                        if is_path
                        else aliased(parent, value, argument.kind)
                    )
                self._computed(scope, parameter, Said(value, argument.kind))
            except NotCarriedError as error:
                scope.dropped.add(parameter.name)
                self._not_carried(parameter, error)
        for parameter in scope.definition.params[len(arguments) :]:
            scope.dropped.add(parameter.name)
            self.find(parameter.location, "parameter", f"nothing says the parameter {parameter.name}", "say it where the type is used")

    # instances

    def _instance(self, scope: Scope, attribute: Attribute) -> None:
        if attribute.name in scope.busy:
            raise NotCarriedError("circular", f"{attribute.name} follows from itself")
        if attribute.name in scope.dropped:
            return
        scope.busy.add(attribute.name)
        try:
            self._refuse(attribute)
            if attribute.get("value") is not None:
                self._value_instance(scope, attribute)
            else:
                self._place(scope, attribute, self._form(scope, attribute), self._position(scope, attribute))
        except (NotCarriedError, SyntaxFlaw) as error:
            scope.dropped.add(attribute.name)
            self._not_carried(attribute, error)
        finally:
            scope.busy.discard(attribute.name)

    def _value_instance(self, scope: Scope, attribute: Attribute) -> None:
        value = self.expression(scope, attribute.get("value"))
        if attribute.get("enum") is not None and isinstance(value.kind, Integer | Word):
            enum = self._enum(scope, attribute)
            value = replace(value, kind=Word(enum, named=False)) if enum else value
        if isinstance(value.kind, Octets) and value.literal is not None:
            scope.views[attribute.name] = value
            hint = "expressions here know them; readers do not find them"
            self.find(attribute.location, "constant-bytes", f"{attribute.name} is constant bytes", hint)
            return
        if computed_type(value.kind) is None:
            if isinstance(value.kind, Record | Union | Listed | Stream):
                scope.views[attribute.name] = value
                message = f"{attribute.name} is another name of a struct or a list"
                hint = "expressions here know it; readers find it under its first name"
                self.find(attribute.location, "struct-value", message, hint)
                return
            raise NotCarriedError("value", f"{attribute.name} has no type of a spec")
        if attribute.get("if") is not None:
            condition = self.expression(scope, attribute.get("if"))
            value = Said(f"{condition.within(1)} ? {value.within(1)} : null", value.kind, 0)
        self._computed(scope, attribute, value)

    def _computed(self, scope: Scope, attribute: Attribute, value: Said) -> None:
        name = field_name(attribute.name)
        kind, keys = value.kind, _as(attribute.name) | _doc(attribute)
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

    def _range_name(self, enum: Enum) -> str:
        if id(enum) not in self._ranged:
            base, number = camel(enum.name), 2
            found = base
            while found in self.ranges:
                found, number = f"{base}_{number}", number + 1
            self._ranged[id(enum)] = found
            self.ranges[found] = [{"equals": each, "name": word} for each, (word, _) in enum.words.items()]
        return self._ranged[id(enum)]

    def _position(self, scope: Scope, attribute: Attribute) -> dict[str, Any]:
        """The keys `at` and `from` of an instance."""
        node = attribute.get("pos")
        io = attribute.get("io")
        if node is None and io is None:
            raise NotCarriedError("instance", f"{attribute.name} has neither a value nor a place")
        at = self.expression(scope, node) if node is not None else Said("0", Integer())
        if io is None:
            return {"at": at.text, "from": _start(scope.stream)}
        of = self.expression(scope, io).kind
        if not isinstance(of, Stream):
            raise NotCarriedError("stream", f"{described(io)} is no stream")
        if not of.view.prefix:
            start = of.view.scope.stream
            mark = _start(start)
            between = next(each for each in scope.chain if each is start or any(e.body == mark for e in each.entries))
            if between is not start:
                raise NotCarriedError("stream", f"{described(io)} is not the region that is nearest", "say it from its start")
            return {"at": at.text, "from": mark}
        return self._within(of.view, at, io)

    def _within(self, view: View, at: Said, io: Node) -> dict[str, Any]:
        """A place in the region of another field: from a mark before it."""
        name, _, deeper = view.prefix.partition(".")
        owner = view.owner
        entry = owner.entry(name)
        body = entry.body if entry else None
        if deeper or entry is None or not isinstance(body, dict) or {"unpack", "when"} & set(body):
            raise NotCarriedError("stream", f"a place in {described(io)}", "read it where that region is read")
        if "at" in body:
            return {"at": f"({body['at']}) + {at.within(9)}", "from": body["from"]}
        mark = f"{name}_start"
        place = owner.entries.index(entry)
        if not any(each.body == mark for each in owner.entries):
            owner.entries.insert(place, Entry("mark", mark))
        return {"at": at.text, "from": mark}

    # attributes of seq

    def _attribute(self, scope: Scope, attribute: Attribute) -> None:
        try:
            self._refuse(attribute)
            self._place(scope, attribute, self._form(scope, attribute), {})
        except (NotCarriedError, SyntaxFlaw) as error:
            self._not_carried(attribute, error)
            self._instead(scope, attribute)

    def _instead(self, scope: Scope, attribute: Attribute) -> None:
        """The bytes of an attribute that is not carried over; where nobody knows how many, the struct ends."""
        try:
            scope.kinds.pop(attribute.name, None)
            if attribute.get("repeat") is not None or attribute.get("size") is None:
                raise NotCarriedError("cut", "")
            size = self.expression(scope, attribute.get("size"))
            keys = self._condition(scope, attribute)
            name = field_name(attribute.name)
            if attribute.location in self.refused and "size" in self.refused[attribute.location][1]:
                raise NotCarriedError("cut", "")
            scope.entries.append(Entry(name, {"type": f"bytes({size.text})", **keys, **_as(attribute.name)}))
            scope.kinds[attribute.name] = Unknown("bytes that were not carried over")
        except (NotCarriedError, SyntaxFlaw):
            scope.is_cut = True
            scope.dropped.add(attribute.name)
            message = f"{scope.definition.name} ends before {attribute.name}; what follows it is not read"
            self.find(attribute.location, "cut", message, "write the rest of the struct by hand")

    def _condition(self, scope: Scope, attribute: Attribute) -> dict[str, Any]:
        node = attribute.get("if")
        if node is None or "true" in self._amends(attribute):
            return {}
        condition = self.expression(scope, node)
        return {} if condition.literal is True else {"when": condition.text}

    def _amends(self, attribute: Attribute) -> str:
        """What a check of an earlier draft found to be certain: `true`, `false` or `otherwise`."""
        kind, word = self.refused.get(attribute.location, ("", ""))
        return word if kind == CERTAIN else ""

    def _place(self, scope: Scope, attribute: Attribute, form: Form, keys: dict[str, Any]) -> None:
        """Write the field of a form, what repeats it, its words and its checks."""
        name = field_name(attribute.name)
        keys = keys | self._condition(scope, attribute)
        if keys.get("when") == "false" or "false" in self._amends(attribute):
            keys = _as(attribute.name) | _doc(attribute)
            scope.entries.append(Entry(name, {"compute": "null", "type": "bool", **keys}, attribute.location))
            scope.kinds[attribute.name] = Unknown("a value that is never there")
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
            kind = _with_place(scope, name, form, own, kind)
        valid, checks = self._valid(scope, attribute, kind)
        if "range" in valid and "const" in own:
            valid.pop("range")
        body = {"type": type, **own, **valid, **keys, **_as(attribute.name), **_doc(attribute)}
        if own.get("flatten"):
            body.pop("as", None)
            name = scope.free(f"{name}_in_region")
        if "from" in own:
            scope.entries.append(Entry("mark", own["from"]))
        scope.entries.append(Entry(name, _short(body), attribute.location))
        if "from" in own:
            skipped = {"type": f"bytes(len({name}))", "hidden": True, **self._condition(scope, attribute)}
            scope.entries.append(Entry(scope.free(f"{name}_bytes"), skipped, attribute.location))
        scope.kinds[attribute.name] = kind
        scope.entries += [Entry("check", each, attribute.location) for each in checks]
        if "at" in keys:
            return
        scope.is_cut = scope.is_cut or form.is_cut
        scope.is_greedy = scope.is_greedy or form.is_greedy or form.is_cut or _takes_all(own, repeat)

    def _list(self, scope: Scope, attribute: Attribute, form: Form, repeat: str) -> tuple[str, Kind, dict[str, Any]]:
        """The type of a list, its kind and its keys."""
        element = self._element_type(scope, attribute, form)
        own = {key: each for key, each in form.keys.items() if isinstance(element, str) and key in _OF_ELEMENTS}
        kind, words = self._words(scope, attribute, form.kind)
        if words:
            own |= {"values": words["values"]}
            message = f"another number in {attribute.name} than its enum has is an error of the record"
            self.find(attribute.location, "enum-list", message, "leave `values` out to take any number")
        if repeat == "expr":
            own["count"] = self.expression(scope, attribute.get("repeat-expr")).text
        elif repeat == "until" and _scalar(attribute.get("repeat-until")).strip() != "_io.eof":
            element, kind, last = self._until(scope, attribute, element, kind, own)
            return f"list({element})", Listed(kind), last
        elif repeat not in ("eos", "until"):
            raise NotCarriedError("repeat", f"repeat: {repeat}")
        return f"list({element})", Listed(kind), own

    def _element_type(self, scope: Scope, attribute: Attribute, form: Form) -> str:
        """The type of an element as a text: choices and regions get a name."""
        element = form.type
        if not isinstance(element, str):
            name = self._free_named(scope, attribute)
            self.types[name], self.origins[name] = element, attribute.location
            element = name
        if "flatten" in form.keys:
            raise NotCarriedError("text-in-list", "a list of texts that end at a terminator within their size")
        if form.is_region and form.size is not None:
            name = self._free_named(scope, attribute)
            body = {"type": element, "size": form.size.text, **form.keys, "flatten": True}
            self.types[name] = {"fields": [{"element": body}]}
            self.origins[name] = attribute.location
            element = name
        return element

    def _free_named(self, scope: Scope, attribute: Attribute) -> str:
        base, number = f"{scope.name}{camel(attribute.name)}", 2
        found = base
        while found in self.types:
            found, number = f"{base}_{number}", number + 1
        return found

    def _until(
        self, scope: Scope, attribute: Attribute, element: str, kind: Kind, own: dict[str, Any]
    ) -> tuple[str, Kind, dict[str, Any]]:
        node = attribute.get("repeat-until")
        if isinstance(kind, Record):
            inner, of = kind.view.scope, Said("", kind)
            if "_io.eof" in _scalar(node) and not inner.is_stream:
                _know_end(inner)
            place = Place(inner if not inner.is_recursive else scope, direct(scope), of)
        else:
            if computed_type(kind) is None:
                raise NotCarriedError("repeat-until", "a list of a choice that ends by a condition")
            one = Definition("element", attribute.node, scope.definition)
            inner = Scope(one, scope, is_stream=False, byte_order=scope.byte_order)
            inner.entries.append(Entry("value", _short({"type": element, **own})))
            if "_io.eof" in _scalar(node):
                _know_end(inner)
            name = self._free_named(scope, attribute)
            self.types[name] = {"fields": [{each.name: each.body} for each in inner.entries]}
            self.origins[name] = attribute.location
            place = Place(inner, direct(scope), Said("value", kind))
            element, own, kind = name, {}, Record(direct(inner))
            message = f"elements of {attribute.name} are structs with a `value`, since only structs say which is the last"
            self.find(attribute.location, "repeat-until", message, "look at `value` of each")
        last = self._translated(node, place)
        return element, kind, own | {"lastWhen": last.text}

    # words and checks

    def _words(self, scope: Scope, attribute: Attribute, kind: Kind) -> tuple[Kind, dict[str, Any]]:
        if attribute.get("enum") is None or not isinstance(kind, Integer | Truth):
            return kind, {}
        enum = self._enum(scope, attribute)
        if enum is None:
            return kind, {}
        name = attribute.name
        values: dict[Any, Any] = {
            number: {"value": word, "doc": one_line(doc)} if doc else word for number, (word, doc) in enum.words.items()
        }
        if isinstance(kind, Truth):
            values = {bool(number): each for number, each in values.items() if number in (0, 1)}
            return Word(enum, named=True), {"values": values, "raw": f"{name}_number"}
        keys: dict[str, Any] = {"values": values}
        if text(child(attribute.get("valid"), "in-enum")) != "true":
            keys["raw"] = f"{name}_number"
        return Word(enum, named=True), keys

    def _enum(self, scope: Scope, attribute: Attribute) -> Enum | None:
        said = attribute.text("enum") or ""
        enum = scope.definition.enum(tuple(said.split("::")))
        if enum is None:
            self.find(attribute.location, "enum", f"there is no enum {said}", "the number is carried over")
        return enum

    def _valid(self, scope: Scope, attribute: Attribute, kind: Kind) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What `valid` says, as keys of the field or as checks behind it."""
        node = attribute.get("valid")
        if node is None:
            return {}, []
        if isinstance(kind, Listed):
            self.find(node.location, "valid", f"valid of each element of {attribute.name}", "write a range or a check")
            return {}, []
        name = field_name(attribute.name)
        value = Said(name, kind)
        try:
            if not isinstance(node, MappingNode):
                return self._equal_to(scope, value, node)
            conditions: list[str] = []
            for key, each in node.entries:
                conditions += self._demands(scope, key.text, each, value)
        except (NotCarriedError, SyntaxFlaw) as error:
            self.find(node.location, "valid", f"valid of {attribute.name}: {error.message}", "write a check by hand")
            return {}, []
        return {}, [self._check(each, attribute) for each in conditions]

    def _check(self, condition: str, attribute: Attribute) -> dict[str, Any]:
        self.has_checks = True
        check = {"that": condition, "else": INVALID}
        if attribute.get("if") is not None:
            check["when"] = f"present({field_name(attribute.name)})"
        return check

    def _equal_to(self, scope: Scope, value: Said, node: Node) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        self.has_checks = True
        return {}, [{"that": self._equality(scope, node, value), "else": INVALID}]

    def _equality(self, scope: Scope, node: Node, value: Said) -> str:
        place = Place(scope, direct(scope))
        tree = expressions.Binary("==", expressions.Name("_"), expressions.parse(_scalar(node)))
        return said(tree, replace(place, element=value)).text

    def _demands(self, scope: Scope, key: str, node: Node, value: Said) -> list[str]:
        match key:
            case "eq":
                return [self._equality(scope, node, value)]
            case "min" | "max":
                end = self.expression(scope, node)
                if not isinstance(value.kind, Integer) or not isinstance(end.kind, Integer):
                    raise NotCarriedError("valid", f"{key} of what is no integer")
                return [f"{value.text} {'>=' if key == 'min' else '<='} {end.within(5)}"]
            case "any-of":
                each = [self._equality(scope, item, value) for item in getattr(node, "items", ())]
                return [" or ".join(each)]
            case "expr":
                return [self._translated(node, Place(scope, direct(scope), value)).text]
            case "in-enum":
                return []
            case _:
                raise NotCarriedError("valid", key)

    # bits

    def _bits(self, scope: Scope, run: list[Attribute]) -> None:
        """Fields of bits that stand together, filled up to whole bytes. Another order begins another byte."""
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
                self._refuse(attribute)
                form = wire.bits(attribute.text("type") or "", scope, order, is_aligned=total % 8 == 0)
                if form is None:
                    raise NotCarriedError("type", "no bits")
                self._place(scope, attribute, form, {})
            except (NotCarriedError, SyntaxFlaw) as error:
                self._not_carried(attribute, error)
                self._instead(scope, attribute)
            total += int(BITS.fullmatch(attribute.text("type") or "")["bits"])  # type: ignore[index]
        if total % 8 and not scope.is_cut:
            form = wire.bits(f"b{-total % 8}", scope, group[-1][1])
            if form is not None:
                scope.entries.append(Entry(scope.free("filler"), {"type": form.type, **form.keys, "hidden": True}))

    # forms

    def _form(self, scope: Scope, attribute: Attribute) -> Form:
        """How one attribute, or one element of its list, is read."""
        node = attribute.get("type")
        contents = attribute.get("contents")
        if contents is not None:
            return wire.contents(contents)
        size = self.expression(scope, attribute.get("size")) if attribute.get("size") is not None else None
        if size is None and attribute.says("size-eos"):
            size = Said("size - here", Integer(), 9)
        region = size is not None
        unpack = self._process(scope, attribute)
        if unpack is None:
            raise AssertionError
        if unpack == "raw":
            form = self._characters(scope, attribute, "bytes", size)
            return replace(form, kind=Unknown("bytes that another process makes"))
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

    def _process(self, scope: Scope, attribute: Attribute) -> str | None:
        del scope
        said = attribute.text("process")
        if said is None:
            return ""
        if said == "zlib":
            return "zlib"
        hint = "read the bytes that stand there, and undo it where records are read"
        self.find(attribute.location, "process", f"process: {said} of {attribute.name}", hint)
        return "raw"

    def _typed(self, scope: Scope, attribute: Attribute, said_type: str, size: Said | None, *, has_type: bool) -> Form:
        name, arguments = expressions.parse_type(said_type)
        if has_type and name == "bytes":
            name = "bytes_"  # no type of Kaitai
        if name in ("str", "strz", "bytes"):
            return self._characters(scope, attribute, name, size)
        form = wire.number(name, scope) or wire.bits(name, scope, self._bit_default(scope, name))
        if form is not None:
            if size is not None:
                raise NotCarriedError("type", f"a number with a size: {said_type}")
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
            raise NotCarriedError("type", f"there is no type {name}", "write it by hand")
        parent = self._stated_parent(scope, attribute)
        place = Place(scope, direct(scope))
        values = [said(each, place) for each in arguments]
        orders = definition.meta("endian")
        if isinstance(orders, MappingNode) and isinstance(child(definition.node, "meta", "endian"), MappingNode):
            return self._by_order(scope, definition, values, orders, in_region=in_region)
        made = self.struct(definition, scope, values, in_region=in_region, parent_view=parent, within=attribute.location)
        return Form(made.name, Record(direct(made)), {}, None, is_region=True, is_greedy=made.is_greedy, is_cut=made.is_cut)

    def _stated_parent(self, scope: Scope, attribute: Attribute) -> "View | Literal[False] | None":
        node = attribute.get("parent")
        if node is None:
            return None
        if _scalar(node) == "false":
            return False
        kind = self.expression(scope, node).kind
        if not isinstance(kind, Record):
            raise NotCarriedError("parent", f"the parent {described(node)} is no struct", "pass what it needs as a parameter")
        return kind.view

    def _by_order(
        self, scope: Scope, definition: Definition, values: Sequence[Said], node: MappingNode, *, in_region: bool
    ) -> Form:
        """A type whose byte order the record says: a struct for each order, chosen by what says it."""
        inside = Scope(definition, scope, is_stream=in_region, byte_order=None)
        tag = self._translated(child(node, "switch-on"), Place(scope, direct(inside)))
        cases: dict[str, Any] = {}
        made: list[Scope] = []
        for key, order in entries(child(node, "cases")):
            word = {"le": "little", "be": "big"}.get(text(order) or "")
            if word is None:
                raise NotCarriedError("byte-order", f"{text(order)} is no byte order")
            each = self.struct(
                definition, scope, values, in_region=in_region, order=word, name=f"{camel(definition.name)}{word.capitalize()}"
            )
            made.append(each)
            cases[self._case_key(scope, key, tag)] = each.name
        type: dict[str, Any] = {"select": tag.text, "cases": {key: each for key, each in cases.items() if key != "_"}}
        if "_" in cases:
            type["otherwise"] = cases["_"]
        if not made:
            raise NotCarriedError("byte-order", "no case of a byte order")
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
        if otherwise is None and attribute.get("repeat") is None and cases and "true" not in self._amends(attribute):
            listed = ", ".join(_literal(each) for each in cases)
            keys["when"] = f"{tag.within(5)} in [{listed}]"
        elif otherwise is None:
            otherwise = self._nothing()
        if otherwise is not None and "otherwise" not in self._amends(attribute):
            type["otherwise"] = otherwise
        if not cases:
            only = flags[0] if flags else None
            if only is None:
                raise NotCarriedError("switch-on", "a choice without cases")
            return replace(only, is_region=in_region or only.is_region)
        return Form(
            type, Union(tuple(kinds)), keys, None, is_region=True,
            is_greedy=any(each.is_greedy for each in flags), is_cut=any(each.is_cut for each in flags),
        )  # fmt: skip

    def _constant_choice(
        self, scope: Scope, attribute: Attribute, node: MappingNode, tag: Said, *, in_region: bool
    ) -> Form:
        cases = entries(child(node, "cases"))
        keys = [self._case_key(scope, key, tag) for key, _ in cases]
        wanted = next((key for key in keys if key == tag.literal), "_")
        if wanted not in keys:
            raise NotCarriedError("switch-on", "a choice by a constant that no case has", "leave it out")
        return self._case(scope, attribute, cases[keys.index(wanted)][1], in_region=in_region)

    def _raw(self, attribute: Attribute) -> str:
        """A struct of bytes, for elements of a list of structs that no case lists."""
        self.types.setdefault("Raw", {"fields": [{"raw": "bytes"}]})
        message = f"elements of {attribute.name} that no case lists are structs with their bytes in `raw`"
        self.find(attribute.location, "case", message, "look at `raw` of each")
        return "Raw"

    def _nothing(self) -> str:
        """The type of a choice that reads nothing."""
        self.types.setdefault("Nothing", {"fields": [{"nothing": {"compute": "null", "type": "bool", "hidden": True}}]})
        return "Nothing"

    def _case(self, scope: Scope, attribute: Attribute, node: Node, *, in_region: bool) -> Form:
        name, arguments = expressions.parse_type(text(node) or "")
        if name in ("str", "strz"):
            type, keys, kind = wire.characters(attribute, name, scope)
            if keys or name == "strz":
                raise NotCarriedError("case", f"{name} as a case", "make it a type with one attribute")
            return Form(type, kind, is_greedy=True)
        form = wire.number(name, scope) or wire.bits(name, scope, self._bit_default(scope, name))
        if form is None:
            return self._user(scope, attribute, name, arguments, in_region=in_region)
        if form.keys:
            raise NotCarriedError("case", f"a number of another byte order, {name}, as a case", "make it a type")
        return form

    def _case_key(self, scope: Scope, key: ScalarNode, tag: Said) -> Any:  # noqa: ANN401 - a key of YAML
        if key.text == "_":
            return "_"
        value = self._translated(key, Place(scope, direct(scope)))
        if value.literal is None:
            raise NotCarriedError("switch-on", f"the case {key.text} is no constant")
        if isinstance(tag.kind, Word) and tag.kind.named and isinstance(value.literal, int):
            known = tag.kind.enum.words.get(value.literal)
            return known[0] if known else value.literal
        return value.literal

    def _characters(self, scope: Scope, attribute: Attribute, base: str, size: Said | None) -> Form:
        """A text or bytes, by size, by terminator or both."""
        try:
            type, keys, kind = wire.characters(attribute, base, scope)
        except NotCarriedError as error:
            self.find(attribute.location, error.kind, error.message, error.hint)
            type, keys, kind = "bytes", {}, Octets()
        end = wire.terminator(attribute, base, keys.get("charset"))
        pad = wire.pad(attribute)
        if end is None:
            return self._sized(attribute, Form(type, kind, keys), size, pad)
        if size is None:
            return self._ended(attribute, Form(type, kind, keys), end, scope)
        return self._ended_within(scope, attribute, Form(type, kind, keys), size, end)

    def _sized(self, attribute: Attribute, form: Form, size: Said | None, pad: str | None) -> Form:
        if size is None:
            raise NotCarriedError("size", f"nothing says the size of {attribute.name}")
        if attribute.says("size-eos") and attribute.get("size") is None:
            form.is_greedy = True
        else:
            form.type = f"{form.type}({size.text})"
        if pad is not None:
            if size.literal is None:
                message = f"what fills {attribute.name} up stays in the value"
                self.find(attribute.location, "pad", message, "cut it off where records are read")
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
                raise NotCarriedError("consume", "a terminator that is read again", "read it with this value")
            form.keys |= {"at": "0", "from": scope.free(f"{attribute.name}_start")}
        return form

    def _ended_within(self, scope: Scope, attribute: Attribute, form: Form, size: Said, end: str) -> Form:
        """A value that ends at its terminator, or fills its size where there is none."""
        if attribute.get("repeat") is not None:
            if size.literal is None or attribute.says("include"):
                raise NotCarriedError("text-in-list", "a list of texts that end within their size", "list structs of one text")
            message = f"elements of {attribute.name} keep what stands behind their terminator, unless it is the same byte"
            self.find(attribute.location, "text-in-list", message, "list structs of one text")
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
        names = _as(attribute.name) | _doc(attribute)
        self.types[name] = {
            "attempt": [
                {"name": "ended", "type": f"{name}Ended", "fallback": [{"codes": ["truncated", "bad_region"]}]},
                {"name": "whole", "type": f"{name}Whole"},
            ],
            "kind": None,
            "reason": None,
        }
        self.types[f"{name}Ended"] = {"fields": [{member: {"type": ended.type, **ended.keys, **names}}, *rest]}
        self.types[f"{name}Whole"] = {"fields": [{member: _short({"type": ended.type, **whole, **names})}]}
        for each in (name, f"{name}Ended", f"{name}Whole"):
            self.origins[each] = attribute.location
        return Form(name, ended.kind, {"flatten": True}, None, is_region=in_region, is_greedy=not in_region)

    # expressions

    def expression(self, scope: Scope, node: Node | None) -> Said:
        """An expression of an attribute, in the spec's words."""
        return self._translated(node, Place(scope, direct(scope)))

    def _translated(self, node: Node | None, place: Place) -> Said:
        if not isinstance(node, ScalarNode):
            raise NotCarriedError("expression", "an expression is missing, or is no scalar")
        try:
            return translate(_scalar(node), place)
        except (NotCarriedError, SyntaxFlaw) as error:
            if getattr(error, "location", None) is None:
                error.location = node.location  # type: ignore[union-attr]
            raise

    def _refuse(self, attribute: Attribute) -> None:
        if attribute.location in self.refused and not self._amends(attribute):
            message, hint = self.refused[attribute.location]
            raise NotCarriedError("refused", message, hint)

    def _not_carried(self, attribute: Attribute, error: NotCarriedError | SyntaxFlaw) -> None:
        location = getattr(error, "location", None) or attribute.location
        if isinstance(error, SyntaxFlaw):
            self.find(location, "expression-syntax", f"{attribute.name}: {error.message}", "mend the expression")
        else:
            self.find(location, error.kind, f"{attribute.name}: {error.message}", error.hint)


def _with_place(scope: Scope, name: str, form: Form, own: Mapping[str, Any], kind: Kind) -> Kind:
    """The kind of a list, with where each of its numbers stands if all are of whole bytes."""
    found = re.fullmatch(r"(u?)int(8|16|32|64)", form.type) if isinstance(form.type, str) else None
    if found is None or not isinstance(kind, Listed) or isinstance(kind.element, Record):
        return kind
    order = own.get("byteOrder") or scope.byte_order or "big"
    return replace(kind, numbers=Numbers(scope, name, int(found[2]) // 8, not found[1], order))


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else f"'{value}'"


_OF_ELEMENTS = ("delimiter", "kept", "charset", "byteOrder", "pad", "const")


def _know_end(element: Scope) -> None:
    """Let an element know whether its region ends with it, which a condition on the last element asks."""
    if AT_END not in element.kinds:
        element.kinds[AT_END] = Truth()
        element.entries.append(Entry(AT_END, {"compute": "here >= size", "type": "bool", "hidden": True}))


def _takes_all(own: Mapping[str, Any], repeat: str | None) -> bool:
    """Whether a list goes on to the end of its region."""
    return repeat is not None and "count" not in own and "lastWhen" not in own


def _scalar(node: Node | None) -> str:
    return node.text if isinstance(node, ScalarNode) else ""


def _start(scope: Scope) -> str:
    """The name of the mark at the start of a region; it is made where there is none."""
    mark = FILE_START if scope.parent is None else START
    if not any(each.name == "mark" and each.body == mark for each in scope.entries):
        scope.entries.insert(0, Entry("mark", mark))
    return mark


def _is_bits(attribute: Attribute) -> bool:
    return bool(BITS.fullmatch(attribute.text("type") or "")) and attribute.get("repeat") is None


def _as(name: str) -> dict[str, Any]:
    return {"as": name} if field_name(name) != name else {}


def _doc(attribute: Attribute) -> dict[str, Any]:
    return {"doc": one_line(attribute.doc)} if attribute.doc else {}


def _short(body: dict[str, Any]) -> Any:  # noqa: ANN401 - a type alone, or a mapping
    return body["type"] if set(body) == {"type"} and isinstance(body["type"], str) else body


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def camel(name: str) -> str:
    """`file_header` as the name of a type: FileHeader."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "Type"


_Maker = Callable[[str], None]
