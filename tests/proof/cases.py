"""Minimal specs that once broke a guarantee, each in a file: its class, its seed, the record or value, the spec."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml as pyyaml

from proof.modules import Spec
from proof.properties import Instance, Violation
from proof.texts import flow, yaml
from wireloom.runtime.parameters import Range
from wireloom.runtime.values import Extension, Pairs

FOUND = Path(__file__).parent / "found"
_LOADER = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)  # the first is ten times as fast
_WORDS = {"Pairs": Pairs, "Extension": Extension, "Range": Range, "nan": float("nan"), "inf": float("inf")}


@dataclass(frozen=True)
class Case:
    """A spec that breaks (or broke) a guarantee, with the violation."""

    name: str
    seed: int
    spec: Spec
    violation: Violation | None

    @property
    def size(self) -> int:
        """The size of the case, by which the smallest is chosen."""
        return len(repr(self.spec))

    @property
    def instance(self) -> Instance | None:
        """The single record or value, if there is one."""
        found = self.violation
        if found is None or (found.record is None and found.value is None):
            return None
        return Instance(found.root, found.parameters, found.record, found.value)

    def shown(self) -> str:
        """The case as text for people."""
        found = self.violation
        lines = [yaml(content) for content in self.spec.values()]
        if found is not None:
            lines.append(f"# root {found.root} parameters {dict(found.parameters)}")
            if found.record is not None:
                lines.append(f"# record {found.record.hex()}")
            if found.value is not None:
                lines.append(f"# value {found.value!r}")
            lines += [f"# {line}" for line in found.detail.splitlines()]
        return "\n".join(f"        {line}" for text in lines for line in text.splitlines())


def written_case(case: Case) -> str:
    """The text of the case's file."""
    found = case.violation
    head: dict[str, Any] = {"class": case.name, "seed": case.seed}
    if found is not None:
        head |= {"root": found.root, "parameters": repr(dict(found.parameters))}
        if found.record is not None:
            head["record"] = found.record.hex()
        elif found.value is not None:
            head["value"] = repr(found.value)
    lines = [f"{flow(key)}: {flow(value)}" for key, value in head.items()]
    for name, content in case.spec.items():
        lines.append(f"{name}:")
        lines += [f"  {line}" for line in yaml(content).splitlines()]
    return "\n".join(lines) + "\n"


def read_case(path: Path) -> Case:
    """Parse the file of a case."""
    content = pyyaml.load(path.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe one
    spec = {name: part for name, part in content.items() if name.endswith(".yaml")}
    violation = Violation(
        content["class"],
        "",
        root=content.get("root", ""),
        parameters=_read(content.get("parameters", "{}")),
        record=bytes.fromhex(content["record"]) if "record" in content else None,
        value=_read(content["value"]) if "value" in content else None,
    )
    return Case(content["class"], content["seed"], spec, violation)


def _read(text: str) -> Any:
    return eval(text, {"__builtins__": {}}, _WORDS)  # noqa: S307 - a value that `written_case` wrote


def cases() -> Mapping[str, Case]:
    """All kept cases."""
    return {path.stem: read_case(path) for path in sorted(FOUND.glob("*.yaml"))}
