"""The page of `serve` in a browser: edits, input of every kind, streams, saving, and failures of the server."""

import base64
import json
import shutil

import pytest

from cli.test_serve import LIMITS, served
from conftest import ROOT, SPECS
from support.browsing import SCHEMES, inaccessible
from wireloom.serving.supervisor import Supervisor
from wireloom.serving.work import Limits

pytestmark = pytest.mark.integration
FLOWS = (ROOT / "samples" / "netflow_v5" / "good-000.bin").read_bytes()
PASTE = """(text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    document.getElementById("input").dispatchEvent(new ClipboardEvent("paste", {clipboardData, cancelable: true}));
}"""
DROP = """(bytes) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(bytes)], "dropped.bin"));
    dispatchEvent(new DragEvent("drop", {dataTransfer, cancelable: true}));
}"""
HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server of copies of specs that tests may save."""
    specs = tmp_path_factory.mktemp("specs")
    for name in (
        "netflow/netflow_v5.yaml",
        "kpl/kpl_record.yaml",
        "databus/databus_json.yaml",
        "databus/databus_change.schema.yaml",
    ):
        shutil.copy(SPECS / name, specs)
    with served(specs, "netflow_v5.yaml") as running:
        yield running


@pytest.fixture
def opened(site, tabs):
    """The page with the first example of the first format."""

    def of(**options):
        tab = tabs.open(site.url, **options)
        tab.on("dialog", lambda dialog: dialog.accept())
        tab.wait_for_selector("#tree .row .name:text('uptime')")
        return tab

    return of


def edit(tab, before, after):
    """Replace a text in the editor as if it were typed."""
    text = tab.input_value("#editor")
    assert before in text
    tab.fill("#editor", text.replace(before, after, 1))


def field(tab, name):
    return tab.wait_for_selector(f"#tree .row:has(.name:text-is('{name}'))")


def test_a_field_is_renamed_as_the_spec_is(opened):
    tab = opened()
    edit(tab, "- uptime:", "- sinceStart:")
    tab.wait_for_selector("#tree .name:text('sinceStart')")
    assert tab.locator("#tree .name:text('uptime')").count() == 0
    assert tab.inner_text("#state") == "edited, not saved"
    tab.click("#revert")
    tab.wait_for_selector("#tree .name:text('uptime')")


def test_a_problem_leads_to_its_line_and_the_last_good_reading_stays(opened):
    tab = opened()
    edit(tab, "- sequence: {type: uint32", "- sequence: {type: unit32")
    tab.wait_for_selector("#stale:visible")
    assert tab.inner_text("#count") == "1 error"
    assert tab.locator("#tree .name:text('sequence')").count() == 1
    tab.click("#problems button")
    at = tab.evaluate("[document.activeElement.id, document.activeElement.selectionStart]")
    assert at == ["editor", tab.input_value("#editor").index("unit32")]
    assert tab.inner_text("#lines .error") == "27"
    tab.keyboard.press("Delete")
    edit(tab, "nit32", "uint32")
    tab.wait_for_selector("#stale", state="hidden")
    assert tab.inner_text("#count") == "No problems"


def test_a_fault_is_marked_and_leads_to_the_spec(opened):
    tab = opened()
    tab.select_option("#example", label="a datagram of version 9 (bad_version)")
    tab.wait_for_selector("#fault:visible")
    assert "bad_version" in tab.inner_text("#fault")
    assert tab.locator("#hex .byte.fault-byte").count() == 2
    tab.click("#to-spec")
    start = tab.evaluate("document.activeElement.selectionStart")
    assert "version: {type: uint16" in tab.input_value("#editor")[start:].split("\n")[0]


def rows(of):
    """Sixteen bytes a line, as dumps show them."""
    return "\n".join(of(at, FLOWS[at : at + 16]) for at in range(0, len(FLOWS), 16))


NOTATIONS = {
    "hex": FLOWS.hex(),
    "hex, with prefixes": ", ".join(f"0x{byte:02X}" for byte in FLOWS),
    "hex, as escapes": "".join(f"\\x{byte:02x}" for byte in FLOWS),
    "hex, of xxd": rows(lambda at, data: f"{at:08x}: {data.hex(' ', 2)}  ........"),
    "hex, of hexdump": rows(lambda at, data: f"{at:08x}  {data[:8].hex(' ')}  {data[8:].hex(' ')}  |..|")
    + "\n00000078\n",
    "base64": base64.b64encode(FLOWS).decode(),
}


def test_bytes_are_pasted_in_any_notation(opened):
    tab = opened()
    for name, text in NOTATIONS.items():
        tab.fill("#input", "00")
        tab.wait_for_selector("#fault:visible")
        tab.fill("#input", text)
        tab.wait_for_selector("#fault", state="hidden")
        assert tab.inner_text("#read") == f"120 bytes, read as {name.split(',')[0]}", name
        assert "120 bytes of netflow_v5" in tab.inner_text("#summary"), name


def test_invalid_hex_input_is_reported(opened):
    tab = opened()
    tab.select_option("#kind", "hex")
    tab.fill("#input", "00 0")
    tab.wait_for_selector("#read:text('3 hex digits: one digit is missing or too many')")
    tab.fill("#input", "00 zz")
    tab.wait_for_selector("#read:text('is not a hex digit')")


def test_a_file_and_a_large_paste_stay_out_of_the_text_area(opened, tmp_path):
    tab = opened()
    tab.set_input_files("#open", [{"name": "dump.bin", "mimeType": "", "buffer": FLOWS}])
    tab.wait_for_selector("#held:visible")
    assert tab.inner_text("#held-name") == "dump.bin: 120 bytes"
    tab.click("#drop")
    tab.wait_for_selector("#held", state="hidden")
    tab.evaluate(
        PASTE,
        FLOWS.hex() * 1000,
    )
    tab.wait_for_selector("#held-name:text('pasted: 120,000 bytes')")
    assert tab.input_value("#input") == ""
    tab.wait_for_selector("#fault:visible")
    tab.evaluate(
        DROP,
        list(FLOWS),
    )
    tab.wait_for_selector("#held-name:text('dropped.bin: 120 bytes')")
    tab.wait_for_selector("#fault", state="hidden")


def test_a_stream_is_a_list_of_records(opened):
    tab = opened()
    tab.fill("#input", (FLOWS * 3).hex())
    tab.fill("#framing", "concatenated")
    tab.wait_for_selector("#stream:visible")
    assert tab.locator("#records option").count() == 3
    assert tab.inner_text("#records-label") == "Records (3)"
    tab.select_option("#records", "2")
    tab.wait_for_selector("#summary:text('record 2 at byte 240')")
    tab.fill("#framing", "sideways")
    tab.wait_for_selector("#failure:visible")
    assert "framing must be one of" in tab.inner_text("#failure")


def test_parameters_and_shared_files_are_of_the_format(opened):
    tab = opened()
    tab.select_option("#format", label="kpl_record")
    tab.wait_for_selector("#title:text('Kinesis')")
    tab.select_option("#example", label="a key that is not UTF-8 (invalid_utf8)")
    tab.wait_for_selector("#fault:visible")
    tab.select_option("#parameters label:has-text('invalid_utf8') select", "replace")
    tab.wait_for_selector("#fault", state="hidden")
    tab.select_option("#example", label="the same with the digest unread")
    assert tab.input_value("#parameters label:has-text('verify_digest') select") == "false"
    assert tab.input_value("#parameters label:has-text('invalid_utf8') select") == ""
    tab.select_option("#format", label="databus_json")
    tab.wait_for_selector("#file-label:visible")
    tab.select_option("#file", "databus_change.schema.yaml")
    tab.wait_for_function("document.getElementById('editor').value.includes('schema: databus_change')")


def test_an_edit_and_the_input_survive_a_reload(opened):
    tab = opened()
    edit(tab, "- uptime:", "- sinceStart:")
    tab.fill("#input", (FLOWS * 2).hex())
    tab.fill("#framing", "concatenated")
    tab.wait_for_selector("#stream:visible")
    tab.select_option("#records", "1")
    tab.wait_for_selector("#summary:text('record 1')")
    tab.reload()
    tab.wait_for_selector("#summary:text('record 1')")
    tab.wait_for_selector("#tree .name:text('sinceStart')")
    assert tab.inner_text("#state") == "edited, not saved"


def test_saving_writes_the_file_unless_it_has_changed(opened, site, tabs):
    tabs.expected.append("409 (Conflict)")
    path = site.specs / "netflow_v5.yaml"
    before = path.read_text()
    tab = opened()
    assert tab.is_disabled("#save")
    edit(tab, "title: NetFlow", "title: Saved NetFlow")
    tab.wait_for_selector("#title:text('Saved NetFlow')")
    assert path.read_text() == before
    tab.focus("#editor")
    tab.keyboard.press("Control+s")
    tab.wait_for_selector("#state:text('saved')")
    assert path.read_text() == before.replace("title: NetFlow", "title: Saved NetFlow")
    path.write_text(before)
    edit(tab, "title: Saved", "title: My")
    tab.click("#save")
    tab.wait_for_selector("#state:text('changed on disk')")
    assert path.read_text() == before
    tab.click("#revert")
    tab.wait_for_selector("#title:text-is('NetFlow version 5 datagram')")


def test_the_page_is_used_by_keyboard(opened):
    tab = opened()
    tab.focus("#editor")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") != "editor"
    tab.focus("#tree")
    tab.keyboard.press("ArrowDown")
    assert "version" in tab.inner_text("#tree .row.picked .name")
    tab.focus("#editor")
    tab.evaluate("document.activeElement.setSelectionRange(0, 0)")
    edit(tab, "types:\n", "types:\n  ")
    tab.wait_for_selector("#problems button")
    tab.focus("#problems button")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "editor"


def test_no_script_of_records_or_specs_runs(opened):
    tab = opened()
    tab.select_option("#format", label="databus_json")
    tab.wait_for_selector("#title:text('Databus')")
    tab.fill("#input", json.dumps({"opcode": HOSTILE}))
    tab.wait_for_selector("#fault:visible")
    edit(tab, "title: ", f"title: '{HOSTILE.replace(chr(39), chr(39) * 2)}' # ")
    tab.wait_for_selector("#title:text('<img')")
    edit(tab, "types:", f"{json.dumps(HOSTILE)}: 1\ntypes:")
    tab.wait_for_selector("#problems button:has-text('<img')")
    assert "run" not in tab.title().split()
    assert tab.locator("img").count() == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_is_accessible_in_either_theme(opened, scheme):
    tab = opened(color_scheme=scheme)
    tab.select_option("#example", label="a datagram of version 9 (bad_version)")
    tab.wait_for_selector("#fault:visible")
    edit(tab, "- sequence: {type: uint32", "- sequence: {type: unit32")
    tab.wait_for_selector("#stale:visible")
    assert inaccessible(tab) == []


def test_the_server_s_end_is_said(opened, tabs):
    tab = opened()
    tab.route("**/decode", lambda route: route.abort())
    tabs.expected.append("net::ERR_FAILED")
    edit(tab, "- uptime:", "- sinceStart:")
    tab.wait_for_selector("#failure:text('does not answer')")


def test_a_spec_that_takes_too_long_is_said(site, opened):
    tab = opened()
    site.supervisor = Supervisor(site.specs, Limits(seconds=0, memory=1 << 30), _silent)
    edit(tab, "- uptime:", "- sinceStart:")
    tab.wait_for_selector("#failure:text('more than 0 seconds')")
    site.supervisor.end()
    site.supervisor = Supervisor(site.specs, LIMITS)
    edit(tab, "- sinceStart:", "- since:")
    tab.wait_for_selector("#tree .name:text('since')")


def _silent(connection, specs, limits):
    while connection.recv_bytes():
        pass
