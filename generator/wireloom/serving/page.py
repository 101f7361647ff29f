"""The page: the record as `inspect --html` shows it, beside the bytes and the spec. It holds no text of a spec."""

from pathlib import Path

from wireloom.escapes import html_text, script_json
from wireloom.inspection import page as inspected

_HERE = Path(__file__).parent


def page(first: str, nonce: str) -> str:
    """The page, which opens with the given spec. Its policy allows only the script and style with this `nonce`."""
    template = inspected.templates(_HERE, Path(inspected.__file__).parent).get_template("serve.html.jinja")
    style, script = ((inspected.asset(f"page.{kind}"), _asset(f"serve.{kind}")) for kind in ("css", "js"))
    return template.render(
        nonce=html_text(nonce), first=script_json(first), style="\n".join(style), script="\n".join(script)
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
