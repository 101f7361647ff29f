"""The sites in a browser: that of `wireloom docs`, and the documentation if it has been built."""

import shutil

import pytest

from conftest import ROOT, SPECS
from support.browsing import SCHEMES, inaccessible
from wireloom import pipeline

pytestmark = pytest.mark.integration
BUILT = ROOT / "build" / "docs" / "docs" / "index.html"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A site of one format."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "specs").mkdir()
    shutil.copy(SPECS / "netflow" / "netflow_v5.yaml", folder / "specs")
    pipeline.document(folder / "specs", folder / "site")
    return folder / "site"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["index.html", "netflow_v5.html"])
def test_the_site_of_formats_is_accessible_in_either_theme(made, tabs, name, scheme):
    tab = tabs.open((made / name).as_uri(), color_scheme=scheme)
    assert inaccessible(tab) == []
    assert tab.evaluate("[...document.images].every((each) => each.complete && each.naturalWidth > 0)")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["index.html", "howto/inspect.html", "formats/netflow_v5.html"])
def test_the_documentation_is_accessible_in_either_theme(tabs, name, scheme):
    if not BUILT.is_file():
        pytest.skip("the documentation has not been built: `nox -s docs` does it")
    tab = tabs.open((BUILT.parent / name).as_uri(), color_scheme=scheme)
    # the frame around the article is the theme's; its code has no tab stops, yet browsers scroll it by keys
    assert inaccessible(tab, "article", ("scrollable-region-focusable",)) == []
