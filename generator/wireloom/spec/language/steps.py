"""Steps between fields: checks, verifications, needs, and what is discarded."""

from pydantic import Field

from wireloom.spec.language.base import Code, Document, ExpressionText


class CheckStep(Document):
    """A condition that must hold."""

    that: ExpressionText = Field(description="The condition.", examples=["length >= 18"])
    else_: Code = Field(alias="else", description="The code where it does not hold.", examples=["bad_length"])
    field: str | None = Field(
        default=None,
        description="The field that the error names; the first one in `that` if not given.",
        examples=["length"],
    )
    when: ExpressionText | None = Field(default=None, description="Only checked while this holds.", examples=["strict"])
    doc: str = Field(default="", description="Why.", examples=["The header alone has 18 bytes"])


class VerifyStep(Document):
    """Verify a checksum here."""

    field: str = Field(description="The field that holds it.", examples=["crc"])
    when: ExpressionText | None = Field(default=None, description="Only while this holds.", examples=["verifyCrc"])


class NeedStep(Document):
    """So many bytes must be there."""

    bytes: ExpressionText = Field(description="Bytes from the struct's start.", examples=["headerLength"])
    field: str | None = Field(
        default=None,
        description="The field that `truncated` names; the first one in `bytes` if not given.",
        examples=["headerLength"],
    )


class DiscardStep(Document):
    """Empty a list unless a condition holds for each element."""

    list_: str = Field(alias="list", description="The list.", examples=["records"])
    keep: ExpressionText = Field(
        description="The condition, in the scope of an element.", examples=["hash >= range.start"]
    )
    count: str = Field(
        description="The `counted` field that receives the number of elements discarded.", examples=["discarded"]
    )
    when: ExpressionText | None = Field(default=None, description="Only while this holds.", examples=["present(range)"])
