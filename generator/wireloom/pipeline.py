"""The whole generator on one page: load -> resolve -> emit -> write.

Every text is made in memory before the first file is touched, so a spec with a mistake changes nothing on disk. What
is written depends on the specs alone: `generate` twice gives the same bytes, and `check` is `generate` that only looks.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from wireloom.emit import arrow, construct, docs, jsonschema, layout, package, protobuf, shape, spark
from wireloom.emit.package import tree
from wireloom.model.format import Format
from wireloom.project import Changes, Project
from wireloom.resolve import resolve
from wireloom.spec import language_schema, load

LANGUAGE_SCHEMA = "wireloom.schema.json"


def formats(specs: Path) -> tuple[Format, ...]:
    """Every format of the specs below `specs`; raises SpecProblems with all mistakes at once."""
    return resolve(load(sorted(specs.rglob("*.yaml")), specs))


def files(project: Project) -> dict[Path, str]:
    """Every file that the project's specs stand for, with its text."""
    loaded = formats(project.specs)
    module_files = {
        project.out / project.package / format.name / name: text
        for format in loaded
        for name, text in emit(format).items()
    }
    package_files = {project.out / name: text for name, text in package.files(loaded, project.package).items()}
    pages = {project.docs / f"{format.name}.md": docs.emit(format) for format in loaded} if project.docs else {}
    return package_files | module_files | pages | {project.specs / LANGUAGE_SCHEMA: _json(language_schema())}


def emit(format: Format) -> dict[str, str]:
    """The files of one format's module."""
    texts = {
        "__init__.py": package.emit(format),
        "parser.py": construct.emit(format),
        "shape.py": shape.emit(format),
        "columns.py": arrow.emit(format),
        "spark.py": spark.emit(format),
        "functions.py": spark.functions.emit(format),
        "schema.json": _json(jsonschema.emit(format)),
        "descriptor.py": protobuf.emit(format),
        "layout.py": layout.emit(format),
    }
    return {name: text for name, text in texts.items() if text is not None}


def generate(project: Project) -> Changes:
    """Bring the generated files up to date."""
    texts = files(project)
    changes = _compare(project, texts)
    tree.refuse_foreign(project.out, changes.written)
    for path in changes.written:
        tree.write(path, texts[path])
    for path in changes.removed:
        tree.remove(path)
    return changes


def check(project: Project) -> Changes:
    """What `generate` would change."""
    return _compare(project, files(project))


def _compare(project: Project, texts: Mapping[Path, str]) -> Changes:
    written = tuple(path for path, text in sorted(texts.items()) if tree.read(path) != text)
    known = (*tree.generated_files(project.out / project.package), *tree.generated_pages(project.docs))
    removed = tuple(path for path in known if path not in texts)
    return Changes(written, removed, unchanged=len(texts) - len(written))


def _json(document: Mapping[str, object]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
