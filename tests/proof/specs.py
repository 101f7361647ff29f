"""The spec of a seed: a format, sometimes with a shared schema or libraries."""

from proof.chance import Chance, leaning
from proof.formats import written_format
from proof.libraries import with_library
from proof.modules import Spec, documents, resolved
from proof.namesakes import with_namesakes
from proof.parameters import with_parameters
from proof.repairing import with_doubts
from proof.schemas import with_schema
from proof.versions import with_versions
from wireloom.problems import SpecProblems

_SHARED, _IMPORTING, _GENERIC = 0.12, 0.08, 0.07
_LENDING = 0.6  # raises the share of libraries among formats with own checksums or ranges


def spec_of(seed: int) -> Spec:
    """The spec that the seed makes."""
    content, chance = with_namesakes(with_doubts(written_format(seed)), Chance(-seed - 3)), Chance(-seed - 1)
    content = with_versions(content, Chance(-seed - 4))
    other = Chance(-seed - 2)
    if other.often(_GENERIC):
        content = with_parameters(content, other)
    if chance.often(_SHARED):
        try:
            return with_schema(content, resolved(documents({"proof.yaml": content})), chance)
        except SpecProblems:
            pass
        except Exception:  # noqa: BLE001, S110 - whoever examines the spec sees it
            pass
    lending = chance.often(_LENDING if content.get("checksums") or content.get("ranges") else _IMPORTING)
    if lending and content["types"]:
        return with_library(content, chance)
    return {"proof.yaml": content}


def leaning_spec_of(seed: int) -> Spec:
    """The spec of a seed with leaning choices (see `chance`)."""
    with leaning(seed):
        return spec_of(seed)
