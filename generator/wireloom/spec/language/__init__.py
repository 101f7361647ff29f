"""The spec language: every key, its type, its default and its meaning.

One class for each mapping that a spec can hold, 1:1 with the file, in a module for each kind of document; nothing is
looked up or computed here. The loader checks files against these classes, and the published JSON Schema (for editors)
is made from the same ones.
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
