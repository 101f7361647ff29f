"""`serve`: a local web page that decodes records while you edit their spec."""

import ipaddress
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.options import SPECS, Specs, refuse_no_folder
from wireloom.cli.terminal.console import note, refuse_closed_output, say
from wireloom.failures import MachineError

if TYPE_CHECKING:
    from wireloom.serving.server import Server

LOOPBACK, PORT = "127.0.0.1", 8737


def serve(
    format: Annotated[
        str | None, typer.Argument(metavar="[FORMAT]", help="The format to begin with; by default, the first.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Listen on this address; others can then connect.")
    ] = LOOPBACK,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help=f"Listen on this port; by default, on {PORT} or a free one."
        ),
    ] = None,
    specs: Specs = SPECS,
) -> None:
    """Edit a spec in a browser, and see records decode.

    Prints the URL of a page. Choose a format there, and paste hex, base64 or text, or drop a file. Every field is shown
    beside its bytes, and a fault is marked. Edit the spec: the fields and the problems change as you type. Nothing is
    written until you save.

    The page is on this machine only, and its URL has a token. No file is generated. Ctrl-C ends it.

    \b
    Examples:
      wireloom serve                          the specs in specs/
      wireloom serve heartbeat --specs mine
    """
    refuse_closed_output()
    refuse_no_folder(specs)
    from wireloom.serving import folder

    server = _listening(specs, folder.chosen(specs, format), host, port)
    if not _is_loopback(host):
        note(
            f"warning: --host {host}: other machines can connect. The token and the records are sent without encryption"
        )
    say(f"open {server.url}", "Ctrl-C ends it")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.supervisor.start()
        server.serve_forever()
    except KeyboardInterrupt:
        note("stopped")
    finally:
        server.server_close()


def _listening(specs: Path, first: str, host: str, port: int | None) -> "Server":
    """The server on the given port. Without one, it takes the default port, or a free one if that is taken."""
    from wireloom.serving.server import Server

    if port is None:
        with suppress(OSError):
            return Server(specs, first, host, PORT)
    try:
        return Server(specs, first, host, port or 0)
    except OSError as error:
        named = host if port is None else f"{host}, port {port}"
        remedy = "wireloom serve" if port is None else "wireloom serve --port 0"
        raise MachineError(f"cannot listen on {named}: {error.strerror}", remedy) from error


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
