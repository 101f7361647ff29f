"""The page of a record is one file that runs only its own script, and works in a browser."""

import base64
import hashlib
import json
import re
import zlib

import pytest

from conftest import ROOT, SPECS
from support.browsing import SCHEMES, inaccessible
from wireloom.catalog import open_format, open_package
from wireloom.escapes import html_text, script_json
from wireloom.inspection.lines import SpecLines
from wireloom.inspection.page import page
from wireloom.inspection.records import Found
from wireloom.inspection.rows import fault_of

HOSTILE = b"</script><script>document.title='run'</script><!--\xe2\x80\xae"
FLOWS = (ROOT / "samples" / "netflow_v5" / "good-000.bin").read_bytes()
DAMAGED = bytes.fromhex("100f00044d5154440500028f0000023637")


def page_of(name: str, data: bytes, file: str = "record.bin") -> str:
    module = open_format(open_package("wireloom_formats", ROOT / "generated"), name)
    explained = module.CODEC.explain_bytes(data)
    lines = SpecLines(SPECS, name)
    found = Found(file, data, module.CODEC.default_root, {})
    return page(module, found, explained, fault_of(explained, lines), lines)


def part(text: str, tag: str) -> str:
    return re.search(rf"<{tag}>(.*?)</{tag.split(maxsplit=1)[0]}>", text, re.DOTALL)[1]


def test_a_page_may_run_its_own_script_and_style_alone():
    text = page_of("netflow_v5", FLOWS)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    for directive, tag in (("style-src", "style"), ("script-src", "script")):
        digest = base64.b64encode(hashlib.sha256(part(text, tag).encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert not re.search(r"(src|href|action|url)\s*[=(]", text.partition("<script>")[0])
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")


def data_of(text: str) -> dict:
    """The data in a page's script."""
    return json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])))


def test_nothing_of_the_data_is_markup():
    text = page_of("kpl_record", HOSTILE, file="<img src=x onerror=alert(1)>")
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "\u202e" not in text
    data = data_of(text)
    assert base64.b64decode(data["spaces"][0]) == HOSTILE


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "\u2028", "\u202e", "\x1b", '"', "'"])
def test_every_text_is_escaped(text):
    assert json.loads(script_json(text)) == text
    assert not set(script_json(text)) & {"<", ">", "\u2028", "\u202e", "\x1b"}
    assert not set(html_text(text)) & {"<", ">", '"', "'", "\u2028", "\u202e", "\x1b"}


@pytest.fixture
def show(tabs, tmp_path):
    """A page with a record, in a tab."""

    def of(name, data, **options):
        file = tmp_path / "record.html"
        file.write_text(page_of(name, data), encoding="utf-8")
        tab = tabs.open(file.as_uri(), **options)
        tab.wait_for_selector("#tree [role=treeitem]")
        return tab

    return of


def copied(tab, form):
    """The text that a button copies; the page sets an attribute once it is in the clipboard."""
    tab.evaluate("delete document.body.dataset.copied")
    tab.click(f"#copy-{form}")
    tab.wait_for_selector("body[data-copied]")
    return tab.get_attribute("body", "data-copied")


def color(tab, selector):
    return tab.eval_on_selector(selector, "each => getComputedStyle(each).backgroundColor")


@pytest.mark.integration
def test_a_field_lights_its_bytes_up_and_a_byte_its_field(show):
    tab = show("netflow_v5", FLOWS)
    tab.hover("#tree .row:has(.name:text('source'))")
    assert tab.locator("#hex .byte.hover").all_inner_texts() == ["c0", "00", "02", "0a"]
    tab.hover('#hex .byte[data-at="29"]')
    assert "destination" in tab.inner_text("#tree .row.hover")
    tab.click("#tree .row:has(.name:text('sequence'))")  # before anything has the focus
    assert "sequence" in tab.inner_text("#tree .row.picked")
    tab.click('#hex .byte[data-at="41"]')
    assert "packets" in tab.inner_text("#tree .row.picked")
    assert "flows[0].packets" in tab.inner_text("#status")
    assert "netflow_v5.yaml:" in tab.inner_text("#status")


