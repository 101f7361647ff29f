"""Reads a .ksy file and its imports, with limits on size and number, from the given folders only."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, parse

LARGEST = 1 << 20  # bytes of a file
MOST = 64  # most files in all
SUFFIX = ".ksy"


@dataclass(slots=True)
class Files:
    """The imported file, the folders for its imports, and the documents read so far."""

    main: Path
    folders: Sequence[Path] = ()
    findings: list[Finding] = field(default_factory=list)
    read: dict[Path, MappingNode | None] = field(default_factory=dict)

    def root(self) -> MappingNode:
        """The document of the main file; raises ImportRefusedError if it is not one."""
        found = self._document(self.main.resolve(), self.main)
        if found is None:
            raise ImportRefusedError(*self.findings)
        return found

    def imported(self, name: ScalarNode, of: str) -> MappingNode | None:
        """The document that an import in the file `of` names; None, and a finding, if it is missing."""
        path = self._path(name, of)
        if path is None:
            return None
        if path not in self.read and len(self.read) >= MOST:
            self.find(
                "import", name, f"more than {MOST} files are imported", "move the types that are used into fewer files"
            )
            return None
        return self._document(path, path)

    def find(self, kind: str, node: Node, message: str, hint: str) -> None:
        """Report a part that is not carried over."""
        self.findings.append(Finding(node.location, kind, message, hint))

    def _path(self, name: ScalarNode, of: str) -> Path | None:
        home = self.main.resolve().parent
        allowed = [home, *(folder.resolve() for folder in self.folders)]
        bases = [*allowed[1:], home] if name.text.startswith("/") else [Path(of).resolve().parent, *allowed[1:]]
        outside = False
        for base in bases:
            try:
                path = (base / f"{name.text.lstrip('/')}{SUFFIX}").resolve()
                inside = any(path.is_relative_to(folder) for folder in allowed)
                outside = outside or not inside
                if inside and path.is_file():
                    return path
            except (OSError, ValueError, RuntimeError):  # an impossible file name, or links in a circle
                continue
        if outside:
            message = f"the import {name.text} is outside of {home}"
            self.find(
                "import", name, message, "imports must be in the file's folder or in a folder given by --import-path"
            )
        else:
            self.find("import", name, f"there is no {name.text}{SUFFIX}", "give its folder by --import-path")
        return None

    def _document(self, path: Path, shown: Path) -> MappingNode | None:
        if path in self.read:
            return self.read[path]
        self.read[path] = None
        start = Location(str(shown), 1, 1)
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            self._refuse(start, f"the file has more than {LARGEST} bytes", "import a smaller one")
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self._refuse(start, f"the file is not UTF-8 at byte {error.start}", "save it as UTF-8")
            return None
        node, problems = parse(text.removeprefix("\ufeff"), str(shown))
        for problem in problems:
            self._refuse(problem.location, problem.message, problem.hint)
        if node is not None and not isinstance(node, MappingNode):
            self._refuse(
                node.location, "the file is not a mapping", "write a description with the keys meta, seq and types"
            )
        elif node is not None and not problems:
            self.read[path] = node
        return self.read[path]

    def _refuse(self, location: Location, message: str, hint: str) -> None:
        self.findings.append(Finding(location, "file", message, hint))


def text(node: Node | None) -> str | None:
    """The text of a scalar as written; None for other nodes."""
    return node.text if isinstance(node, ScalarNode) and (node.quoted or node.value is not None) else None
