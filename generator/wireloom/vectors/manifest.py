"""Vectors as a JSON document, and the check of a codec against it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wireloom.model.format import Format
from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError

FORM = "wireloom-vectors-1"


@dataclass(frozen=True, slots=True)
class Vector:
    """Bytes with their canonical JSON rendering, or with their error.

    `rebuilds` if building the value gives the same bytes.
    """

    name: str
    data: bytes
    root: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    value: object = None
    rebuilds: bool = True
    error: str = ""
    path: str = ""
    offset: int = 0

    def entry(self) -> dict[str, object]:
        """The vector as an entry of the document."""
        head = {"name": self.name, "hex": self.data.hex(), "root": self.root, "parameters": dict(self.parameters)}
        if self.error:
            return {**head, "error": self.error, "path": self.path, "offset": self.offset}
        return {**head, "value": self.value, "rebuilds": self.rebuilds}


def document(format: Format, vectors: Sequence[Vector]) -> dict[str, object]:
    """The document of a format's vectors."""
    return {
        "form": FORM,
        "format": format.name,
        "title": format.title,
        "encoding": format.encoding.name,
        "spec": format.spec,
        "sha256": format.digest,
        "vectors": [vector.entry() for vector in vectors],
    }


def recognises(manifest: Mapping[str, Any]) -> bool:
    """Whether a document is a manifest of vectors."""
    return manifest.get("form") == FORM


def findings(codec: Codec, vector: Mapping[str, Any]) -> Iterator[str]:
    """The differences between a codec and a vector of a document."""
    data, given = bytes.fromhex(vector["hex"]), {"root": vector["root"], **vector["parameters"]}
    try:
        value = codec.parse(data, **given)
    except DecodeError as error:
        came = {"error": error.code, "path": error.path, "offset": error.offset}
        wanted = {name: vector.get(name) for name in came}
        if came != wanted:
            yield f"expected {wanted if wanted['error'] else 'a value'}, found {came}"
        return
    if "error" in vector:
        yield f"expected {vector['error']} at byte {vector['offset']}, found a value"
        return
    rendering = codec.to_canonical(value, root=vector["root"])
    if rendering != vector["value"]:
        yield f"expected {vector['value']}, found {rendering}"
    elif (
        vector["rebuilds"]
        and (built := codec.build(codec.from_canonical(rendering, root=vector["root"]), **given)) != data
    ):
        yield f"building gives {built.hex()}"
