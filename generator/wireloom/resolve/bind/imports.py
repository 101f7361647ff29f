"""Copy imported types of libraries into a format's document; each keeps its location in the library.

The types of a library can use its own types and those it imports. A format takes the types that its own types lead to,
and the parameters, codes, checksums and ranges that the taken types mention.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from wireloom.encodings import ENCODINGS
from wireloom.model.types import ORDERED, Float, Integer, JsonText, NumberForm
from wireloom.problems import Problems, nearest
from wireloom.resolve.bind import builtins
from wireloom.resolve.bind.draft import Draft, TypeForm
from wireloom.resolve.bind.outline import direct_names
from wireloom.spec.documents import Document, Documents, Place, unlike
from wireloom.spec.language import AttemptType, LibraryDocument, OneOfType, SelectType, StructType
from wireloom.spec.yaml import Node, ScalarNode, find, texts, with_entries

_NAMED = ("parameters", "errors", "checksums", "ranges")
"""What types mention besides other types; if both document an error code, the format's text counts."""


@dataclass(frozen=True, slots=True)
class Library:
    """A library and its document."""

    document: Document
    content: LibraryDocument

    @property
    def name(self) -> str:
        """The library's name."""
        return self.content.library


Libraries = Mapping[str, Library]
_WORD = re.compile(r"[A-Za-z]\w*")
_CONTAINERS = ("list", "map", "str", "bytes", "blocks")
_BYTE = 8  # bits of a number without a byte order


def libraries(documents: Documents, problems: Problems) -> dict[str, Library]:
    """The libraries by name."""
    found = unlike(documents.libraries(), "library", problems)
    return {content.library: Library(document, content) for document, content in found}


def with_imports(draft: Draft, shelf: Libraries, unread: Sequence[str]) -> Draft | None:
    """The format with its imports; None if they are ambiguous, or a library is missing or has mistakes."""
    if not draft.content.imports:
        return draft
    if not _are_there(draft, shelf, unread):
        return None
    taken = _Taking.of(draft, shelf).taken()
    sources = {library.name: library for library in taken.values()}
    whole = _with_types(draft, taken, tuple(library.document for library in sources.values()))
    imported = tuple(each for name in draft.content.imports for each in shelf[name].content.types)
    whole = replace(whole, lent=imported)
    if draft.problems.found:
        check_imports(draft, whole)
        return None
    return whole


def check_imports(draft: Draft, whole: Draft) -> None:
    """Warn about libraries that no type uses."""
    used = {getattr(source.content, "library", "") for source in whole.document.imported}
    for index, name in enumerate(draft.content.imports):
        if name not in used:
            place = draft.place / "imports" / index
            hint = "use one of its types, or drop the import"
            draft.warns(place, "unused-import", f"no type uses the library {name}", hint)


def _are_there(draft: Draft, shelf: Libraries, unread: Sequence[str]) -> bool:
    """Whether all libraries exist that the format imports, directly or indirectly; reports unknown ones."""
    waiting: list[tuple[Place, str]] = list(_imports(draft.place, draft.content.imports))
    met = set[str]()
    found_all = True
    for place, name in waiting:
        if name in met:
            continue
        met.add(name)
        if name in shelf:
            waiting.extend(_imports(shelf[name].document.place, shelf[name].content.imports))
            continue
        found_all = False
        if name not in unread:
            hint = nearest(name, shelf) or "there are no libraries"
            draft.problems.add(place.problem("unknown-library", f"there is no library {name}", hint))
    return found_all


def _imports(place: Place, names: Sequence[str]) -> Iterator[tuple[Place, str]]:
    return ((place / "imports" / index, name) for index, name in enumerate(names))


# --- types ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Taking:
    """Finds the types that a format takes, and the library of each."""

    draft: Draft
    shelf: Libraries
    every: Draft  # the format with the types of all libraries added

    @classmethod
    def of(cls, draft: Draft, shelf: Libraries) -> "_Taking":
        """Prepare the search in the libraries on the shelf."""
        types: dict[str, Any] = {}
        for library in shelf.values():
            types |= library.content.types
        content = draft.content.model_copy(update={"types": types | draft.content.types})
        return cls(draft, shelf, replace(draft, content=content))

    def taken(self) -> dict[str, Library]:
        """The library types that the format's own types lead to."""
        found: dict[str, Library] = {}
        own = self.draft.content.types
        forms: list[TypeForm] = [*own.values(), *self.draft.content.root_types.values()]
        waiting: list[tuple[str, Library | None, str]] = [
            (name, None, "") for form in forms for name in self._mentioned(form) if name not in own
        ]
        for name, user, within in waiting:
            source = self._source(name, user)
            if source is None:
                if user is not None and (name in own or name in found):
                    self._report_unseen(name, user, within)
            elif found.get(name, source) is not source or (user is not None and name in own):
                other = found[name].name if name in found else "this format"
                self._clash(source, f"{name} is a type of {source.name} and of {other}", user)
            elif name not in found:
                found[name] = source
                form = source.content.types[name]
                waiting.extend((each, source, name) for each in self._mentioned(form))
        return found

    def _mentioned(self, form: TypeForm) -> list[str]:
        """The named types that a type mentions, from the format or any library."""
        return list(dict.fromkeys(name for name, _ in direct_names(self.every, form)))

    def _source(self, name: str, user: Library | None) -> Library | None:
        """The library that defines a name, as seen from the format or from another library."""
        if user is not None and name in user.content.types:
            return user
        imports = self.draft.content.imports if user is None else user.content.imports
        found = [self.shelf[each] for each in dict.fromkeys(imports) if name in self.shelf[each].content.types]
        if len(found) > 1:
            self._clash(found[1], f"{name} is a type of {found[0].name} and of {found[1].name}", user)
        return found[0] if found else None

    def _clash(self, library: Library, message: str, user: Library | None) -> None:
        """Report a name that two libraries define, at the import of the second."""
        names, place = (
            (self.draft.content.imports, self.draft.place)
            if user is None or library.name in self.draft.content.imports
            else (user.content.imports, user.document.place)
        )
        at = place / "imports" / names.index(library.name) if library.name in names else place / "imports"
        self.draft.problems.add(at.problem("clashing-import", message, "give one of them another name"))

    def _report_unseen(self, name: str, user: Library, within: str) -> None:
        message = f"there is no type {name} in the library {user.name}"
        hint = "a library can use only its own types and those that it imports"
        place = user.document.place / "types" / within
        self.draft.problems.add(place.key_problem("unknown-type", message, hint))


