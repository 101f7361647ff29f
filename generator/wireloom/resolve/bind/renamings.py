"""New names for the members of flattened structs.

Expressions outside of the struct, readers and errors use the new names; the struct itself uses its own.
"""

from dataclasses import dataclass, field

from wireloom.resolve.bind.draft import Draft, entries_of
from wireloom.spec.language import FieldDocument, Flattening


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names for members: stated ones, and a prefix for all others; `label` distinguishes copies of a type."""

    prefix: str = ""
    stated: tuple[tuple[str, str], ...] = ()
    label: str = field(default="", compare=False)

    def new(self, name: str, shown: str = "") -> str:
        """The new name of a member; for a member with a separate readers' name (`shown`), the new readers' name."""
        return dict(self.stated).get(name) or self._prefixed(shown or name)

    def _prefixed(self, name: str) -> str:
        if not self.prefix:
            return name
        return self.prefix + (name if self.prefix.endswith("_") else name[0].upper() + name[1:])


Renamings = tuple[Renaming, ...]  # applied one after the other


def renaming_of(name: str, document: FieldDocument) -> Renamings:
    """The renamings of a field's members; empty if the field does not rename them."""
    if not isinstance(document.flatten, Flattening):
        return ()
    stated, prefix = document.flatten.as_ or {}, document.flatten.prefix or ""
    return (Renaming(prefix, tuple(stated.items()), prefix.strip("_") or name),)


def renamed(renamings: Renamings, name: str, shown: str = "") -> str:
    """The name of a member after all renamings; with a separate readers' name (`shown`), that name after them."""
    for each in renamings:
        name, shown = each.new(name), each.new(name, shown or name)
    return shown or name


def renamings_of(draft: Draft, type: str) -> dict[int, Renamings]:
    """The renamings of each field of a struct that has some, by the field's index."""
    entries = enumerate(entries_of(draft.content.types[type]))
    return {place: new for place, entry in entries if (new := renaming_of(entry.key, entry.full))}
