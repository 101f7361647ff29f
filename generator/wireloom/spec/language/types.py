"""Types: a text, or a mapping with `select`, `oneOf` or `attempt`."""

from typing import Annotated

from pydantic import Tag

from wireloom.spec.language.base import (
    Code,
    Document,
    ExpressionText,
    ScalarValue,
    TypeText,
    flag,
    form_by_key,
    key,
    required_key,
)


class PeekTag(Document):
    """Select on an integer or on bytes read ahead without consuming them (binary)."""

    peek: str = required_key("An integer type such as `int8`, or `bytes(1)` to `bytes(8)`.", "int8")


class MemberTag(Document):
    """Select on a member of the JSON object itself."""

    member: str = required_key("The member's name.", "type")
    presence: bool = flag("Select on whether the member is there: cases `true` and `false`.")
    default: ScalarValue = key(
        "The value of an absent member; without a default, the member is required.", example=False
    )


class Refusal(Document):
    """A case that is known and is an error."""

    error: Code = required_key("The code of the error.", "remote_error")


class CaseOfVersions(Document):
    """A case that some versions have."""

    type: TypeText = required_key("The type of its value.", "Area")
    since: str | None = key("The first version that has it.", "v2")
    until: str | None = key("The last version that has it.", "v3")


class SelectType(Document):
    """A union chosen by a tag."""

    select: Annotated[
        Annotated[ExpressionText, Tag("<text>")]
        | Annotated[PeekTag, Tag("<peek>")]
        | Annotated[MemberTag, Tag("<member>")],
        form_by_key({"peek": "<peek>"}, "<member>"),
    ] = required_key("The tag: an expression over earlier fields, `{peek: TYPE}` or `{member: NAME}`.", "kind")
    cases: dict[
        str,
        Annotated[
            Annotated[TypeText, Tag("<text>")]
            | Annotated[CaseOfVersions, Tag("<case>")]
            | Annotated[Refusal, Tag("<error>")],
            form_by_key({"type": "<case>"}, "<error>"),
        ],
    ] = required_key(
        "What each value of the tag selects: a type, `{type: TYPE, since: VERSION}` or `{error: CODE}`. "
        "A key lists values and ranges.",
        {"point": "Point", "line, arc": "Line"},
        min_length=1,
    )
    otherwise: TypeText | None = key(
        "The type for every other value of the tag, null among them; without it, those are an error "
        "(not beside `member`).",
        "Unknown",
    )
    else_: Code | None = key(
        "The error code for a value without a case; by default `unknown_case`.", "unknown_kind", alias="else"
    )
    doc: str = key("What it is.", "A shape.", default="")

    @property
    def types(self) -> list[str]:
        """The types of its cases."""
        given = (case.type if isinstance(case, CaseOfVersions) else case for case in self.cases.values())
        cases = [case for case in given if isinstance(case, str)]
        return cases if self.otherwise is None else [*cases, self.otherwise]


class OneOfType(Document):
    """Alternatives told apart by the kind of value on the wire (MessagePack, JSON)."""

    one_of: dict[str, TypeText] = required_key(
        "The alternatives: name and type.",
        {"nil": "nil", "int": "int", "list": "list(Value)"},
        alias="oneOf",
        min_length=1,
    )
    ext_else: Code | None = key(
        "The error code for an ext value without an alternative; by default `type_mismatch`.",
        "bad_ext_type",
        alias="extElse",
    )
    else_: Code | None = key(
        "The error code for a value without an alternative; by default `type_mismatch`.", "bad_value", alias="else"
    )
    doc: str = key("What it is.", "Any value.", default="")

    @property
    def types(self) -> list[str]:
        """The types of its alternatives."""
        return list(self.one_of.values())


class Fallback(Document):
    """Codes that send an attempt on to its next alternative."""

    codes: list[Code] = required_key("The codes.", ["no_magic", "too_short"], min_length=1)
    when: ExpressionText | None = key("Only if this holds; an expression over parameters.", "on_corrupt != 'error'")


class Trial(Document):
    """One alternative of an attempt."""

    name: str = required_key("Its name, which the `kind` field receives.", "aggregated")
    type: TypeText = required_key("The type of its value.", "Aggregate")
    fallback: list[Fallback] = key("Errors that lead to the next alternative.", [{"codes": ["no_magic"]}], default=[])
    build_when: ExpressionText | None = key(
        "Builders choose it if this holds and the value does not name an alternative.",
        "count(records) != 1",
        alias="buildWhen",
    )


class AttemptType(Document):
    """Alternatives tried in order over the same bytes."""

    attempt: list[Trial] = required_key(
        "The alternatives, in order.",
        [
            {"name": "framed", "type": "Frame", "fallback": [{"codes": ["no_magic"]}]},
            {"name": "plain", "type": "Plain"},
        ],
        min_length=1,
    )
    kind: str | None = key(
        "The field that says which alternative held; `null` hides it from readers.", "kind", default="kind"
    )
    reason: str | None = key(
        "The field with the code that refused the previous alternative; `null` hides it.", "reason", default="reason"
    )
    doc: str = key("What it is.", "A frame, or any other bytes.", default="")

    @property
    def types(self) -> list[str]:
        """The types of its alternatives."""
        return [trial.type for trial in self.attempt]


Type = Annotated[
    Annotated[TypeText, Tag("<text>")] | Annotated[SelectType, Tag("<select>")] | Annotated[OneOfType, Tag("<oneOf>")],
    form_by_key({"oneOf": "<oneOf>"}, "<select>"),
]
