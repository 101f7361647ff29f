"""`wireloom docs` makes a site of any folder of specs, with working links and without scripts."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app

HOSTILE = (
    "</title><script>alert(1)</script> [x](javascript:alert(2)) ![y](https://example.org/z.png) <img src=x onerror=a()>"
)
SPEC = """
wireloom: 1
format: {name}
title: {hostile}
doc: {hostile}
source: {hostile}
encoding: binary
root: Message
parameters: {{choice: {{oneOf: [one, "{{{{ x }}}}"], default: one, doc: {hostile}}}}}
errors: {{bad_kind: {hostile}}}
types:
  Message:
    doc: {hostile}
    fields:
      - kind: {{type: uint8, values: {{0: {hostile}, 1: other}}, else: bad_kind, doc: {hostile}, unit: {hostile}}}
      - data: {{type: bytes(2), const: '6162', else: bad_kind}}
examples:
  - {{name: {hostile}, hex: 01 6162, value: {{kind: other, data: YWI=}}}}
  - {{name: bad, hex: 02 6162, error: bad_kind, path: kind, offset: 0}}
"""


class Page(HTMLParser):
    """The elements, anchors and link targets of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements, self.anchors, self.targets, self.attributes = set[str](), set[str](), set[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        found = dict(attrs)
        self.anchors |= {found["id"] or ""} if "id" in found else set()
        self.targets |= {found[name] or "" for name in ("href", "src") if name in found}


def specs(folder: Path, *names: str) -> Path:
    """A folder of specs of these names, each of the hostile text."""
    folder.mkdir(exist_ok=True)
    for name in names:
        text = SPEC.format(name=name, hostile=json.dumps(HOSTILE))
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, out: Path) -> tuple[int, str]:
    """The exit code and output of `docs`."""
    done = CliRunner().invoke(app, ["docs", "--specs", str(folder), "--out", str(out)])
    return done.exit_code, done.output


def test_the_site_leads_only_to_its_own_files_and_has_no_markup_of_specs(tmp_path):
    code, said = run(specs(tmp_path / "specs", "first", "second"), tmp_path / "site")
    assert code == 0, said
    site = tmp_path / "site"
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert files == {
        "index.html",
        *(f"{name}{end}" for name in ("first", "second") for end in (".html", "/Message.svg")),
    }
    pages = {name: Page((site / name).read_text(encoding="utf-8")) for name in files if name.endswith(".html")}
    for name, page in pages.items():
        assert not page.elements & {"script", "iframe", "object", "form"}
        assert not {each for each in page.attributes if each.startswith("on")}
        for target in page.targets:
            file, _, anchor = target.partition("#")
            assert (file or name) in files, target
            assert not anchor or anchor in pages[file or name].anchors, target
    assert "first/Message.svg" in pages["first.html"].targets
    assert "first.html" in pages["index.html"].targets


def test_a_second_run_changes_nothing_and_pages_of_deleted_specs_go(tmp_path):
    folder, site = specs(tmp_path / "specs", "first", "second"), tmp_path / "site"
    run(folder, site)
    assert "0 written, 0 removed, 5 unchanged" in run(folder, site)[1]
    (folder / "second.yaml").unlink()
    code, said = run(folder, site)
    assert code == 0
    assert "2 removed" in said
    assert not (site / "second.html").exists()
    assert not (site / "second").exists()


@pytest.mark.parametrize(("name", "code"), [("index.html", 2), ("notes.html", 0)])
def test_a_file_that_somebody_wrote_stays_as_it_is(tmp_path, name, code):
    site = tmp_path / "site"
    site.mkdir()
    (site / name).write_text("<p>mine</p>")
    found, said = run(specs(tmp_path / "specs", "first"), site)
    assert found == code
    assert (site / name).read_text() == "<p>mine</p>"
    assert code == 0 or ("not written by wireloom" in said and "choose another --out" in said)


def test_specs_with_problems_leave_the_site_alone(tmp_path):
    folder = specs(tmp_path / "specs", "first")
    (folder / "bad.yaml").write_text("wireloom: 1\nformat: bad\n")
    code, said = run(folder, tmp_path / "site")
    assert code == 1
    assert "bad.yaml" in said
    assert not (tmp_path / "site").exists()
