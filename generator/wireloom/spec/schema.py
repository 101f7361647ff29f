"""Generate the published JSON Schema of the language from the classes that the loader checks with."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from wireloom.spec.language import FormatDocument, LibraryDocument, SchemaDocument

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _InOrder(GenerateJsonSchema):
    """Keep keys in the order of the language, which is meant for readers."""

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002 - pydantic's signature
        return value


def language_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a spec file: a format, library or schema, depending on the key that names it."""
    kinds = (FormatDocument, LibraryDocument, SchemaDocument)
    references, definitions = models_json_schema(
        [(kind, "validation") for kind in kinds], by_alias=True, schema_generator=_InOrder
    )
    return {
        "$schema": DIALECT,
        "title": "Wireloom spec language",
        "description": "A format, or a library or a schema that formats share.",
        "type": "object",
        "if": {"required": ["format"]},
        "then": references[FormatDocument, "validation"],
        "else": {
            "if": {"required": ["library"]},
            "then": references[LibraryDocument, "validation"],
            "else": references[SchemaDocument, "validation"],
        },
        **definitions,
    }
