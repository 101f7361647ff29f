"""The server of `serve`: who may ask, the results of an edit, saving, and the limits of its process."""

import base64
import http.client
import json
import re
import shutil
import threading
import time
from contextlib import closing, contextmanager
from itertools import accumulate

import pytest
from typer.testing import CliRunner

from conftest import CASES, ROOT, SPECS
from wireloom.cli.app import app
from wireloom.serving import folder, server, supervisor
from wireloom.serving.supervisor import OutOfBoundsError, Superseded, Supervisor
from wireloom.serving.work import LISTED, Limits, Work

pytestmark = pytest.mark.integration
NAME = "netflow/netflow_v5.yaml"
RECORD = (ROOT / "samples" / "netflow_v5" / "good-000.bin").read_bytes()
LIMITS = Limits(seconds=60, memory=1 << 30)


@contextmanager
def served(specs, first=NAME):
    running = server.Server(specs, first)
    running.supervisor = Supervisor(specs, LIMITS)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(scope="module")
def site():
    with served(SPECS) as running:
        yield running


def send(site, method, path, body=None, **headers):
    """The response, and its body."""
    with closing(http.client.HTTPConnection("127.0.0.1", site.server_port)) as connection:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response, response.read()


def ask(site, path, body, status=200, **headers):
    given = {server.TOKEN: site.token, "Content-Type": "application/json", **headers}
    response, data = send(site, "POST", path, json.dumps(body), **given)
    assert response.status == status, data
    return json.loads(data)


def wanted(data=RECORD, spec=NAME, texts=None, **others):
    encoded = base64.b64encode(data).decode()
    request = {"spec": spec, "texts": texts or {}, "data": encoded, "root": "", "framing": "", "parameters": []}
    return {**request, "record": None, **others}


def edited(before, after, name=NAME, specs=SPECS):
    text = (specs / name).read_text()
    assert before in text
    return {name: text.replace(before, after)}


def values(answer):
    """The values of a record's fields, by their names."""
    record = answer["record"]
    names, shown = (accumulate(record["columns"][column]) for column in (4, 6))
    return {record["texts"][name]: record["texts"][value] for name, value in zip(names, shown, strict=True)}


# --- who may ask


def test_the_page_needs_the_token(site):
    for path in ("/", "/?token=", "/?token=%ff", f"/?token={site.token[:-1]}"):
        response, data = send(site, "GET", path)
        assert response.status == 403
        assert b"<" not in data
    assert send(site, "GET", f"/?token={site.token}")[0].status == 200


def test_the_page_runs_its_own_script_alone_and_holds_nothing_of_the_specs(site):
    seen = set()
    for _ in range(2):
        response, data = send(site, "GET", f"/?token={site.token}")
        policy = response.headers["Content-Security-Policy"]
        nonce = re.search(r"script-src 'nonce-([\w-]+)'; style-src 'nonce-\1'", policy)[1]
        assert policy.startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Cache-Control"] == "no-store"
        assert re.findall(rb"<script(?! type=.application/json)([^>]*)>", data) == [f' nonce="{nonce}"'.encode()]
        assert b"NetFlow" not in data
        assert not re.search(rb"""(src|href|action)="(?!data:,")""", data.partition(b"<script")[0])
        seen.add(nonce)
    assert len(seen) == 2


@pytest.mark.parametrize("path", ["/specs", "/open", "/decode", "/save"])
def test_nothing_is_answered_without_the_token(site, path):
    for token in ("", "x", site.token[1:]):
        assert "token" in ask(site, path, {}, 403, **{server.TOKEN: token})["failure"]


@pytest.mark.parametrize(
    "host", ["evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost:{port}.evil.example", "192.0.2.1:{port}"]
)
def test_another_host_is_refused(site, host):
    named = host.format(port=site.server_port)
    assert send(site, "GET", f"/?token={site.token}", Host=named)[0].status == 421
    assert ask(site, "/specs", {}, 421, Host=named)


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}", "127.0.0.1:{port}"])
def test_this_host_has_several_names(site, host):
    assert send(site, "GET", f"/?token={site.token}", Host=host.format(port=site.server_port))[0].status == 200


