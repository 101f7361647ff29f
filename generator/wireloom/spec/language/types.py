"""Types: a text, or a mapping that selects, tries or falls back."""

from typing import Annotated

from pydantic import Field, Tag

from wireloom.spec.language.base import (
    Code,
    Document,
    ExpressionText,
    ScalarValue,
    TypeText,
    form_by_key,
)


class PeekTag(Document):
    """Select on an integer or on bytes read ahead without consuming them (binary)."""

    peek: str = Field(description="An integer type such as `int8`, or `bytes(1)` to `bytes(8)`.", examples=["int8"])


class MemberTag(Document):
    """Select on a member of the JSON object itself."""

    member: str = Field(description="The member's name.", examples=["type"])
    presence: bool = Field(
        default=False, description="Select on whether the member is there: cases `true` and `false`.", examples=[True]
    )
    default: ScalarValue = Field(
        default=None,
        description="The value of an absent member; without a default, the member is required.",
        examples=[False],
    )


class Refusal(Document):
    """A case that is known and is an error."""

    error: Code = Field(description="The code of the error.", examples=["remote_error"])


class CaseOfVersions(Document):
    """A case that some versions have."""

    type: TypeText = Field(description="The type of its value.", examples=["Area"])
    since: str | None = Field(default=None, description="The first version that has it.", examples=["v2"])
    until: str | None = Field(default=None, description="The last version that has it.", examples=["v3"])


class SelectType(Document):
    """A union chosen by a tag."""

    select: Annotated[
        Annotated[ExpressionText, Tag("<text>")]
        | Annotated[PeekTag, Tag("<peek>")]
        | Annotated[MemberTag, Tag("<member>")],
        form_by_key({"peek": "<peek>"}, "<member>"),
    ] = Field(
        description="The tag: an expression over earlier fields, `{peek: TYPE}` or `{member: NAME}`.", examples=["kind"]
    )
    cases: dict[
        str,
        Annotated[
            Annotated[TypeText, Tag("<text>")]
            | Annotated[CaseOfVersions, Tag("<case>")]
            | Annotated[Refusal, Tag("<error>")],
            form_by_key({"type": "<case>"}, "<error>"),
        ],
    ] = Field(
        min_length=1,
        description="What each value of the tag selects: a type, `{type: TYPE, since: VERSION}` or `{error: CODE}`. "
        "A key lists values and ranges.",
        examples=[{"point": "Point", "line, arc": "Line"}],
    )
    otherwise: TypeText | None = Field(
        default=None,
        description="The type for every other value of the tag, null among them; without it, those are an error "
        "(not beside `member`).",
        examples=["Unknown"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for a value without a case; by default `unknown_case`.",
        examples=["unknown_kind"],
    )
    doc: str = Field(default="", description="What it is.", examples=["A shape."])

    @property
    def types(self) -> list[str]:
        """The types of its cases."""
        given = (case.type if isinstance(case, CaseOfVersions) else case for case in self.cases.values())
        cases = [case for case in given if isinstance(case, str)]
        return cases if self.otherwise is None else [*cases, self.otherwise]


class OneOfType(Document):
    """Alternatives told apart by the kind of value on the wire (MessagePack, JSON)."""

    one_of: dict[str, TypeText] = Field(
        alias="oneOf",
        min_length=1,
        description="The alternatives: name and type.",
        examples=[{"nil": "nil", "int": "int", "list": "list(Value)"}],
    )
    ext_else: Code | None = Field(
        default=None,
        alias="extElse",
        description="The error code for an ext value without an alternative; by default `type_mismatch`.",
        examples=["bad_ext_type"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for a value without an alternative; by default `type_mismatch`.",
        examples=["bad_value"],
    )
    doc: str = Field(default="", description="What it is.", examples=["Any value."])

    @property
    def types(self) -> list[str]:
        """The types of its alternatives."""
        return list(self.one_of.values())


class Fallback(Document):
    """Codes that send an attempt on to its next alternative."""

    codes: list[Code] = Field(min_length=1, description="The codes.", examples=[["no_magic", "too_short"]])
    when: ExpressionText | None = Field(
        default=None,
        description="Only if this holds; an expression over parameters.",
        examples=["on_corrupt != 'error'"],
    )


class Trial(Document):
    """One alternative of an attempt."""

    name: str = Field(description="Its name, which the `kind` field receives.", examples=["aggregated"])
    type: TypeText = Field(description="The type of its value.", examples=["Aggregate"])
    fallback: list[Fallback] = Field(
        default=[],
        description="Errors that lead to the next alternative.",
        examples=[[{"codes": ["no_magic"]}]],
    )
    build_when: ExpressionText | None = Field(
        default=None,
        alias="buildWhen",
        description="Builders choose it if this holds and the value does not name an alternative.",
        examples=["count(records) != 1"],
    )


class AttemptType(Document):
    """Alternatives tried in order over the same bytes."""

    attempt: list[Trial] = Field(
        min_length=1,
        description="The alternatives, in order.",
        examples=[
            [
                {"name": "framed", "type": "Frame", "fallback": [{"codes": ["no_magic"]}]},
                {"name": "plain", "type": "Plain"},
            ]
        ],
    )
    kind: str | None = Field(
        default="kind",
        description="The field that says which alternative held; `null` hides it from readers.",
        examples=["kind"],
    )
    reason: str | None = Field(
        default="reason",
        description="The field with the code that refused the previous alternative; `null` hides it.",
        examples=["reason"],
    )
    doc: str = Field(default="", description="What it is.", examples=["A frame, or any other bytes."])

    @property
    def types(self) -> list[str]:
        """The types of its alternatives."""
        return [trial.type for trial in self.attempt]


Type = Annotated[
    Annotated[TypeText, Tag("<text>")] | Annotated[SelectType, Tag("<select>")] | Annotated[OneOfType, Tag("<oneOf>")],
    form_by_key({"oneOf": "<oneOf>"}, "<select>"),
]
