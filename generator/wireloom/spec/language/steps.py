"""Steps between fields: checks, verifications, needs, and what is discarded."""

from pydantic import Field

from wireloom.spec.language.base import Code, Document, ExpressionText


class CheckStep(Document):
    """A condition that must hold."""

    that: ExpressionText = Field(description="The condition.", examples=["length >= 18"])
    else_: Code = Field(alias="else", description="The error code if it does not hold.", examples=["bad_length"])
    field: str | None = Field(
        default=None,
        description="The field that the error names; by default the first in `that`.",
        examples=["length"],
    )
    when: ExpressionText | None = Field(
        default=None, description="The check is made only if this holds.", examples=["strict"]
    )
    doc: str = Field(default="", description="A description.", examples=["The header alone has 18 bytes"])


class VerifyStep(Document):
    """Verify a checksum here."""

    field: str = Field(description="The field with the checksum.", examples=["crc"])
    when: ExpressionText | None = Field(default=None, description="Only if this holds.", examples=["verifyCrc"])


class NeedStep(Document):
    """So many bytes must be there, counted from the start of the struct."""

    bytes: ExpressionText = Field(description="Bytes from the struct's start.", examples=["headerLength"])
    field: str | None = Field(
        default=None,
        description="The field that `truncated` names; by default the first in `bytes`.",
        examples=["headerLength"],
    )


class DiscardStep(Document):
    """Empty a list unless a condition holds for all elements."""

    list_: str = Field(alias="list", description="The list.", examples=["records"])
    keep: ExpressionText = Field(
        description="The condition; an expression inside of the element.", examples=["hash >= range.start"]
    )
    count: str = Field(
        description="The `counted` field that receives the number of elements discarded.", examples=["discarded"]
    )
    when: ExpressionText | None = Field(default=None, description="Only if this holds.", examples=["present(range)"])
