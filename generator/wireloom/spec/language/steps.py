"""Steps between fields: check, verify, need and discard."""

from wireloom.spec.language.base import Code, Document, ExpressionText, key, required_key


class CheckStep(Document):
    """A condition that must hold."""

    that: ExpressionText = required_key("The condition.", "length >= 18")
    else_: Code = required_key("The error code if it does not hold.", "bad_length", alias="else")
    field: str | None = key("The field that the error names; by default the first in `that`.", "length")
    when: ExpressionText | None = key("The check is made only if this holds.", "strict")
    doc: str = key("A description.", "The header alone has 18 bytes", default="")


class VerifyStep(Document):
    """Verify a checksum here."""

    field: str = required_key("The field with the checksum.", "crc")
    when: ExpressionText | None = key("Only if this holds.", "verifyCrc")


class NeedStep(Document):
    """This many bytes must be present, counted from the start of the struct."""

    bytes: ExpressionText = required_key("Bytes from the struct's start.", "headerLength")
    field: str | None = key("The field that `truncated` names; by default the first in `bytes`.", "headerLength")


class DiscardStep(Document):
    """Empty a list unless a condition holds for all elements."""

    list_: str = required_key("The list.", "records", alias="list")
    keep: ExpressionText = required_key("The condition; an expression inside of the element.", "hash >= range.start")
    count: str = required_key("The `counted` field that receives the number of elements discarded.", "discarded")
    when: ExpressionText | None = key("Only if this holds.", "present(range)")
