"""What all parts of the importer share while types are made: what was made, what was refused, and expressions."""

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
    """The types of the spec as they are made. `refused` are places that a check of an earlier draft refused."""

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

    def expression(self, scope: Scope, node: Node | None) -> Translation:
        """An expression of an attribute, in the spec's words."""
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
        """Raises UntranslatableError where a check of an earlier draft refused what comes of a place."""
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
    """A field as its type alone, where it has no other key."""
    return body["type"] if set(body) == {"type"} and isinstance(body["type"], str) else body
