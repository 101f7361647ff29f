"""The whole generator on one page: load -> resolve -> emit -> write.

All texts are made in memory before the first file is written, so a spec with a mistake changes nothing on disk. The
result depends only on the specs: `generate` twice gives the same bytes, and `check` is `generate` without writing.
"""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wireloom import recursion, tree
from wireloom.emit import construct, jsonschema, layout, package, protobuf, shape, spark
from wireloom.emit.texts import Texts
from wireloom.escapes import json_text
from wireloom.examples import Recorded, Report, Revision, Subject, opened, record, revisions, run
from wireloom.explain.engine_paths import slow
from wireloom.failures import MisuseError
from wireloom.model.format import Format
from wireloom.model.meaning import contents, meaning
from wireloom.outcomes import Outcome, keep, key_of, recall
from wireloom.problems import Problem, SpecProblems
from wireloom.project import Changes, Project, spec_files
from wireloom.resolve import resolve_all
from wireloom.runtime.engine import available
from wireloom.spec import Document, language_schema, load


@dataclass(frozen=True)
class Specs:
    """The content of a folder of specs: the formats, and the document of each."""

    formats: tuple[Format, ...]
    documents: tuple[Document, ...]
    warnings: tuple[Problem, ...] = ()

    @cached_property
    def modules(self) -> dict[str, Mapping[str, str]]:
        """The files of each format's module."""
        return {format.name: emit(format) for format in self.formats}

    @cached_property
    def contents(self) -> dict[str, str]:
        """A digest of everything in the model of each format, including documentation and examples."""
        return {format.name: contents(format) for format in self.formats}

    @cached_property
    def meanings(self) -> dict[str, str]:
        """A digest of what each format means."""
        return {format.name: meaning(format) for format in self.formats}

    def keys(self, kind: str) -> dict[str, str]:
        """The cache key of each format's result."""
        return {name: key_of(kind, [said]) for name, said in self.contents.items()}


def read(specs: Path, *, outcomes: bool = True, advise: bool = False, without: Collection[Path] = frozenset()) -> Specs:
    """Read the specs below `specs`; raises SpecProblems with all mistakes at once, MisuseError if there is no format.

    Without `outcomes`, the results in examples are not checked. With `advise`, the warnings include advice. The files
    in `without` are skipped.
    """
    documents = load([path for path in spec_files(specs) if path not in without], specs)
    found = resolve_all(documents if outcomes else documents.without_outcomes(), advise=advise)
    if not found.formats:
        raise MisuseError(
            f"{specs} has no spec of a format (a file *.yaml or *.yml); "
            f"`wireloom new NAME --specs {specs}` starts one; --specs names another folder"
        )
    by_path = {document.path: document for document, _ in documents.formats()}
    return Specs(found.formats, tuple(by_path[format.spec] for format in found.formats), found.warnings)


def flaws(text: str) -> tuple[Problem, ...]:
    """The problems of a single spec, given as text."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spec.yaml").write_text(text, encoding="utf-8")
        try:
            read(Path(folder))
        except SpecProblems as found:
            return found.problems
    return ()


def formats(specs: Path) -> tuple[Format, ...]:
    """Every format of the specs below `specs`; raises SpecProblems with all mistakes at once."""
    return read(specs).formats


def files(project: Project, specs: Specs | None = None) -> dict[Path, str]:
    """The text of every file of the project."""
    specs = specs or read(project.specs)
    loaded = specs.formats
    module_files = {
        project.out / project.package / format / name: text
        for format, texts in specs.modules.items()
        for name, text in texts.items()
    }
    package_files = {project.out / name: text for name, text in package.files(loaded, project.package).items()}
    pages = {project.docs / name: text for name, text in page_files(specs).items()} if project.docs else {}
    return package_files | module_files | pages | {project.specs / tree.LANGUAGE_SCHEMA: _json(language_schema())}


def page_files(specs: Specs) -> dict[str, str]:
    """The page of each format, and its pictures."""
    from wireloom.pages.examples import traces  # noqa: PLC0415 - pages need pyarrow, and nothing else here does
    from wireloom.pages.page import files as files_of_page  # noqa: PLC0415

    with opened(specs.modules) as modules:
        return {
            name: text
            for format in specs.formats
            for name, text in files_of_page(format, traces(modules[format.name].CODEC, format.examples)).items()
        }


EMITTERS: Mapping[str, Callable[[Format], str | None]] = {
    "__init__.py": package.emit,
    "parser.py": construct.emit,
    "shape.py": shape.emit,
    "columns.py": package.columns,
    "spark.py": package.spark,
    "functions.py": spark.functions.emit,
    "schema.json": lambda format: _json(jsonschema.emit(format)),
    "variants.json": lambda format: None if (found := jsonschema.variants(format)) is None else _json(found),
    "descriptor.py": protobuf.emit,
    "layout.py": layout.emit,
}


def emit(format: Format) -> Mapping[str, str]:
    """The files of one format's module, each made when it is asked for."""
    return Texts(format, EMITTERS)