def _with_types(draft: Draft, taken: Mapping[str, Library], sources: tuple[Document, ...]) -> Draft:
    """The format with the types it takes, and with everything that these mention."""
    node = draft.document.node
    content: dict[str, Any] = {"types": draft.content.types | _adapted(draft, taken)}
    additions = {"types": {name: _entry(library, "types", name) for name, library in taken.items()}}
    texts_of = {name: texts(_entry(library, "types", name)[1], besides="doc") for name, library in taken.items()}
    words = {
        name: frozenset(word for text in each for word in re.findall(r"\w+", text)) for name, each in texts_of.items()
    }
    for key in _NAMED:
        content[key], additions[key] = _named(draft, key, taken, words)
    for key, entries in additions.items():
        node = with_entries(node, key, tuple(entries.values()))
    return replace(draft, document=replace(draft.document, imported=sources)).rewritten(node, content)


def _named(
    draft: Draft, key: str, taken: Mapping[str, Library], words: Mapping[str, frozenset[str]]
) -> tuple[dict[str, Any], dict[str, tuple[ScalarNode, Node]]]:
    """The format's entries under a key together with those that the taken types mention, and the added nodes."""
    values: dict[str, Any] = dict(getattr(draft.content, key))
    entries: dict[str, tuple[ScalarNode, Node]] = {}
    for type, library in taken.items():
        for name, value in getattr(library.content, key).items():
            if name not in words[type]:
                continue
            if name not in values:
                values[name], entries[name] = value, _entry(library, key, name)
            elif key != "errors" and values[name] != value:
                place = library.document.place / key / name
                message = f"{name} is different in {draft.content.format}, which imports {library.name}"
                hint = "make both the same, or rename one"
                draft.problems.add(place.key_problem("clashing-import", message, hint))
    return values, entries


def _adapted(draft: Draft, taken: Mapping[str, Library]) -> dict[str, TypeForm]:
    """The taken types, with the defaults of their libraries stated in each."""
    return {name: _with_defaults(draft, name, library) for name, library in taken.items()}


def _with_defaults(draft: Draft, name: str, library: Library) -> TypeForm:
    form, own = library.content.types[name], library.content
    match form:
        case StructType():
            stated: dict[str, str] = {}
            if form.encoding is None and own.encoding != draft.content.encoding:
                stated["encoding"] = own.encoding
            if form.byte_order is None and ENCODINGS[form.encoding or own.encoding].laid_out and _differs(draft, own):
                stated["byte_order"] = own.byte_order
            return form.model_copy(update=stated)
        case str() | SelectType() | OneOfType() if (
            ENCODINGS[own.encoding].laid_out and _differs(draft, own) and _may_have_order(form)
        ):
            place = library.document.place / "types" / name
            message = f"{name} is not a struct, so its numbers would have the byte order of {draft.content.format}"
            hint = "put it into the struct that has it, or give both the same `byteOrder`"
            draft.problems.add(place.key_problem("clashing-import", message, hint))
            return form
        case str() | SelectType() | OneOfType() | AttemptType():
            return form
        case _:
            assert_never(form)


def _differs(draft: Draft, library: LibraryDocument) -> bool:
    return draft.content.byte_order != library.byte_order


def _may_have_order(form: TypeForm) -> bool:
    """Whether a type may contain a number of several bytes; assumed for unions and for other named types."""
    return not isinstance(form, str) or any(map(_may_be_ordered, _WORD.findall(form)))


def _may_be_ordered(word: str) -> bool:
    match builtins.SCALARS.get(word):
        case Integer(bits=bits, form=form):
            return bits > _BYTE and form in (NumberForm.OWN, *ORDERED)
        case Float() | JsonText():
            return True
        case None:
            return word not in _CONTAINERS
        case _:
            return False


# --- nodes ---------------------------------------------------------------------------------------------------------


def _entry(library: Library, key: str, name: str) -> tuple[ScalarNode, Node]:
    """An entry of a library with its nodes."""
    head, node = find(library.document.node, (key, name))
    assert head is not None  # noqa: S101 - it is an entry
    return head, node
