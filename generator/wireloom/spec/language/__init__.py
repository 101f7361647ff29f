"""The spec language: every key with its type, default and meaning.

There is one class for each kind of mapping, and one module for each kind of document. The classes mirror the file; they
look up and compute nothing. The loader checks files against them, and the JSON Schema published for editors is
generated from them.
"""

from wireloom.spec.language.base import DECIMAL, Code, Document, ExpressionText, HexText, ScalarValue, TypeText
from wireloom.spec.language.fields import (
    Bits,
    FieldDocument,
    Flattening,
    Jump,
    MappedValue,
    NamedPattern,
    PackingChoice,
    Salvage,
    ValueTable,
)
from wireloom.spec.language.formats import (
    Allowance,
    ByteOrderByParameter,
    Crc,
    Digest,
    Example,
    FormatDocument,
    Limits,
    Lint,
    NamedRange,
    Parameter,
    ParameterByName,
    RootDocument,
    Sum,
)
from wireloom.spec.language.framings import DelimiterFraming, HeaderFraming, PrefixFraming, SizeFraming
from wireloom.spec.language.libraries import LibraryDocument
from wireloom.spec.language.schemas import SchemaDocument, SchemaEntries, SchemaEntry, SchemaField, SchemaType
from wireloom.spec.language.steps import CheckStep, DiscardStep, NeedStep, VerifyStep
from wireloom.spec.language.structs import Entry, FieldForm, NamedType, StructType, Version, Versions
from wireloom.spec.language.types import (
    AttemptType,
    CaseOfVersions,
    Fallback,
    MemberTag,
    OneOfType,
    PeekTag,
    Refusal,
    SelectType,
    Trial,
    Type,
)