def try_examples(specs: Specs, names: Collection[str] | None = None, *, again: bool = False) -> Report:
    """Run the examples of some formats or of all; unchanged ones that passed before run only with `again`."""
    subjects = [each for each in _subjects(specs, names) if each.format.examples]
    keys = specs.keys("format")
    held = {} if again else {name: kept for each in subjects if (kept := recall(keys[name := each.format.name]))}
    report = run([each for each in subjects if each.format.name not in held])
    failed = {failure.format for failure in report.failures}
    for each in subjects:
        if each.format.name not in held and each.format.name not in failed:
            keep(keys[each.format.name], Outcome(len(each.format.examples), report.without_engine))
    count = report.count + sum(outcome.count for outcome in held.values())
    without_engine = report.without_engine or any(outcome.without_engine for outcome in held.values())
    return Report(count, report.failures, without_engine)


def record_examples(specs: Specs, names: Collection[str] | None = None) -> list[Recorded]:
    """Write the actual results into examples, of some formats or of all, that state neither a value nor an error."""
    unstated = [each for each in _subjects(specs, names) if not all(example.stated for example in each.format.examples)]
    return record(unstated)


def example_revisions(specs: Specs, names: Collection[str] | None = None) -> list[Revision]:
    """The revised specs if all examples, of some formats or of all, stated their actual results."""
    return revisions([each for each in _subjects(specs, names) if each.format.examples])


def _subjects(specs: Specs, names: Collection[str] | None) -> Iterator[Subject]:
    for format, document in zip(specs.formats, specs.documents, strict=True):
        if names is None or format.name in names:
            yield Subject(format, document, specs.modules[format.name])


def slow_paths(specs: Specs) -> dict[str, str]:
    """The formats that leave the native engine, with the reasons; empty if no engine is compiled."""
    if not available():
        return {}
    known = {name: kept.notes[0] for name, key in specs.keys("slow").items() if (kept := recall(key))}
    with opened({name: texts for name, texts in specs.modules.items() if name not in known}) as modules:
        found = {format: slow(module.CODEC) for format, module in modules.items()}
    for format, reason in found.items():
        keep(specs.keys("slow")[format], Outcome(0, notes=(reason,)))
    reasons = known | found
    return {format: reasons[format] for format in specs.modules if reasons[format]}


def large_formats(specs: Specs) -> list[str]:
    """The formats that recursion depths make very large: the location of the depth, and the advice."""
    return [f"{location}: {message}" for location, message in recursion.large_formats(specs.documents, specs.modules)]


def generate(project: Project, specs: Specs | None = None) -> Changes:
    """Update the generated files; raises MisuseError if that would remove formats of other specs."""
    specs = specs or read(project.specs)
    if not project.remove:
        _refuse_removal(project, specs)
    texts = files(project, specs)
    changes = _compare(project, texts)
    tree.refuse_foreign(changes.written)
    for path in changes.written:
        tree.write(path, texts[path])
    for path in reversed(changes.removed):  # the file that marks the package as ours is removed last
        tree.remove(path)
    return changes


def check(project: Project, specs: Specs | None = None) -> Changes:
    """The changes that `generate` would make."""
    return _compare(project, files(project, specs))


def document(specs: Path, folder: Path) -> Changes:
    """Update the site that describes the formats of the specs."""
    from wireloom.pages.site import site  # noqa: PLC0415 - the site alone needs a reader of Markdown

    found = read(specs)
    texts = {folder / name: text for name, text in site(found.formats, page_files(found)).items()}
    written = tuple(path for path, text in sorted(texts.items()) if tree.read(path) != text)
    removed = tuple(path for path in tree.generated_pages(folder, ".html") if path not in texts)
    tree.refuse_foreign(written)
    for path in written:
        tree.write(path, texts[path])
    for path in removed:
        tree.remove(path)
    return Changes(written, removed, len(texts) - len(written), texts)


def _refuse_removal(project: Project, specs: Specs) -> None:
    """Raise MisuseError if formats would be removed although their specs were not deleted.

    They count as deleted if another format is of the same file as when it was generated, which shows that this is the
    same folder, and if their specs are neither in an outer folder nor in the usual one.
    """
    package = project.out / project.package
    before = tree.sources(package)
    here = {format.spec for format in specs.formats}
    gone = {name: spec for name, spec in before.items() if name not in specs.modules and spec not in here}
    same = any(before.get(format.name) == format.spec for format in specs.formats)
    around = (*project.specs.resolve().parents, Path.cwd() / Project().specs)
    elsewhere = [folder / spec for folder in around for spec in gone.values() if (folder / spec).is_file()]
    if gone and (elsewhere or not same):
        raise MisuseError(
            f"{project.specs} has no spec of {', '.join(gone)}, but {package} has it; give --specs the folder of all "
            f"its specs{f', where {elsewhere[0]} is' if elsewhere else ''}, or --out or --package another package, "
            "or --remove to remove them"
        )
    pages = [
        page for page in tree.generated_pages(project.docs) if _described(page) not in before.keys() | specs.modules
    ]
    if pages:
        raise MisuseError(
            f"{project.specs} has no spec of the formats on {', '.join(map(str, pages))}; give --docs another "
            "folder, or --remove to remove the pages"
        )


def _described(page: Path) -> str:
    """The format of a page, or of a picture in the folder beside it."""
    return page.stem if page.suffix == ".md" else page.parent.name


def _compare(project: Project, texts: Mapping[Path, str]) -> Changes:
    written = tuple(path for path, text in sorted(texts.items()) if tree.read(path) != text)
    known = (*tree.generated_files(project.out / project.package), *tree.generated_pages(project.docs))
    removed = tuple(path for path in known if path not in texts)
    return Changes(written, removed, len(texts) - len(written), texts)


def _json(document: Mapping[str, object]) -> str:
    return json_text(document, indent=2) + "\n"
