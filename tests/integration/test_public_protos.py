"""Public .proto files (not part of this project): 1 000 random messages of each, against the official library.

Those of googleapis come with `googleapis-common-protos`. WIRELOOM_PROTOS names a folder with checkouts of
opentelemetry-proto and of etcd's raft.
"""

import importlib.util
import os
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("grpc_tools", reason="grpcio-tools, the extra `proto`, is not installed")

from support.imported_specs import module_of
from support.protobuf_messages import expected, fill, message_class, plain, pool_of
from wireloom.cli.commands.specs.import_ import settled_proto

pytestmark = [pytest.mark.integration, pytest.mark.thorough]
TIMES = 1000


def googleapis() -> Path:
    """The folder of the files that an installed package brings."""
    found = importlib.util.find_spec("google.rpc.status_pb2")
    if found is None or found.origin is None:
        pytest.skip("googleapis-common-protos is not installed")
    return Path(found.origin).parents[2]


def checkouts(name: str) -> Path:
    """A folder of WIRELOOM_PROTOS."""
    said = os.environ.get("WIRELOOM_PROTOS")
    folder = Path(said or "", name)
    if not said or not folder.is_dir():
        pytest.skip(f"WIRELOOM_PROTOS names no folder that has {name}")
    return folder


@pytest.mark.parametrize(
    ("home", "file", "message"),
    [
        (googleapis, "google/rpc/context/attribute_context.proto", "google.rpc.context.AttributeContext"),
        (googleapis, "google/api/distribution.proto", "google.api.Distribution"),
        ("opentelemetry-proto", "opentelemetry/proto/trace/v1/trace.proto", "opentelemetry.proto.trace.v1.TracesData"),
        ("raft", "raftpb/raft.proto", "raftpb.Message"),
    ],
)
def test_messages_of_public_files_are_read_and_written_as_by_the_official_library(home, file, message):
    folder = checkouts(home) if isinstance(home, str) else home()
    made = settled_proto(folder / file, [folder], [message])
    type = message_class(pool_of(folder / file, [folder]), message)
    random = Random(1)  # noqa: S311 - values of a test
    with module_of(made) as module:
        for _ in range(TIMES):
            sent = fill(type(), random)
            value = module.parse(sent.SerializeToString())
            assert plain(value) == expected(sent)
            assert expected(type.FromString(module.build(value))) == expected(sent)


def test_each_public_file_with_messages_gives_a_spec():
    from wireloom.importing.findings import ImportRefusedError

    folder = googleapis()
    without = []
    for file in sorted((folder / "google").rglob("*.proto")):
        try:
            made = settled_proto(file, [folder])
        except ImportRefusedError as error:
            without.append(str(error))
            continue
        assert {each.kind for each in made.findings} <= {"enum-list"}
    assert all("the file has no messages" in each for each in without)
