"""State and helpers that all parts of the importer share: types made so far, refused places, expressions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wireloom.importing.findings import Finding
from wireloom.importing.ksy.definitions import Attribute
from wireloom.importing.ksy.expressions import SyntaxFlaw
from wireloom.importing.ksy.kinds import (
    Scope,
    Translation,
)
from wireloom.importing.ksy.reading import Files
from wireloom.importing.ksy.scopes import UntranslatableError, direct
from wireloom.importing.ksy.translation import Place, translate
from wireloom.importing.naming import camel, one_line
from wireloom.importing.settling import SHALLOWER
from wireloom.problems import Location
from wireloom.spec.yaml import Node, ScalarNode, scalar


@dataclass(slots=True)
class Making:
    """The types of the spec under construction. `refused` has the places that the check of an earlier draft refused."""

    files: Files
    refused: Mapping[Location, tuple[str, str]]
    types: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Location] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    ranges: dict[str, Any] = field(default_factory=dict)
    rounds: dict[str, list[Location]] = field(default_factory=dict)
    """The locations through which a struct contains itself."""
    has_checks: bool = False
    made: dict[tuple[object, ...], Scope] = field(default_factory=dict)
    _equal: dict[tuple[object, str], str] = field(default_factory=dict)
    _ranged: dict[int, str] = field(default_factory=dict)

    def find(self, location: Location, kind: str, message: str, hint: str) -> None:
        """Report a part that is not carried over, once."""
        finding = Finding(location, kind, message, hint)
        if finding not in self.files.findings:
            self.files.findings.append(finding)

    def expression(self, scope: Scope, node: Node | None) -> Translation:
        """Translate an expression of an attribute."""
        return self._translated(node, Place(scope, direct(scope)))

    def _translated(self, node: Node | None, place: Place) -> Translation:
        if not isinstance(node, ScalarNode):
            raise UntranslatableError("expression", "an expression is missing, or is not a scalar")
        try:
            return translate(scalar(node), place)
        except (UntranslatableError, SyntaxFlaw) as error:
            if getattr(error, "location", None) is None:
                error.location = node.location  # type: ignore[union-attr]
            raise

    def _refuse(self, location: Location) -> None:
        """Raise UntranslatableError if the check of an earlier draft refused the result of this location."""
        refusal = self.refused.get(location)
        if refusal is not None and refusal[0] != SHALLOWER:
            raise UntranslatableError("refused", *refusal)

    def _untranslatable(self, attribute: Attribute, error: UntranslatableError | SyntaxFlaw) -> None:
        location = getattr(error, "location", None) or attribute.location
        if isinstance(error, SyntaxFlaw):
            self.find(location, "expression-syntax", f"{attribute.name}: {error.message}", "correct the expression")
        else:
            self.find(location, error.kind, f"{attribute.name}: {error.message}", error.hint)

    def _condition(self, scope: Scope, attribute: Attribute) -> dict[str, Any]:
        node = attribute.get("if")
        if node is None:
            return {}
        condition = self.expression(scope, node)
        return {} if condition.literal is True else {"when": condition.text}

    def _free_named(self, scope: Scope, attribute: Attribute) -> str:
        base, number = f"{scope.name}{camel(attribute.name)}", 2
        found = base
        while found in self.types:
            found, number = f"{base}_{number}", number + 1
        return found


def documented(attribute: Attribute) -> dict[str, Any]:
    """The key `doc`."""
    return {"doc": one_line(attribute.doc)} if attribute.doc else {}


def short(body: dict[str, Any]) -> Any:  # noqa: ANN401 - a type alone, or a mapping
    """A field in short form, as its type alone, if it has no other key."""
    return body["type"] if set(body) == {"type"} and isinstance(body["type"], str) else body
