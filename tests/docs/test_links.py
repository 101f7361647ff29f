"""Links in the documentation lead to files of the repository and to existing headings."""

import re
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as a code host and the site have them."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).lower() for each in headings)
    return {re.sub(r"[^\w\- ]", "", each).replace(" ", "-") for each in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not anchor or file.suffix != ".md" or anchor in anchors(file), f"{target}#{anchor}"


def test_every_page_is_in_the_navigation():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = {line.removeprefix("../") for line in index.splitlines()}
    globbed = {"formats", "decisions"}
    missing = [
        page.relative_to(ROOT).as_posix()
        for page in PAGES
        if page.parent.name not in globbed
        and page.stem != "index"
        and page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/") not in listed
    ]
    assert missing == []


SHOWN = re.compile(r"^(?:<!-- ([^\n]*?) -->\n\n?)?```yaml\n", re.MULTILINE)
PARTS = ("language", "decisions", "formats")  # folders of pages that show parts of specs; tests of their own run them
COMMANDS = [page for page in PAGES if page.parent.name not in PARTS and page.stem not in ("own-format", "language")]


@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_snippet_of_a_spec_says_where_it_goes_or_why_it_is_not_run(page):
    marks = SHOWN.findall(page.read_text(encoding="utf-8"))
    assert all(re.match(r"not run: \w.{8,}|into \S+ after ", mark) for mark in marks)
