"""Cases that never occur: the tag never has their value, or others cover all of its values."""

from collections.abc import Iterator

from wireloom.expr.types import kind
from wireloom.model.traversal import within
from wireloom.model.types import Select
from wireloom.problems import Problem
from wireloom.resolve.bind import constants
from wireloom.resolve.facts.sites import Site, Types, has_tag
from wireloom.resolve.facts.values import Facts
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode


def unreachable_cases(site: Site, known: Facts, named: Types) -> Iterator[Problem]:
    """Warn about cases whose values the tag never has, and about an unnecessary `otherwise`."""
    above = Place(site.place.document, site.place.path[:-1])
    cases, tag = above / "cases", site.expression
    if not isinstance(cases.node, MappingNode):
        return
    for key, _ in cases.node.entries:
        for word in map(str.strip, key.text.split(",")) if "," in key.text else [key.text]:
            value = constants.value(word, kind(tag), known.charset(tag))
            hint = known.never(tag, value)
            if hint is not None:
                yield (cases / key.text).key_problem("unreachable-case", f"the tag is never {word}", hint)
    for select in () if site.field is None else within(site.field.type, named):
        if isinstance(select, Select) and has_tag(select, site):
            yield from _others(above, site, select, known)
            return


def _others(above: Place, site: Site, select: Select, known: Facts) -> Iterator[Problem]:
    """Warn about `otherwise` if the cases cover all values of the tag."""
    selected = {(type(value), value) for case in select.cases for value in case.values}
    found = known.values(site.expression)
    if found is None or not selected.issuperset((type(value), value) for value in found):
        return
    if not isinstance(above.node, MappingNode):
        return
    stated = above.node.entry("otherwise") is not None
    if any(not case.values for case in select.cases[: len(select.cases) - stated]):
        return  # reported for that case
    if stated:
        hint = "drop `otherwise`: the cases cover all values"
        yield (above / "otherwise").key_problem("unreachable-case", "the tag never has another value", hint)
