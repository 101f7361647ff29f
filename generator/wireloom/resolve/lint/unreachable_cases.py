"""Cases that never come: values that a tag never is, and what stands beside all that it may be."""

from collections.abc import Iterator

from wireloom.expr.ast import Binary, Literal
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.traversal import within
from wireloom.model.types import Select
from wireloom.problems import Problem
from wireloom.resolve.bind import constants
from wireloom.resolve.facts.exclusion import exclusive
from wireloom.resolve.facts.sites import Site, Types, has_tag
from wireloom.resolve.facts.values import Facts
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode


def unreachable_cases(site: Site, known: Facts, named: Types) -> Iterator[Problem]:
    """The cases of a tag that never come: of integers, of the text or the bytes of a field, or of a flag."""
    above = Place(site.place.document, site.place.path[:-1])
    cases, tag = above / "cases", site.expression
    if not isinstance(cases.node, MappingNode):
        return
    for key, _ in cases.node.entries:
        for word in map(str.strip, key.text.split(",")) if "," in key.text else [key.text]:
            value = constants.value(word, kind(tag), known.charset(tag))
            hint = known.never(tag, value)
            if hint is None and value is not constants.NONE:
                hint = _excluded(site, value)
            if hint is not None:
                yield (cases / key.text).key_problem("unreachable-case", f"the tag is never {word}", hint)
    for select in () if site.field is None else within(site.field.type, named):
        if isinstance(select, Select) and has_tag(select, site):
            yield from _others(above, site, select, known)
            return


def _excluded(site: Site, value: object) -> str | None:
    """Why a tag is no such value where its union is there; None where it may be one."""
    when = None if site.field is None else site.field.when
    if when is None or not isinstance(value, int | str | bytes):
        return None
    is_tag = Binary("==", site.expression, Literal(value))
    return f"its field is there where {text_of(when)}" if exclusive(when, is_tag) else None


def _others(above: Place, site: Site, select: Select, known: Facts) -> Iterator[Problem]:
    """What is for values of no case where there are none."""
    selected = {(type(value), value) for case in select.cases for value in case.values}
    found = known.values(site.expression)
    left = None if found is None else [value for value in found if (type(value), value) not in selected]
    if left is None or any(_excluded(site, value) is None for value in left) or not isinstance(above.node, MappingNode):
        return
    stated = above.node.entry("otherwise") is not None
    if any(not case.values for case in select.cases[: len(select.cases) - stated]):
        return  # of which that is said
    if stated:
        hint = "drop `otherwise`; its cases are all that it may be"
        yield (above / "otherwise").key_problem("unreachable-case", "the tag is never another value", hint)
    elif above.node.entry("else") is not None:
        message = "every value of the tag has a case"
        yield (above / "else").problem("useless-else", message, "drop `else`, or a case that is an error")