def test_another_page_is_refused(site):
    for origin in ("http://evil.example", "null", "https://127.0.0.1", f"http://localhost:{site.server_port}"):
        assert ask(site, "/specs", {}, 403, Origin=origin)
    assert ask(site, "/specs", {}, Origin=f"http://127.0.0.1:{site.server_port}")


@pytest.mark.parametrize("path", ["/index.html", "/../pyproject.toml", "/specs/" + NAME, "//etc/passwd", "/open/x"])
def test_no_path_is_looked_up(site, path):
    assert send(site, "GET", f"{path}?token={site.token}")[0].status == 404
    assert ask(site, path, {}, 404)


@pytest.mark.parametrize(
    "name", ["../pyproject.toml", "/etc/passwd", str(SPECS / NAME), "netflow/../" + NAME, "", "README.md"]
)
def test_only_specs_of_the_folder_are_opened_decoded_and_saved(site, name):
    assert ask(site, "/open", {"name": name}, 404)
    assert ask(site, "/save", {"name": name, "text": "", "digest": ""}, 404)
    assert "is not a spec" in ask(site, "/decode", wanted(spec=name))["failure"]


# --- what is asked


def test_bodies_are_limited_and_checked(site):
    def status(body, **headers):
        return send(site, "POST", "/specs", body, **{server.TOKEN: site.token, **headers})[0].status

    json_type = {"Content-Type": "application/json"}
    assert status(None, Content_Length=str(server.LARGEST + 1), **json_type) == 413
    assert status(None, Content_Length="9" * 5000, **json_type) == 413
    assert status(iter([b"{}"]), Transfer_Encoding="chunked", **json_type) == 411
    assert status(b"{}", Content_Length="-2", **json_type) == 411
    assert status(b"{}", Content_Type="text/plain") == 415
    assert status(b"{", **json_type) == 400
    assert status(b"[]", **json_type) == 400
    assert status(b"[" * 100_000, **json_type) == 400
    assert status(b"\xff", **json_type) == 400


@pytest.mark.parametrize(
    "change",
    [
        {"texts": [1]},
        {"texts": {NAME: 1}},
        {"parameters": "a"},
        {"parameters": [1]},
        {"record": -1},
        {"record": "1"},
        {"record": True},
        {"data": None},
        {"spec": 1},
    ],
)
def test_a_request_of_another_form_is_refused(site, change):
    assert ask(site, "/decode", wanted() | change, 400)["failure"].startswith("the body must have")


def test_invalid_base64_and_invalid_text_are_reported(site):
    assert "failure" in ask(site, "/decode", wanted() | {"data": "a"})
    assert "not UTF-8" in ask(site, "/decode", wanted(texts={NAME: "\ud800"}))["problems"][0]["text"]


# --- what is shown


def test_a_record_is_decoded_by_the_spec_as_it_is_edited(site):
    first = ask(site, "/decode", wanted())
    assert values(first)["uptime"] == "3600000"
    assert first["problems"] == []
    again = ask(site, "/decode", wanted(texts=edited("uptime:", "upTime:")))
    assert values(again)["upTime"] == "3600000"
    assert "uptime" not in values(again)


def test_examples_that_no_longer_fit_are_said_and_stop_nothing(site):
    answer = ask(site, "/decode", wanted(texts=edited("else: bad_version", "else: bad_count")))
    assert values(answer)["uptime"] == "3600000"
    assert ("error", "example-outcome") in {(each["level"], each["id"]) for each in answer["problems"]}


def test_problems_are_shown_with_their_place(site):
    texts = edited("type: uint16, const: 5", "type: unit16, const: 5")
    (problem,) = ask(site, "/decode", wanted(texts=texts))["problems"]
    line = texts[NAME].split("\n")[problem["line"] - 1]
    assert line[problem["column"] - 1 :].startswith("unit16")
    assert (problem["level"], problem["id"], problem["file"]) == ("error", "unknown-type", NAME)
    assert "uint16" in problem["text"]


