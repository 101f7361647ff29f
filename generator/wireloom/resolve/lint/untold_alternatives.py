"""Attempts over structs that do not say which fitted: readers see columns, and not what they are columns of."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.problems import Problem
from wireloom.spec import Document
from wireloom.spec.language import AttemptType, FormatDocument, StructType


def untold_alternatives(_: Format, document: Document, content: FormatDocument) -> Iterator[Problem]:
    """Attempts without `kind` whose alternatives are structs; a text and bytes are told apart by what they are."""
    for name, form in content.types.items():
        if not isinstance(form, AttemptType) or form.kind:
            continue
        if all(isinstance(content.types.get(trial.type), StructType) for trial in form.attempt):
            names = " or ".join(trial.name for trial in form.attempt)
            message = f"readers do not see which of {names} was used, and builders must try them"
            hint = "add `kind: NAME`, a column that shows it"
            yield (document.place / "types" / name).key_problem("untold-alternative", message, hint)
