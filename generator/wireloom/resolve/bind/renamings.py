"""Names of members that melt into the struct around: which ones a field with `flatten` gives.

Expressions around such a field, readers and errors know its members by the new names; the struct itself by its own.
"""

from dataclasses import dataclass, field

from wireloom.resolve.bind.draft import Draft, entries_of
from wireloom.spec.language import FieldDocument, Flattening


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names for members: stated ones, and a prefix for the others; `label` tells copies of a type apart."""

    prefix: str = ""
    stated: tuple[tuple[str, str], ...] = ()
    label: str = field(default="", compare=False)

    def new(self, name: str, shown: str = "") -> str:
        """The name of a member here; of one that readers call otherwise (`shown`), what they call it here."""
        return dict(self.stated).get(name) or self._prefixed(shown or name)

    def _prefixed(self, name: str) -> str:
        if not self.prefix:
            return name
        return self.prefix + (name if self.prefix.endswith("_") else name[0].upper() + name[1:])


Renamings = tuple[Renaming, ...]  # one after the other


def renaming_of(name: str, document: FieldDocument) -> Renamings:
    """What a field of that name does to the names of its members; empty where they keep them."""
    if not isinstance(document.flatten, Flattening):
        return ()
    stated, prefix = document.flatten.as_ or {}, document.flatten.prefix or ""
    return (Renaming(prefix, tuple(stated.items()), prefix.strip("_") or name),)


def renamed(renamings: Renamings, name: str, shown: str = "") -> str:
    """The name of a member after all of them; of one that readers call otherwise (`shown`), what they call it."""
    for each in renamings:
        name, shown = each.new(name), each.new(name, shown or name)
    return shown or name


def renamings_of(draft: Draft, type: str) -> dict[int, Renamings]:
    """Of each field of a struct that renames its members, by its place, how."""
    entries = enumerate(entries_of(draft.content.types[type]))
    return {place: new for place, entry in entries if (new := renaming_of(entry.key, entry.full))}
