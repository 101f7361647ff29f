"""Shared parts of all document classes: scalar types, the base class of mappings, and discriminators of unions."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, WithJsonSchema, model_validator
from pydantic.functional_validators import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from wireloom.encodings import ENCODINGS


def _expression(value: object) -> object:
    if isinstance(value, str | int):
        return value
    raise PydanticCustomError("expression", "an expression")


def _scalar(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    raise PydanticCustomError("scalar", "a text, a number, true, false or null")


ExpressionText = Annotated[
    Any, AfterValidator(_expression), WithJsonSchema({"type": ["string", "integer", "boolean"], "format": "expression"})
]
ScalarValue = Annotated[Any, AfterValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean", "null"]})]
HexText = Annotated[
    Any, AfterValidator(_expression), WithJsonSchema({"type": ["string", "integer"], "format": "hexadecimal"})
]
CHARSETS = (
    "utf-8",
    "ascii",
    "latin-1",
    *(f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
    *(f"cp{page}" for page in ("037", 273, 437, 500, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864)),
    *(f"cp{page}" for page in (865, 866, 869, 874, 1026, 1125, 1140, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257)),
    "cp1258",
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "utf-16le",
    "utf-16be",
)
Charset = Literal[CHARSETS]  # type: ignore[valid-type]
_LOGICAL = (
    *("timestamp", "date", "uuid", "ipv4", "ipv6", "mac", "float"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
DECIMAL = r"decimal\([0-9]{1,9}, ?[0-9]{1,9}\)"
"""The pattern of the type of decimals: the total number of digits, and the digits after the point."""


def _logical(value: object) -> object:
    if isinstance(value, str) and (value in _LOGICAL or re.fullmatch(DECIMAL, value)):
        return value
    options = ", ".join(repr(each) for each in (*_LOGICAL, "decimal(10, 2)"))
    raise PydanticCustomError("literal_error", "one of {expected}", {"expected": options})


def _encoding(value: object) -> object:
    if isinstance(value, str) and value in ENCODINGS:
        return value
    raise PydanticCustomError("literal_error", "one of {expected}", {"expected": ", ".join(map(repr, ENCODINGS))})


EncodingName = Annotated[str, BeforeValidator(_encoding), WithJsonSchema({"enum": [*ENCODINGS], "type": "string"})]
LogicalText = Annotated[
    Any,
    AfterValidator(_logical),
    WithJsonSchema({"anyOf": [{"enum": list(_LOGICAL)}, {"type": "string", "pattern": f"^{DECIMAL}$"}]}),
]
Code = Annotated[str, WithJsonSchema({"type": "string", "format": "code"})]
TypeText = Annotated[str, WithJsonSchema({"type": "string", "format": "type"})]


def key(description: str, example: object, *, default: object = None, **rules: Any) -> Any:  # noqa: ANN401
    """An optional key, with its description and an example of its value."""
    return Field(default=default, description=description, examples=[example], **rules)


def flag(description: str, **rules: Any) -> Any:  # noqa: ANN401 - as pydantic's own
    """An optional key that is false by default."""
    return key(description, example=True, default=False, **rules)


def required_key(description: str, example: object, **rules: Any) -> Any:  # noqa: ANN401 - as pydantic's own
    """A required key, with its description and an example of its value."""
    return Field(description=description, examples=[example], **rules)


class Document(BaseModel):
    """Base class of the language's mappings; it rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False, protected_namespaces=())

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys as specs write them."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @property
    def given(self) -> frozenset[str]:
        """The keys that this mapping contains, as specs write them."""
        fields = type(self).model_fields
        return frozenset(fields[name].alias or name for name in self.model_fields_set)

    @model_validator(mode="before")
    @classmethod
    def _note_class(cls, data: object, info: ValidationInfo) -> object:
        """Tell the loader which class checked this mapping, so that its messages can name the allowed keys."""
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return data


def form_by_key(keys: Mapping[str, str], otherwise: str) -> Discriminator:
    """Tell the forms of a value apart: a text, or a mapping that contains one of `keys`."""

    def form(value: object) -> str:
        if isinstance(value, Mapping):
            return next((tag for key, tag in keys.items() if key in value), otherwise)
        return "<text>"

    return Discriminator(form)


def mapping_or_list(tag: str) -> Discriminator:
    """Tell a mapping from a list."""
    return Discriminator(lambda value: tag if isinstance(value, Mapping) else "<list>")


_Text = TypeVar("_Text")
_Other = TypeVar("_Other")
TextOrList = Annotated[
    Annotated[_Text, Tag("<text>")] | Annotated[_Other, Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<text>"),
]
TextOrMapping = Annotated[
    Annotated[_Text, Tag("<text>")] | Annotated[_Other, Tag("<mapping>")],
    Discriminator(lambda value: "<mapping>" if isinstance(value, Mapping) else "<text>"),
]
"""Unions of two forms, told apart by the kind of the YAML value."""