@pytest.mark.integration
def test_a_page_is_used_by_keyboard(show):
    tab = show("netflow_v5", FLOWS)
    tab.focus("#tree")
    for _ in range(2):
        tab.keyboard.press("ArrowDown")
    row = tab.locator("#tree .row.picked")
    assert row.get_attribute("aria-selected") == "true"
    assert tab.get_attribute("#tree", "aria-activedescendant") == row.get_attribute("id")
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowLeft")
    assert tab.locator("#tree .row").count() == 1
    assert tab.locator("#tree .row").get_attribute("aria-expanded") == "false"
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#tree .row").count() > 10
    tab.focus("#hex")
    tab.keyboard.press("ArrowRight")
    assert "byte 0" in tab.inner_text("#status")
    tab.keyboard.press("ArrowDown")
    assert "sequence" in tab.inner_text("#status")


@pytest.mark.integration
def test_a_page_is_searched_folded_and_copied(show):
    tab = show("netflow_v5", FLOWS)
    tab.fill("#search", "sourcePort")
    tab.click("#next")
    assert "flows[0].sourcePort" in tab.inner_text("#status")
    tab.click("#next")
    assert "flows[1].sourcePort" in tab.inner_text("#status")
    assert copied(tab, "hex") == "9c 40"
    assert copied(tab, "python") == 'bytes.fromhex("9c 40")  # flows[1].sourcePort'
    assert json.loads(copied(tab, "json"))["value"] == "40000"
    tab.fill("#search", "no such thing")
    tab.click("#next")
    assert "Nothing has" in tab.inner_text("#status")
    tab.click("#fold")
    assert tab.locator("#tree .row").count() < 20


@pytest.mark.integration
def test_a_bad_record_opens_at_its_fault(show):
    tab = show("mqtt_packet", DAMAGED)
    assert "bad_protocol" in tab.inner_text(".fault")
    assert tab.inner_text("#hex .byte.fault-byte") == "44"
    assert "protocol" in tab.inner_text("#tree .row.picked")


@pytest.mark.integration
def test_light_and_dark_are_the_readers_choice(show):
    light, dark = (color(show("mqtt_packet", DAMAGED, color_scheme=scheme), "body") for scheme in ("light", "dark"))
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    tab = show("mqtt_packet", DAMAGED, color_scheme="dark")
    tab.click("#theme")
    assert color(tab, "body") == light


@pytest.mark.integration
def test_no_script_of_the_data_runs(show):
    tab = show("aerospike_json", json.dumps({"msg": HOSTILE.decode()}).encode())
    assert "run" not in tab.title()
    assert "<script>document.title" in tab.inner_text(".fault")


@pytest.mark.integration
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_is_accessible_in_either_theme(show, scheme):
    tab = show("mqtt_packet", DAMAGED, color_scheme=scheme)
    assert inaccessible(tab) == []
    tab = show("netflow_v5", FLOWS, color_scheme=scheme)
    tab.hover("#tree .row:has(.name:text('source'))")
    tab.click('#hex .byte[data-at="41"]')
    assert inaccessible(tab) == []


@pytest.mark.integration
def test_a_record_of_a_megabyte_is_a_page_of_less_than_five_that_draws_what_is_in_view(show):
    event = json.loads((ROOT / "samples" / "aerospike_json" / "good.bin").read_text().split("\n")[0])
    event["bins"] = [{"name": "b", "type": "list", "value": ["0123456789" * 5 + str(each) for each in range(20_000)]}]
    data = json.dumps(event).encode()
    assert len(data) > 1 << 20
    text = page_of("aerospike_json", data)
    assert len(text) < 5 << 20
    tab = show("aerospike_json", data)
    tab.wait_for_selector("#tree .row")
    drawn = "document.querySelectorAll('.row').length"
    assert tab.evaluate(drawn) < 200
    tab.focus("#tree")
    tab.keyboard.press("End")
    assert tab.evaluate(drawn) < 200
    tab.fill("#search", "12345678919998")  # beyond what a row shows of a value
    tab.click("#next")
    assert "value[19998]" in tab.inner_text("#status")
