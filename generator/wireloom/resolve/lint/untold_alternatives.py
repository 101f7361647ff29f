"""Attempts over structs without a column that tells the alternative: readers cannot know what the columns are of."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.problems import Problem
from wireloom.spec import Document
from wireloom.spec.language import AttemptType, FormatDocument, StructType


def untold_alternatives(_: Format, document: Document, content: FormatDocument) -> Iterator[Problem]:
    """Advice for attempts without `kind` whose alternatives are structs; readers can tell a text from bytes."""
    for name, form in content.types.items():
        if not isinstance(form, AttemptType) or form.kind:
            continue
        if all(isinstance(content.types.get(trial.type), StructType) for trial in form.attempt):
            names = " or ".join(trial.name for trial in form.attempt)
            message = f"readers do not see which of {names} was used, and builders must try them"
            hint = "add `kind: NAME`, a column that shows it"
            yield (document.place / "types" / name).key_problem("untold-alternative", message, hint)