def test_a_text_that_is_no_yaml_is_a_problem(site):
    for text in ("", "format: [", "a: 1\nb: {", "\x00"):
        answer = ask(site, "/decode", wanted(texts={NAME: text}))
        assert answer["problems"]
        assert "record" not in answer


def test_a_fault_is_marked_and_leads_to_the_line_of_the_spec(site):
    answer = ask(site, "/decode", wanted(b"\x00\x09" + RECORD[2:]))
    fault = answer["record"]["fault"]
    assert (fault["start"], fault["end"]) == (0, 2)
    said = dict(fault["said"])
    assert said["Code"].startswith("bad_version")
    place, line = said["Spec"].removeprefix(answer["folder"]).split(":")
    assert place == NAME
    assert "version" in (SPECS / NAME).read_text().split("\n")[int(line) - 1]


def test_the_menus_offer_examples_roots_and_parameters(site):
    found = ask(site, "/decode", wanted(b"", spec="pcap/pcap_file.yaml"))["format"]
    assert len(found["roots"]) > 1
    assert {"name", "doc", "default", "options"} <= set(found["parameters"][0])
    for example in found["examples"]:
        given = [f"{name}={value}" for name, value in example["parameters"].items()]
        request = wanted(base64.b64decode(example["data"]), "pcap/pcap_file.yaml", framing="none")
        answer = ask(site, "/decode", request | {"root": example["root"], "parameters": given})
        assert (answer["record"]["fault"] is not None) == (example["error"] is not None), example["name"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parameters": ["x=1"]}, "'x' is not a parameter"),
        ({"framing": "sideways"}, "framing must be one of"),
        ({"root": "x"}, "x"),
        ({"record": 7}, "has no record 7"),
    ],
)
def test_an_invalid_request_is_answered_with_the_reason(site, change, said):
    answer = ask(site, "/decode", wanted() | change)
    assert said in answer["failure"]
    assert answer["format"]["name"] == "netflow_v5"


def test_a_stream_is_a_list_of_records_and_the_first_bad_one_is_shown(site):
    stream = RECORD + RECORD[:2] + b"\x00\x1f" + RECORD[4:24] + RECORD
    answer = ask(site, "/decode", wanted(stream, framing="size:24"))
    assert [each[:3] for each in answer["records"]][:2] == [[0, 0, 24], [1, 24, 24]]
    assert answer["records"][answer["record"]["number"]][3]
    chosen = ask(site, "/decode", wanted(RECORD * 2, framing="concatenated", record=1))
    assert [each[3] for each in chosen["records"]] == ["", ""]
    assert chosen["record"]["number"] == 1
    assert not chosen["more"]


def test_a_record_beyond_those_listed_is_found_by_its_number(site):
    empty = RECORD[:2] + b"\x00\x00" + RECORD[4:24]
    answer = ask(site, "/decode", wanted(empty * (LISTED + 5), framing="concatenated", record=LISTED + 3))
    assert (len(answer["records"]), answer["more"], answer["record"]["number"]) == (LISTED, True, LISTED + 3)


def test_a_library_is_edited_beside_the_spec_that_imports_it(tmp_path):
    (tmp_path / "parts.yaml").write_text(
        "wireloom: 1\nlibrary: parts\ntitle: Parts\nencoding: binary\ntypes:\n  Head: {fields: [{kind: uint8}]}\n"
    )
    root = "imports: [parts]\nroot: R\ntypes:\n  R:\n    fields:\n      - head: Head\n"
    spec = f"wireloom: 1\nformat: made\ntitle: Made\nencoding: binary\n{root}"
    (tmp_path / "made.yaml").write_text(spec)
    (tmp_path / "broken.yaml").write_text("wireloom: 1\nformat: broken\nencoding: sideways\n")
    work = Work(tmp_path)
    first = work.answer(wanted(b"\x07", "made.yaml"))
    assert first["shared"] == ["parts.yaml"]
    assert values(first)["kind"] == "7"
    second = work.answer(wanted(b"\x07", "made.yaml", edited("kind: uint8", "sort: int8", "parts.yaml", tmp_path)))
    assert values(second)["sort"] == "7"
    third = work.answer(wanted(b"\x07", "made.yaml", edited("kind: uint8", "sort: int9x", "parts.yaml", tmp_path)))
    assert third["problems"][0]["file"] == "parts.yaml"
    (tmp_path / "parts.yaml").write_text((tmp_path / "parts.yaml").read_text().replace("kind", "form"))
    assert values(work.answer(wanted(b"\x07", "made.yaml")))["form"] == "7"  # a change on disk counts, too
    work.close()


