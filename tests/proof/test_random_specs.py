"""Random specs cover the whole language, and kept violations do not occur again."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from yaml import safe_load

from codec.test_roundtrips import COUPLED
from conftest import ROOT
from proof.cases import Case, cases
from proof.crossing import crossed_spec_of
from proof.fields import STRATEGIES
from proof.formats import written_format
from proof.modules import documents, resolved
from proof.properties import examined
from proof.shrinking import candidates
from proof.specs import leaning_spec_of, spec_of
from proof.texts import yaml
from proof.walks import keys
from support.drawing import drawn
from wireloom import reference
from wireloom.problems import SpecProblems
from wireloom.runtime.codec import Codec
from wireloom.runtime.conversion import Conversion, Converted
from wireloom.runtime.validation import Validator
from wireloom.spec.language import FieldDocument

pytestmark = pytest.mark.drawing
REFERENCE = Path(__file__).parents[2] / "docs/reference/language.md"
WORD = re.compile(r"\b[a-zA-Z][a-zA-Z0-9]*\b")
LEFT = "every record is left"  # small specs may have nothing but what the engine leaves (docs/internals/engine.md)
SEEDS = range(4184, 6000)
FEWEST = 500  # specs of which most are accepted
CROSSED = drawn(5)
SPECS = drawn(12)
OF_A_CLASS = 4  # specs that were found, in every run


@pytest.fixture(scope="module")
def accepted() -> Counter[str]:
    """How many accepted specs give each key, until all are seen; `specs` counts those, `tried` all that were tried."""
    found = Counter[str]()
    unseen = {*language(), *(f"type {name}" for name in types())}
    for seed in SEEDS:
        spec = spec_of(seed)
        read = documents(spec)
        found["tried"] += 1
        with suppress(SpecProblems):
            resolved(read)
            given = {key for document in read.documents for key in keys(document.content)}
            given |= {f"type {name}" for name in WORD.findall(repr(spec))}
            found.update({"specs", *given})
            unseen -= given
        if not unseen and found["tried"] >= FEWEST:
            break
    return found


def language() -> Iterator[str]:
    """Every key of the language that random specs give: they have no examples."""
    for name, document in reference.classes().items():
        if name != "Example":
            yield from (f"{name}.{key}" for key in document.keys() if key != "examples")  # noqa: SIM118 - no mapping


@pytest.mark.thorough
def test_most_specs_are_accepted(accepted):
    assert accepted["specs"] > accepted["tried"] * 0.63


@pytest.mark.thorough
@pytest.mark.parametrize("key", list(language()))
def test_every_key_of_the_language_stands_in_accepted_specs(accepted, key):
    assert accepted[key] > 0


def types() -> Iterator[str]:
    """Every type of the reference; `any` is of shared schemas alone."""
    table = REFERENCE.read_text(encoding="utf-8").split("<!-- types -->")[1].split("<!-- end -->")[0]
    for line in table.splitlines()[3:]:
        for notation in re.findall(r"`([a-z0-9]+|HEX[0-9]+)", line.split(" | ")[0]):
            yield from [notation] if notation != "any" else []


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(types())))
def test_every_type_of_the_language_stands_in_accepted_specs(accepted, name):
    assert accepted[f"type {name}"] > 0


def test_every_key_of_a_field_has_a_strategy():
    assert set(STRATEGIES) == set(FieldDocument.keys())


def test_a_seed_makes_one_spec():
    assert yaml(written_format(7)) == yaml(written_format(7))


def test_a_spec_has_smaller_ones():
    spec = {"proof.yaml": written_format(7)}
    assert all(len(repr(each)) <= len(repr(spec)) + 40 for each in candidates(spec))


def test_values_that_would_have_too_many_parts_are_not_made():
    inner = {f"L{place}": {"fields": [{"f": {"type": f"list(L{place + 1})", "count": "300"}}]} for place in range(3)}
    spec = {"wireloom": 1, "format": "proof", "title": "Lists of lists", "encoding": "binary", "root": "L0"}
    report = examined({"proof.yaml": {**spec, "types": {**inner, "L3": {"fields": [{"f": "uint8"}]}}}}, 1)
    assert report.accepted
    assert not report.built
    assert not report.violations


@pytest.fixture(scope="module")
def violations() -> dict[tuple[int, str], str]:
    """The violations of specs with fixed seeds."""
    return {
        (seed, violation.name): violation.detail
        for seed in range(SPECS)
        for violation in examined(spec_of(seed), seed, effort=0.5).violations.values()
    }


def test_random_specs_keep_what_is_promised(violations):
    assert not violations


def test_a_spec_that_leans_is_another_one_and_the_same_each_time():
    leaning = [leaning_spec_of(seed) for seed in range(4)]
    assert leaning == [leaning_spec_of(seed) for seed in range(4)]
    plain = [spec_of(seed) for seed in range(4)]
    assert plain == [spec_of(seed) for seed in range(4)] != leaning


def test_specs_that_are_crossed_with_one_another_keep_what_is_promised():
    reports = {seed: examined(crossed_spec_of(seed), seed, effort=0.5) for seed in range(CROSSED)}
    broken = {(seed, name): each.detail for seed, found in reports.items() for name, each in found.violations.items()}
    assert not broken
    assert sum(report.accepted for report in reports.values()) > CROSSED * 0.8


def _longer(made: pa.Array) -> pa.Array:
    return pa.array([each + b"\0" for each in made.to_pylist()], pa.binary())


def _unsaid(made: Converted) -> Converted:
    return replace(made, errors=pa.nulls(len(made.errors), pa.string()))


BROKEN = {
    "encode and build write different bytes": (Codec, "encode", _longer),
    "encode of many rows": (Codec, "encode", _longer),
    "decode: refuses what parse accepts": (Codec, "decode", lambda made: replace(made, errors=made.errors[::-1])),
    "decode: every record is left to the parser": (
        Codec,
        "decode",
        lambda made: replace(made, reread=len(made.errors)),
    ),
    "build writes what parse refuses": (Codec, "build", lambda made: made + b"\0" * 99),
    "from_canonical(to_canonical(v)) is not v": (Codec, "from_canonical", lambda made: {**made, "other": 1}),
    "validate: accepts what parse refuses": (Validator, "validate", lambda made: made[:0]),
    "validate: differs in a column": (Validator, "validate", lambda made: [*made, *made]),
    "convert: a record that is neither made nor refused": (Conversion, "of_messages", _unsaid),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BROKEN)
def test_a_promise_that_is_not_kept_is_seen(name, monkeypatch):
    owner, method, altered = BROKEN[name]
    real = getattr(owner, method)
    monkeypatch.setattr(owner, method, lambda *given, **more: altered(real(*given, **more)))
    found = {each for seed in (1, 2, 3, 4, 5, 6) for each in examined(spec_of(seed), seed, effort=0.3).violations}
    assert any(each.startswith(name) for each in found), found


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(COUPLED))
def test_cases_whose_members_are_coupled_keep_what_is_promised(name):
    (path,) = ROOT.glob(f"tests/cases/*/{name}.yaml")
    spec = {path.name: safe_load(path.read_text(encoding="utf-8"))}
    reports = [examined(spec, seed) for seed in range(drawn(2))]
    assert not [str(each) for report in reports for each in report.violations.values()]
    assert all(report.accepted for report in reports)
    assert any(report.good and report.built for report in reports)


def found() -> Iterator[Any]:
    """Every case; of each class the smaller ones in every run, the others only in thorough runs."""
    seen = Counter[str]()
    for name, case in sorted(cases().items(), key=lambda item: (item[1].size, item[0])):
        family = case.name.partition(":")[0]
        seen[family] += 1
        yield pytest.param(case, id=name, marks=() if seen[family] <= OF_A_CLASS else pytest.mark.thorough)


@pytest.mark.parametrize("case", list(found()))
def test_kept_violations_do_not_occur_again(case: Case):
    only = examined(case.spec, case.seed, case.instance).violations if case.instance else {}
    report = examined(case.spec, case.seed, effort=0.25 if case.instance else 1)
    assert report.accepted, f"{report.problems}: what is refused since belongs into tests/rejects"
    asked = case.violation is not None and LEFT in case.violation.name
    found = {name: each for name, each in {**only, **report.violations}.items() if asked or LEFT not in name}
    assert not found, [f"{violation.name}: {violation.detail}" for violation in found.values()]
