"""Accesses the files of tables and ledgers through pyarrow, without Spark."""

import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs

from wireloom.ingest.files.finding import Place, place

OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})
"""The names that pyarrow gives to file systems that cannot rename a folder."""


@dataclass(frozen=True, slots=True)
class PlainStorage:
    """File systems, by path.

    A rename is atomic on a local disk. An object store moves a folder file by file; calling `rename` again moves the
    rest.
    """

    def exists(self, path: str) -> bool:
        """Whether the path exists."""
        return bool(_info(place(path)).type != fs.FileType.NotFound)

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; empty if the folder does not exist."""
        at = place(path)
        if _info(at).type == fs.FileType.File:
            return ()
        found = at.file_system.get_file_info(fs.FileSelector(at.path, allow_not_found=True))
        return tuple(sorted(info.base_name for info in found))

    def files(self, path: str) -> tuple[str, ...]:
        """The paths of all files below a folder, relative to it; empty if the folder does not exist."""
        at = place(path)
        found = at.file_system.get_file_info(fs.FileSelector(at.path, recursive=True, allow_not_found=True))
        home = at.path.rstrip("/") + "/"
        return tuple(sorted(info.path.removeprefix(home) for info in found if info.type == fs.FileType.File))

    def rename(self, path: str, new: str) -> None:
        """Rename a file or folder; raises FileExistsError if the new path exists."""
        source, target = place(path), place(new)
        if self.moves_by_file(path) and _info(source).type == fs.FileType.Directory:
            target.file_system.create_dir(target.path, recursive=True)
            for name in self.files(path):
                target.file_system.create_dir(target.child(name).path.rpartition("/")[0], recursive=True)
                source.file_system.move(source.child(name).path, target.child(name).path)
            source.file_system.delete_dir(source.path)
            return
        if self.exists(new):
            raise FileExistsError(f"{new} exists")
        target.file_system.create_dir(target.path.rpartition("/")[0], recursive=True)
        source.file_system.move(source.path, target.path)

    def moves_by_file(self, path: str) -> bool:
        """Whether a folder at this path moves file by file, so that a killed process may leave both folders."""
        return place(path).file_system.type_name in OBJECT_STORES

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        at = place(path)
        match _info(at).type:
            case fs.FileType.Directory:
                at.file_system.delete_dir(at.path)
            case fs.FileType.File:
                at.file_system.delete_file(at.path)
            case _:
                pass

    def read(self, path: str) -> str:
        """The text of a file."""
        with place(path).open() as source:
            return source.read().decode()

    def write(self, path: str, text: str) -> None:
        """Create a file atomically; raises FileExistsError if it exists."""
        at = place(path)
        at.file_system.create_dir(at.path.rpartition("/")[0], recursive=True)
        if at.system:
            if self.exists(path):
                raise FileExistsError(f"{path} exists")
            with at.file_system.open_output_stream(at.path) as target:
                target.write(text.encode())
            return
        target = Path(at.path)
        draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            draft.write_text(text, encoding="utf-8")
            os.link(draft, target)  # unlike rename, it never replaces
        finally:
            draft.unlink(missing_ok=True)

    def replace(self, path: str, text: str) -> None:
        """Create a file or replace its text; atomic on a local disk."""
        at = place(path)
        if at.system:
            with at.file_system.open_output_stream(at.path) as target:
                target.write(text.encode())
            return
        draft = Path(at.path).with_name(f".{Path(at.path).name}.{uuid.uuid4().hex}")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(at.path)
        finally:
            draft.unlink(missing_ok=True)

    def extent(self, path: str) -> tuple[int, int]:
        """The number of files below a folder, and their total size."""
        at = place(path)
        found = at.file_system.get_file_info(fs.FileSelector(at.path, recursive=True, allow_not_found=True))
        sizes = [info.size or 0 for info in found if info.type == fs.FileType.File]
        return len(sizes), sum(sizes)

    def absolute(self, path: str) -> str:
        """The path with its file system."""
        return place(path).shown


def _info(at: Place) -> Any:
    return at.file_system.get_file_info(at.path)
