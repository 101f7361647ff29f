"""HTTP for the page, with the standard library: checks the origin and size of requests, and answers them.

Every request must name this host, since the name of a hostile site may resolve to it too, and must carry the token. A
request of a script must also come from the page itself (its Origin). The token is in the URL of the page, and in a
header of all other requests. There is no cookie: browsers would send it to other ports of this machine. Only these
paths exist:

| request | answers |
|---|---|
| GET / | the page |
| POST /specs | the specs of the folder |
| POST /open | the text of a spec by its name, and its digest |
| POST /decode | problems, records and one record, for a spec, edited texts and bytes |
| POST /save | writes a text to the spec that was opened |
"""

import hmac
import ipaddress
import json
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET6
from socketserver import TCPServer
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import parse_qs, urlsplit

from wireloom.failures import MisuseError
from wireloom.serving import folder
from wireloom.serving.page import page
from wireloom.serving.supervisor import OutOfBoundsError, Superseded, Supervisor
from wireloom.serving.work import Limits

LARGEST = 24 << 20
"""The most bytes of a request: 16 MiB of a file as base64, and the specs."""
WAITING = 30
"""Seconds that a client may take for the next bytes of a request."""
CONNECTIONS = 32
"""Requests at the same time; more are closed."""
LIMITS = Limits(seconds=10, memory=1 << 30)
TOKEN = "X-Wireloom-Token"  # noqa: S105 - the header's name
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _RefusedError(Exception):
    """A request that is refused with a status and a sentence."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server(ThreadingHTTPServer):
    """The server of one page; its `url` contains the token."""

    daemon_threads = True

    def __init__(self, specs: Path, first: str, host: str = "127.0.0.1", port: int = 0) -> None:
        """`first` is the spec that the page begins with."""
        if ":" in host:
            self.address_family = AF_INET6
        self.specs, self.first, self.host, self.token = specs, first, host, secrets.token_urlsafe(24)
        self._connections = BoundedSemaphore(CONNECTIONS)
        self.supervisor = Supervisor(specs, LIMITS)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind the socket, without a look-up of this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.host, self.server_address[1]

    @property
    def url(self) -> str:
        """The URL of the page, with the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.server_port}/?token={self.token}"

    def is_host(self, named: str) -> bool:
        """Whether a Host header names this server, by a name that no other site can have."""
        with suppress(ValueError):
            split = urlsplit(f"//{named}")
            if (split.port or 80) != self.server_port or split.hostname is None:
                return False
            return split.hostname in (*_LOOPBACK, self.host) or (self._is_open and _is_address(split.hostname))
        return False

    @property
    def _is_open(self) -> bool:
        """Whether it listens on all addresses."""
        return _is_address(self.host) and ipaddress.ip_address(self.host).is_unspecified

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as socketserver has it
        """Answer in a thread, unless there are too many."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the same
        """Answer."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the same
        """Ignore a client that disconnects."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Close the socket, and end the process."""
        super().server_close()
        self.supervisor.end()


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = WAITING

    def version_string(self) -> str:
        """The Server header; it names no version."""
        return "wireloom"

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the URL has the token."""

    def do_GET(self) -> None:
        """The page."""
        self._guarded(self._page)

    def do_POST(self) -> None:
        """The answers to the page's requests."""
        self._guarded(self._asked)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            self._check_host()
            act()
        except _RefusedError as error:
            self.close_connection = True  # the rest of the request is not read
            self._send(error.status, "application/json", _json({"failure": str(error)}))

    def _check_host(self) -> None:
        if not self.server.is_host(self.headers.get("Host", "")):
            raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "the Host header names another server")

    def _page(self) -> None:
        split = urlsplit(self.path)
        if split.path != "/":
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")
        self._check(parse_qs(split.query).get("token", [""])[0])
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", page(self.server.first, nonce).encode(), policy)

    def _asked(self) -> None:
        answer = _ANSWERS.get(self.path)
        if answer is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")
        self._check(self.headers.get(TOKEN, ""))
        origin = self.headers.get("Origin")
        if origin not in (None, f"http://{self.headers.get('Host')}"):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the request comes from another page")
        status, body = answer(self.server, self._body())
        self._send(status, "application/json", body)

    def _check(self, token: str) -> None:
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            message = "the token is missing or wrong; open the URL that `wireloom serve` has printed"
            raise _RefusedError(HTTPStatus.FORBIDDEN, message)

    def _body(self) -> dict[str, Any]:
        """The body of a request, an object of JSON."""
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdecimal()):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "Content-Length is missing")
        if len(size) > len(str(LARGEST)) or int(size) > LARGEST:
            message = f"the request has {size} bytes; at most {LARGEST} are allowed"
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be JSON")
        try:
            body = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None
        if not isinstance(body, dict):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the body is not an object")
        return body

    def _send(self, status: HTTPStatus, type: str, body: bytes, policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        headers = {
            "Content-Type": type,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


_Answer = tuple[HTTPStatus, bytes]


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _failure(status: HTTPStatus, message: str) -> _Answer:
    return status, _json({"failure": message})


def _texts(body: dict[str, Any], *names: str) -> list[str]:
    """Members of a body that must be texts."""
    found = [body.get(name) for name in names]
    if not all(isinstance(each, str) for each in found):
        raise _RefusedError(HTTPStatus.BAD_REQUEST, f"the body must have {', '.join(names)}")
    return [str(each) for each in found]


def _specs(server: Server, body: dict[str, Any]) -> _Answer:  # noqa: ARG001 - one signature for all
    try:
        return HTTPStatus.OK, _json([asdict(each) for each in folder.listed(server.specs)])
    except (MisuseError, OSError) as error:
        return _failure(HTTPStatus.CONFLICT, str(error))


def _open(server: Server, body: dict[str, Any]) -> _Answer:
    (name,) = _texts(body, "name")
    try:
        data = folder.path_of(server.specs, name).read_bytes()
        return HTTPStatus.OK, _json({"name": name, "text": data.decode(), "digest": folder.digest(data)})
    except (MisuseError, OSError, UnicodeDecodeError) as error:
        return _failure(HTTPStatus.NOT_FOUND, str(error))


def _save(server: Server, body: dict[str, Any]) -> _Answer:
    name, text, digest = _texts(body, "name", "text", "digest")
    try:
        return HTTPStatus.OK, _json({"digest": folder.save(server.specs, name, text, digest)})
    except folder.ChangedError as error:
        return _failure(HTTPStatus.CONFLICT, str(error))
    except (MisuseError, OSError, UnicodeEncodeError) as error:
        return _failure(HTTPStatus.NOT_FOUND, str(error))


def _decode(server: Server, body: dict[str, Any]) -> _Answer:
    _check_wanted(body)
    try:
        return HTTPStatus.OK, server.supervisor.answer(_json(body))
    except Superseded:
        return HTTPStatus.OK, _json({"superseded": True})
    except OutOfBoundsError as error:
        return HTTPStatus.OK, _json({"problems": [], "failure": str(error)})


def _check_wanted(body: dict[str, Any]) -> None:
    _texts(body, "spec", "data", "root", "framing")
    texts, parameters, record = body.get("texts"), body.get("parameters"), body.get("record")
    sound = (
        isinstance(texts, dict)
        and all(isinstance(text, str) for text in texts.values())
        and isinstance(parameters, list)
        and all(isinstance(text, str) for text in parameters)
        and (record is None or (type(record) is int and record >= 0))
    )
    if not sound:
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "the body must have texts, parameters and record")


_ANSWERS: dict[str, Callable[[Server, dict[str, Any]], _Answer]] = {
    "/specs": _specs,
    "/open": _open,
    "/decode": _decode,
    "/save": _save,
}