def test_specs_with_mistakes_are_listed_and_libraries_are_not(tmp_path):
    shutil.copy(SPECS / NAME, tmp_path / "b.yaml")
    (tmp_path / "a.yaml").write_text("format: [")
    (tmp_path / "lib.yaml").write_text("wireloom: 1\nlibrary: lib\ntitle: Lib\ntypes: {}\n")
    assert [(each.name, each.format) for each in folder.listed(tmp_path)] == [("a.yaml", ""), ("b.yaml", "netflow_v5")]


def test_an_edit_costs_the_generation_of_one_format_and_other_bytes_cost_none(monkeypatch):
    loaded, made = [], []
    monkeypatch.setattr("wireloom.serving.work.load", lambda *given: loaded.append(given[0][0]) or load(*given))
    monkeypatch.setattr("wireloom.serving.work.emit", lambda format: made.append(format.name) or emit(format))
    from wireloom.pipeline import emit
    from wireloom.spec import load

    work = Work(SPECS)
    work.answer(wanted())
    assert made == ["netflow_v5"]
    loaded.clear()
    work.answer(wanted(RECORD[:24]))
    assert (loaded, made) == ([], ["netflow_v5"])
    work.answer(wanted(texts=edited("uptime:", "upTime:")))
    assert ([path.name for path in loaded], made) == (["netflow_v5.yaml"], ["netflow_v5"] * 2)
    work.close()


def test_specs_that_import_libraries_of_the_folder_are_shown():
    work = Work(CASES / "imports")
    for each in folder.listed(CASES / "imports"):
        answer = work.answer(wanted(b"\x00", each.name))
        assert not [problem for problem in answer["problems"] if problem["level"] == "error"], each
        assert "record" in answer or "failure" in answer
    work.close()


# --- what is saved


@pytest.fixture
def own(tmp_path):
    shutil.copy(SPECS / NAME, tmp_path / "a.yaml")
    with served(tmp_path, "a.yaml") as running:
        yield running, tmp_path / "a.yaml"


def test_only_saving_writes(own):
    site, path = own
    before = path.read_text()
    found = ask(site, "/open", {"name": "a.yaml"})
    assert found["text"] == before
    text = before.replace("uptime:", "upTime:")
    assert "upTime" in values(ask(site, "/decode", wanted(spec="a.yaml", texts={"a.yaml": text})))
    assert path.read_text() == before
    path.chmod(0o640)
    saved = ask(site, "/save", {"name": "a.yaml", "text": text, "digest": found["digest"]})
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o640
    assert saved["digest"] == folder.digest(text.encode())
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.yaml"]


def test_a_file_that_was_changed_meanwhile_is_not_written(own):
    site, path = own
    found = ask(site, "/open", {"name": "a.yaml"})
    path.write_text(f"{found['text']}\n# somebody else\n")
    answer = ask(site, "/save", {"name": "a.yaml", "text": "mine", "digest": found["digest"]}, 409)
    assert "changed on disk" in answer["failure"]
    assert path.read_text().endswith("# somebody else\n")


def test_line_ends_stay_as_they_are(own):
    site, path = own
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = ask(site, "/open", {"name": "a.yaml"})
    assert "\r\n" in found["text"]
    ask(site, "/save", {"name": "a.yaml", "text": found["text"], "digest": found["digest"]})
    assert folder.digest(path.read_bytes()) == found["digest"]


# --- the process


def stuck(connection, specs, limits):
    """A process that answers nothing but the text `quick`."""
    while True:
        request = connection.recv_bytes()
        if request == b"quick":
            connection.send_bytes(request)


def crashing(connection, specs, limits):
    connection.recv_bytes()
    raise SystemExit(supervisor.CRASHED)


