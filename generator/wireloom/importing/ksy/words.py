"""Converts enums and `valid` to words of a field, or to checks after it."""

from dataclasses import replace
from typing import Any

from wireloom.importing.ksy import expressions
from wireloom.importing.ksy.definitions import Attribute, Enum
from wireloom.importing.ksy.expressions import SyntaxFlaw
from wireloom.importing.ksy.kinds import (
    Integer,
    Kind,
    Listed,
    Scope,
    Translation,
    Truth,
    Word,
)
from wireloom.importing.ksy.making import Making
from wireloom.importing.ksy.reading import text
from wireloom.importing.ksy.scopes import UntranslatableError, direct
from wireloom.importing.ksy.translation import Place, translated
from wireloom.importing.naming import camel, field_name, one_line
from wireloom.spec.yaml import MappingNode, Node, child, scalar

INVALID = "not_valid"


class Words(Making):
    """Makes the words and checks of fields."""

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
        return Word(enum, named=True, is_closed="raw" not in keys), keys

    def _enum(self, scope: Scope, attribute: Attribute) -> Enum | None:
        named = attribute.text("enum") or ""
        enum = scope.definition.enum(tuple(named.split("::")))
        if enum is None:
            self.find(attribute.location, "enum", f"there is no enum {named}", "the field becomes a number")
        return enum

    def _valid(self, scope: Scope, attribute: Attribute, kind: Kind) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """`valid` as keys of the field, or as checks after it."""
        node = attribute.get("valid")
        if node is None:
            return {}, []
        if isinstance(kind, Listed):
            self.find(node.location, "valid", f"valid of each element of {attribute.name}", "write a range or a check")
            return {}, []
        name = field_name(attribute.name)
        value = Translation(name, kind)
        try:
            if not isinstance(node, MappingNode):
                return self._equal_to(scope, value, node)
            conditions: list[str] = []
            for key, each in node.entries:
                conditions += self._demands(scope, key.text, each, value)
        except (UntranslatableError, SyntaxFlaw) as error:
            self.find(node.location, "valid", f"valid of {attribute.name}: {error.message}", "write a check by hand")
            return {}, []
        return {}, [self._check(each, attribute) for each in conditions]

    def _check(self, condition: str, attribute: Attribute) -> dict[str, Any]:
        self.has_checks = True
        check = {"that": condition, "else": INVALID}
        if attribute.get("if") is not None:
            check["when"] = f"present({field_name(attribute.name)})"
        return check

    def _equal_to(self, scope: Scope, value: Translation, node: Node) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        self.has_checks = True
        return {}, [{"that": self._equality(scope, node, value), "else": INVALID}]

    def _equality(self, scope: Scope, node: Node, value: Translation) -> str:
        place = Place(scope, direct(scope))
        tree = expressions.Binary("==", expressions.Name("_"), expressions.parse(scalar(node)))
        return translated(tree, replace(place, element=value)).text

    def _demands(self, scope: Scope, key: str, node: Node, value: Translation) -> list[str]:
        match key:
            case "eq":
                return [self._equality(scope, node, value)]
            case "min" | "max":
                end = self.expression(scope, node)
                if not isinstance(value.kind, Integer) or not isinstance(end.kind, Integer):
                    raise UntranslatableError("valid", f"{key} of a value that is not an integer")
                return [f"{value.text} {'>=' if key == 'min' else '<='} {end.within(5)}"]
            case "any-of":
                each = [self._equality(scope, item, value) for item in getattr(node, "items", ())]
                return [" or ".join(each)]
            case "expr":
                return [self._translated(node, Place(scope, direct(scope), value)).text]
            case "in-enum":
                return []
            case _:
                raise UntranslatableError("valid", key)

    def _range_name(self, enum: Enum) -> str:
        if id(enum) not in self._ranged:
            base, number = camel(enum.name), 2
            found = base
            while found in self.ranges:
                found, number = f"{base}_{number}", number + 1
            self._ranged[id(enum)] = found
            self.ranges[found] = [{"equals": each, "name": word} for each, (word, _) in enum.words.items()]
        return self._ranged[id(enum)]
