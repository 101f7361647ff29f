"""Suggests changes of a spec that let it read refused records: a new word, a new member, a null."""

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from wireloom.drift.observing import Observed, Refused
from wireloom.examples.editing import Edit, Editor, edited, flow
from wireloom.runtime.codec import Codec
from wireloom.runtime.spans import Span
from wireloom.spec.documents import Document
from wireloom.spec.yaml import compose, raw_end

_MOST = 32  # most words suggested for one field


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change of a spec, and its reason."""

    path: Path
    text: str
    edits: tuple[Edit, ...]


def suggestions(observed: Observed, codec: Codec, root: str | None, document: Document) -> Iterator[Suggestion]:
    """Changes that let the spec read more records. They are independent, and can all be applied together."""
    text = document.data.decode()
    spec = _Spec(text, compose(text), Path(document.file))
    done: set[tuple[str, str]] = set()
    for (code, _), refused in observed.refused.items():
        failed = _failed(codec, root, refused)
        if failed is None:
            continue
        match code:
            case "unknown_value":
                found = spec.named(failed, _numbers(refused.found), f"{refused.count} records are refused for it")
            case "unexpected_property":
                found = spec.member(failed.struct or failed.holder, refused)
            case "type_mismatch" if set(refused.found) == {"null"}:
                found = spec.nullable(failed, refused)
            case _:
                found = None
        key = code, refused.error.path
        if found is not None and key not in done:
            done.add(key)
            yield found
    for path, numbers in observed.words.items():
        holder = spec.holder_of(path.rpartition(".")[2].removesuffix("[]"))
        if holder is not None:
            found = spec.named_at(holder, list(numbers), f"{numbers.total()} values have no name")
            if found is not None:
                yield found


def patch(changes: Iterable[Suggestion]) -> list[str]:
    """The changes as a patch, one file after the other."""
    by_path: dict[Path, list[Edit]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).extend(change.edits)
    lines: list[str] = []
    for path, edits in by_path.items():
        before = path.read_bytes().decode()
        after = edited(before, edits)
        lines += difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=2
        )
    return lines


def _failed(codec: Codec, root: str | None, refused: Refused) -> Span | None:
    """The innermost span that failed in the first record of an error."""
    explained = codec.explain_bytes(refused.data, root=root)
    return next(
        (span for span in reversed([*explained.span.walk()]) if span.failed and (span.holder or span.struct)), None
    )


def _numbers(found: Iterable[str]) -> list[int | str]:
    """The values found instead of known ones, parsed from error messages."""
    values: list[int | str] = []
    for text in found:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, int | str) and not isinstance(value, bool):
            values.append(value)
    return values


@dataclass(frozen=True, slots=True)
class _Spec:
    """The text of a spec and its YAML nodes."""

    text: str
    root: yaml.Node | None
    path: Path

    def named(self, span: Span, values: Sequence[object], why: str) -> Suggestion | None:
        """Add words to the `values` of a field."""
        return self.named_at((span.holder, span.name), values, why)

    def named_at(self, place: tuple[str, str], values: Sequence[object], why: str) -> Suggestion | None:
        """The same for a field given by type and name."""
        table = _child(self._field(*place), "values")
        if not isinstance(table, yaml.MappingNode) or not table.value or not values:
            return None
        old: dict[str, object] = {key.value: value.value for key, value in table.value}
        words = {str(value): f"unknown_{value}" for value in sorted(values, key=str)[:_MOST] if str(value) not in old}
        if not words:
            return None
        edits = tuple(Editor(self.text).mapping(table, old, {**old, **words}))
        return Suggestion(self.path, f"name {', '.join(words)} of {place[0]}.{place[1]}: {why}", edits)

    def nullable(self, span: Span, refused: Refused) -> Suggestion | None:
        """Let a field be null."""
        form = self._field(span.holder, span.name)
        type = form if isinstance(form, yaml.ScalarNode) else _child(form, "type")
        if not isinstance(type, yaml.ScalarNode) or type.value.endswith("?"):
            return None
        edit = Edit(type.start_mark.index, type.end_mark.index, f"'{type.value}?'")
        text = f"let {span.holder}.{span.name} be null: {refused.count} records have null there"
        return Suggestion(self.path, text, (edit,))

    def member(self, type: str, refused: Refused) -> Suggestion | None:
        """Add a member after the last one of its struct."""
        fields = _child(_child(_child(self.root, "types"), type), "fields")
        name = refused.error.components[-1] if refused.error.components else ""
        if (
            not isinstance(fields, yaml.SequenceNode)
            or fields.flow_style
            or not fields.value
            or not isinstance(name, str)
        ):
            return None
        form = {name: {"type": _type_of(refused), "optional": True}}
        end = self.text.find("\n", raw_end(fields.value[-1], self.text))
        end = len(self.text) if end < 0 else end
        edit = Edit(end, end, f"\n{' ' * fields.start_mark.column}- {flow(form)[1:-1]}")
        return Suggestion(self.path, f"add {name} to {type}: {refused.count} records have it", (edit,))

    def holder_of(self, raw: str) -> tuple[str, str] | None:
        """The type and name of the field whose numbers are in a raw column."""
        types = _child(self.root, "types")
        for type, _ in types.value if isinstance(types, yaml.MappingNode) else ():
            fields = _child(_child(types, type.value), "fields")
            for item in fields.value if isinstance(fields, yaml.SequenceNode) else ():
                for name, form in item.value if isinstance(item, yaml.MappingNode) else ():
                    found = _child(form, "raw")
                    if isinstance(found, yaml.ScalarNode) and found.value == raw:
                        return type.value, name.value
        return None

    def _field(self, type: str, name: str) -> yaml.Node | None:
        fields = _child(_child(_child(self.root, "types"), type), "fields")
        for item in fields.value if isinstance(fields, yaml.SequenceNode) else ():
            if (found := _child(item, name)) is not None:
                return found
        return None


def _child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


def _type_of(refused: Refused) -> str:
    """The type for a member, by the first document that has it."""
    try:
        value = json.loads(refused.data)
        for component in refused.error.components:
            value = value[component]
    except (ValueError, LookupError, TypeError):
        return "any"
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "str"
        case _:
            return "any"