@pytest.fixture
def supervised():
    made = []

    def of(target, limits):
        running = Supervisor(SPECS, limits, target)
        made.append(running)
        return running

    yield of
    for each in made:
        each.end()


def test_a_request_that_takes_too_long_ends_the_process_and_the_next_begins_another(supervised):
    running = supervised(stuck, Limits(seconds=0, memory=1 << 30))
    with pytest.raises(OutOfBoundsError, match="more than 0 seconds"):
        running.answer(b"slow")
    running._limits = LIMITS
    assert running.answer(b"quick") == b"quick"
    assert running.answer(b"quick") == b"quick"
    assert running.started == 2


def test_the_newest_request_wins(supervised, monkeypatch):
    monkeypatch.setattr(supervisor, "PATIENCE", 0)
    running, outcomes = supervised(stuck, LIMITS), []

    def first():
        try:
            outcomes.append(running.answer(b"slow"))
        except Superseded:
            outcomes.append("superseded")

    thread = threading.Thread(target=first)
    thread.start()
    while not running._turn.locked():
        time.sleep(0.01)
    assert running.answer(b"quick") == b"quick"
    thread.join()
    assert outcomes == ["superseded"]


def test_a_process_that_crashes_is_said_and_replaced(supervised):
    running = supervised(crashing, LIMITS)
    for started in (1, 2):
        with pytest.raises(OutOfBoundsError, match="mistake of Wireloom"):
            running.answer(b"x")
        assert running.started == started


def test_the_memory_of_the_process_is_bounded(tmp_path):
    types = "types: {R: {fields: [{items: list(uint8)}]}}\n"
    text = f"wireloom: 1\nformat: wide\ntitle: Wide\nencoding: binary\nroot: R\n{types}"
    (tmp_path / "wide.yaml").write_text(text)
    running = Supervisor(tmp_path, Limits(seconds=600, memory=300 << 20))
    assert json.loads(running.answer(json.dumps(wanted(b"\x00", "wide.yaml")).encode()))["record"]
    with pytest.raises(OutOfBoundsError, match="more than 300 MiB"):
        running.answer(json.dumps(wanted(bytes(1 << 20), "wide.yaml")).encode())
    assert json.loads(running.answer(json.dumps(wanted(b"\x00", "wide.yaml")).encode()))["record"]
    running.end()


def test_too_many_connections_are_closed(site):
    taken = 0
    while site._connections.acquire(blocking=False):
        taken += 1
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        send(site, "GET", "/")
    for _ in range(taken):
        site._connections.release()
    assert send(site, "GET", "/")[0].status == 403


# --- the command


def test_the_command_names_what_is_wrong(tmp_path):
    run = CliRunner().invoke
    assert "no folder" in run(app, ["serve", "--specs", str(tmp_path / "none")]).stderr
    assert "no spec of a format" in run(app, ["serve", "--specs", str(tmp_path)]).stderr
    result = run(app, ["serve", "netflow_v6", "--specs", str(SPECS)])
    assert (result.exit_code, "did you mean netflow_v5?" in result.stderr) == (2, True)


def test_the_command_listens_on_loopback_prints_the_url_and_stops(monkeypatch):
    seen = []

    def interrupted(self):
        seen.append(self.server_address[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(server.Server, "serve_forever", interrupted)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    result = CliRunner().invoke(app, ["serve", "netflow_v5", "--specs", str(SPECS), "--port", "0"])
    assert result.exit_code == 0
    assert re.fullmatch(r"open http://127\.0\.0\.1:\d+/\?token=[\w-]{32}\nCtrl-C ends it\n", result.stdout)
    assert result.stderr == "stopped\n"
    other = CliRunner().invoke(app, ["serve", "--specs", str(SPECS), "--port", "0", "--host", "0.0.0.0"])  # noqa: S104
    assert "other machines can connect" in other.stderr
    assert seen == ["127.0.0.1", "0.0.0.0"]  # noqa: S104


def test_a_port_that_is_taken_is_said(site):
    result = CliRunner().invoke(app, ["serve", "--specs", str(SPECS), "--port", str(site.server_port)])
    assert (result.exit_code, f"port {site.server_port}" in result.stderr) == (3, True)
