"""The native engine against the construct parser: the same columns and errors."""
# ruff: noqa: S311, FBT002, PT018, E501 - no secrets are made

import json
import math
import random
import struct
import sys
import warnings
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

import differential
import engine_data as data
from mutants import mutants
from support.drawing import drawn
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow
from wireloom.runtime.engine import sources
from wireloom.runtime.engine.compiler import Compiler
from wireloom.runtime.errors import ContractError, DecodeError

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
FORMATS = tuple(differential.SETTINGS)
VARIANTS = [(name, settings) for name, every in differential.SETTINGS.items() for settings in every]
ROOTS = [(name, root) for name in FORMATS for root in data.engine(name).codec.roots]


@pytest.fixture(name="engine", params=FORMATS)
def _engine(request):
    return data.engine(request.param)


def asked(  # noqa: PLR0913 - the parts of a request
    engine, root=None, columns=None, explode=False, stop=False, open_values="variant", **settings
):
    """A request with the parameters completed."""
    codec = engine.codec
    return engines.Request(root or codec.default_root, codec.settings(settings), columns, explode, open_values, stop)


def good(engine):
    """Valid records of a format."""
    return [record for record in differential.seeds(engine.codec.format) if parses(engine, record)]


def parses(engine, record):
    try:
        engine.codec.parse(record)
    except DecodeError:
        return False
    return True


def test_valid_records_are_read_by_the_engine_alone(engine):
    assert differential.compare(engine, good(engine), asked(engine)) == []
    assert engine.reread == 0


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_engine_and_parser_agree_on_mutants(name, settings):
    engine = data.engine(name)
    request = asked(engine, **settings)
    records = list(differential.altered(engine, differential.seeds(name), drawn(600), 11, request))
    assert differential.compare(engine, records, request) == []


@pytest.mark.parametrize(("name", "root"), ROOTS)
def test_every_root_is_covered_nested_and_flat(name, root):
    engine = data.engine(name)
    for explode in (False, True):
        assert differential.compare(engine, differential.seeds(name), asked(engine, root, explode=explode)) == []


@pytest.mark.parametrize("form", ["json", "binary"])
@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_engine_and_parser_agree_on_every_form_of_open_values(name, settings, form):
    engine = data.engine(name)
    request = asked(engine, open_values=form, **settings)
    records = list(differential.altered(engine, differential.seeds(name), drawn(300), 12, request))
    assert differential.compare(engine, records, request) == []


@pytest.mark.parametrize("form", ["variant", "json", "binary"])
def test_open_values_of_every_kind_and_width_are_those_of_the_parser_and_encode_again(form):
    engine, source = data.engine("aerospike_msgpack"), random.Random(9)
    records = [message_of(wire_value(source, 3)) for _ in range(drawn(800))]
    request = asked(engine, open_values=form)
    assert differential.compare(engine, records, request) == []
    decoded = engine.decode(pa.array(records, pa.binary()), request)
    good = decoded.records.drop_null()[:200]
    assert len(good) == 200
    again = engine.codec.decode(engine.codec.encode(good), open_values=form)
    assert repr(again.records.to_pylist()) == repr(good.to_pylist())


def message_of(value):
    """A message with one bin, whose value is a list of that value and a map of it."""
    head = "9301019594a474657374a464656d6fc414000102030405060708090a0b0c0d0e0f10111213070300cf0000017886ac90fc91"
    return bytes.fromhex(head) + b"\x94\xa1l\x14\x00\x92" + value + b"\x81" + value + value


def wire_value(source, depth):
    """MessagePack of any kind and width that an open value may have."""
    kinds = 11 if depth else 7
    match source.randrange(kinds):
        case 0:
            return source.choice((b"\xc0", b"\xc2", b"\xc3"))
        case 1:
            width = source.choice((0, 1, 2, 3))
            return bytes([0xD0 + width]) + source.randbytes(1 << width)
        case 2:
            return source.choice((b"\xcc", b"\xe7"))[:1] + source.randbytes(1) if source.random() < 0.5 else b"\x07"
        case 3:
            return b"\xcb" + struct.pack(">d", any_double(source))
        case 4:
            return b"\xca" + source.randbytes(4)
        case 5:
            text = "".join(source.choices('ab"\\\n\r\t\b\f\0\x1f\x7fé\u2028€😀$', k=source.randrange(12))).encode()
            return b"\xd9" + bytes([len(text)]) + text
        case 6:
            content = source.randbytes(source.randrange(5))
            kind = source.choice((b"\xc4", b"\xc7"))
            return kind + bytes([len(content)]) + (b"\x07" if kind == b"\xc7" else b"") + content
        case 7 | 8:
            count = source.randrange(4)
            return bytes([0x90 + count]) + b"".join(wire_value(source, depth - 1) for _ in range(count))
        case _:
            count = source.randrange(4)
            return b"\xde\0" + bytes([count]) + b"".join(wire_value(source, depth - 1) for _ in range(2 * count))


def any_double(source):
    """Doubles of every size, and those that texts get wrong."""
    plain = source.choice((0.0, -0.0, 1.0, 1e16, 1e-5, 5e-324, 2.0**-44, 1.7976931348623157e308, 0.1, 123456.789))
    return source.choice((plain, struct.unpack("<d", source.randbytes(8))[0], source.uniform(-1e6, 1e6)))


def test_floats_of_json_are_those_of_python():
    engine, source = data.engine("aerospike_json"), random.Random(17)
    literals = [text for _ in range(4000) if math.isfinite(float(text := written_float(source)))]
    bins = ",".join(f'{{"name":"{place}","type":"float","value":{text}}}' for place, text in enumerate(literals))
    record = f'{{"msg":"write","key":["t",null,"AAECAwQFBgcICQoLDA0ODxAREhM=",1],"bins":[{bins}]}}'
    (found,) = engine.decode(pa.array([record.encode()]), asked(engine)).records.to_pylist()
    assert [repr(each["value"]["float"]) for each in found["bins"]] == [repr(float(text)) for text in literals]


@pytest.mark.parametrize(
    "number", ["9" * 308, "9" * 309, "-" + "9" * 401, "1" + "0" * 308, "1" + "0" * 309, "9" * 600, "1e309"]
)
def test_a_number_of_json_beyond_floats_is_an_error_however_it_is_written(number):
    engine = data.engine("aerospike_json")
    record = f'{{"msg":"write","key":["t",null,"AAECAwQFBgcICQoLDA0ODxAREhM=",1],"bins":[{{"name":"n","type":"float","value":{number}}}]}}'
    assert differential.compare(engine, [record.encode()], asked(engine)) == []
    assert parses(engine, record.encode()) == math.isfinite(float(number))


def written_float(source):
    """A number as people and programs write them, some of them halfway between two doubles."""
    double = any_double(source)
    match source.randrange(5):
        case 0:
            return repr(double)
        case 1:
            return f"{double:.{source.choice((3, 16, 17, 18, 24))}e}"
        case 2:
            return f"{source.randrange(10 ** source.randrange(1, 24))}.{source.randrange(10**9)}e{source.randrange(-30, 30)}"
        case 3:
            return str(source.randrange(10 ** source.randrange(1, 30)))
        case _:
            return (
                str((Decimal(double) + Decimal(math.nextafter(double, math.inf))) / 2)
                if 1e-280 < abs(double) < 1e280
                else "-0"
            )


@pytest.mark.parametrize("name", ["aerospike_json", "databus_json"])
def test_json_is_read_whatever_the_order_of_members_and_the_white_space(name):
    engine, source, records = data.engine(name), random.Random(4), []
    for record in good(data.engine(name)):
        try:
            members = json.loads(record, object_pairs_hook=list)
        except ValueError:
            continue
        if not isinstance(members[0], tuple):
            continue
        source.shuffle(members)
        written = [f" {json.dumps(key)}\t:\n{spelt(value)} " for key, value in members]
        records.append(("\r\n{" + ",".join(written) + "} ").encode())
    assert len(records) > 10
    assert differential.compare(engine, records, asked(engine)) == []
    assert engine.reread == 0


def spelt(value):
    """JSON of what was read with its members as pairs; letters as escapes."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return "{" + ",".join(f"{json.dumps(key)}: {spelt(each)}" for key, each in value) + "}"
    if isinstance(value, list):
        return "[ " + " , ".join(map(spelt, value)) + "]"
    if isinstance(value, str):
        return (
            '"'
            + "".join(
                f"\\u{ord(each):04x}"
                if each.isalpha() and each < "\ud800"
                else json.dumps(each, ensure_ascii=False)[1:-1]
                for each in value
            )
            + '"'
        )
    return json.dumps(value)


def test_names_that_come_twice_are_seen_however_many_there_are():
    engine = data.engine("aerospike_json")
    for count in (2, 24, 25, 26, 300):
        for same in (False, True):
            names = [f"name-{number}" for number in range(count)]
            names[-1] = names[0] if same else names[-1]
            value = ",".join(f'"{name}":{place}' for place, name in enumerate(names))
            record = f'{{"msg":"write","key":["t",null,"AAECAwQFBgcICQoLDA0ODxAREhM=",1],"bins":[{{"name":"m","type":"map","value":{{{value}}}}}]}}'
            assert differential.compare(engine, [record.encode()], asked(engine)) == []
            assert parses(engine, record.encode()) != same
    assert engine.reread == 0


@pytest.mark.drawing
@pytest.mark.parametrize("unknown", ["ignore", "error"])
def test_what_was_learned_of_names_says_nothing_of_records_that_have_others(unknown):
    """Names that are expected come twice, too late, shortened, with escapes, or not at all, with ever new ones between."""
    engine, source = data.engine("databus_json"), random.Random(12)
    line = '"opcode":"UPSERT","key":7,"sequence":1,"logicalPartitionId":2,"physicalPartitionId":1,"timestampInNanos":3,"srcId":5'
    line += ',"schemaId":"AAECAwQFBgcICQoLDA0ODw==","valueEnc":"JSON","value":""'
    records = []
    for _ in range(drawn(400)):
        members = line.split(",")
        for _ in range(source.choice((0, 1, 1, 2, 3))):
            place = source.randrange(len(members))
            name, value = members[place].split(":", 1)
            match source.randrange(8):
                case 0:
                    members.insert(source.randrange(len(members)), members[place])
                case 1:
                    members.insert(source.randrange(len(members)), members.pop(place))
                case 2:
                    members[place] = f'{name[:-2]}":{value}'
                case 3:
                    members[place] = f'"\\u{ord(name[1]):04x}{name[2:]}:{value}'
                case 4:
                    members[place] = f"{name} : {value}"
                case 5:
                    members.insert(
                        place, f'"{source.choice("äbc") * source.choice((1, 3, 5, 57, 58, 300))}":{{"key":1}}'
                    )
                case 6:
                    members += [
                        f'"name-{number}":{{"a":[{{"key":2,"key{number % 3}":3}}]}}'
                        for number in range(source.randrange(700))
                    ]
                case _:
                    del members[place]
        records.append(f"{{{','.join(members)}}}".encode())
    assert differential.compare(engine, records, asked(engine, unknownMembers=unknown)) == []
    assert engine.reread == 0


def test_each_column_alone_is_as_among_all(engine):
    records = pa.array(good(engine), pa.binary())
    every = engine.decode(records, asked(engine)).records
    for field in every.type:
        alone = engine.decode(records, asked(engine, columns=(field.name,))).records
        assert repr(alone.field(field.name).to_pylist()) == repr(every.field(field.name).to_pylist()), field.name


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_nulls_slices_and_every_binary_layout_are_read(engine, kind):
    records = [None, *good(engine), b"", None, b"\0" * 40]
    whole = pa.array(records, kind)
    request = asked(engine)
    wanted = engine.decode(pa.array(records, pa.binary()), request)
    for start, stop in ((0, len(records)), (1, 4), (3, len(records) - 1), (2, 2)):
        found = engine.decode(whole[start:stop], request)
        assert repr(found.records.to_pylist()) == repr(wanted.records[start:stop].to_pylist())
        assert found.errors.equals(wanted.errors[start:stop])


def test_types_are_those_of_the_emitted_schema(engine):
    found = engine.decode(pa.array([], pa.binary()), asked(engine)).records
    assert found.type == arrow.arrow_type(engine.root(asked(engine)).logical)


def test_flat_rows_come_in_batches_below_the_budget():
    engine = data.engine("kpl_record")
    records = pa.array(data.kpl(20, 50, 10), pa.binary())
    request = asked(engine, explode=True)
    whole = engine.decode(records, request)
    parts = list(engine.batches(records, request, 120))
    assert [len(part.records) for part in parts] == [150] * 6 + [100]
    assert pa.concat_arrays([part.records for part in parts]).equals(whole.records)
    assert pa.concat_arrays([part.parents for part in parts]).equals(whole.parents)


def test_the_first_error_is_raised_on_request(engine):
    records = pa.array([*good(engine)[:2], engine_refused(engine)], pa.binary())
    with pytest.raises(DecodeError):
        engine.decode(records, asked(engine, stop=True))


def engine_refused(engine):
    """A mutant with its checksums in order that is bad all the same."""
    made = mutants(good(engine), 5000, 3, differential.parser(engine, asked(engine)), mended=1)
    return next(record for record in made if not parses(engine, record))


def test_a_layout_of_another_version_is_refused(engine):
    other = engines.Engine(engine.codec, {**engine.layout, "version": 99})
    with pytest.raises(ContractError, match="99"):
        other.decode(pa.array([b""]), asked(engine))


def test_a_wrong_table_is_an_error_or_harmless(engine):
    """Any word of a program may be anything: it is refused when loaded, or the program stays within the record."""
    native, source = engines.module(), random.Random(5)
    request = asked(engine)
    root = engine.root(request)
    positional, keywords = Compiler(native, engine.layout, request.settings, root.logical).parts(request.root)
    records = pa.array(differential.seeds(engine.codec.format), pa.binary())
    refused = 0
    for _ in range(drawn(600)):
        parts = [list(part) for part in positional[:3]]
        part = source.choice([each for each in parts if each])
        place = source.randrange(len(part))
        part[place] = source.choice(
            (
                -1,
                0,
                1,
                part[place] + 1,
                part[place] - 1,
                source.randrange(64),
                source.getrandbits(62),
                -source.getrandbits(40),
            )
        )
        try:
            program = native.Program(*parts, *positional[3:], **keywords)
            batch = program.run(0, records.buffers(), 0, 0, len(records))
            for index in range(len(positional[5])):
                batch.take(index)
        except (ValueError, MemoryError):
            refused += 1
    assert refused > 100


def test_without_an_engine_the_parser_serves_and_says_so_once(engine, monkeypatch):
    codec = replace(engine.codec, layout=engine.layout)
    records = pa.array(good(engine), pa.binary())
    wanted = codec.decode(records)
    assert codec.engine is not None and codec.engine.program(asked(engine)) is not None
    monkeypatch.setitem(sys.modules, "wireloom.runtime.engine._engine", None)
    monkeypatch.delattr(engines, "_engine", raising=False)
    engines.module.cache_clear()
    try:
        bare = replace(engine.codec, layout=engine.layout)
        with pytest.warns(RuntimeWarning, match="no native engine"):
            found = bare.decode(records)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert repr(bare.decode(records).records.to_pylist()) == repr(wanted.records.to_pylist())
        assert repr(found.records.to_pylist()) == repr(wanted.records.to_pylist())
    finally:
        engines.module.cache_clear()


def test_an_engine_of_other_sources_is_not_trusted(monkeypatch):
    monkeypatch.setattr(sources, "digest", lambda _: "0" * 64)
    engines.module.cache_clear()
    with pytest.warns(RuntimeWarning, match="built from other sources"):
        assert engines.module() is None
    engines.module.cache_clear()


def test_a_layout_that_is_not_as_it_was_generated_is_refused(engine):
    source = random.Random(9)
    paths = list(_paths(dict(engine.layout)))
    for path, value in source.sample(paths, min(60, len(paths))):
        altered = _altered(dict(engine.layout), path, value + 1 if type(value) is int else "another")
        other = engines.Engine(engine.codec, altered)
        with pytest.raises(ContractError, match="generate"):
            other.decode(pa.array([b""]), asked(engine))


def _paths(tree, path=()):
    """The paths of the words and numbers in a layout."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | tuple):
            yield from _paths(value, (*path, key))
        else:
            yield (*path, key), value


def _altered(tree, path, value):
    """The layout with another value at a path."""
    key, *rest = path
    inner = _altered(tree[key], rest, value) if rest else value
    if isinstance(tree, dict):
        return {**tree, key: inner}
    return (*tree[:key], inner, *tree[key + 1 :])


def test_a_record_beyond_the_limit_on_size_costs_itself_alone(engine):
    records = good(engine)
    longest = max(map(len, records))
    parameter = engine.codec.root(None).construct.size
    if not isinstance(parameter, str):
        pytest.skip("no parameter says how large a record may be")
    request = asked(engine, **{parameter: longest - 1})
    assert differential.compare(engine, records, request) == []
    found = engine.decode(pa.array(records, pa.binary()), request)
    assert (found.reread, found.reason) == (sum(len(record) == longest for record in records), "")


def test_no_column_depends_on_the_columns_beside_it_or_on_the_path():
    engine = data.engine("aerospike_msgpack")
    for shown in differential.OPEN_VALUES:
        for columns in (("bins.value.variant",), ("bins.value.int", "bins.value.float"), ("bins.value.str",)):
            request = asked(engine, columns=columns, open_values=shown)
            assert differential.compare(engine, differential.seeds("aerospike_msgpack"), request) == []


def test_flat_rows_without_columns_are_still_rows():
    engine = data.engine("kpl_record")
    found = engine.decode(pa.array(data.kpl(2, 3, 12), pa.binary()), asked(engine, columns=(), explode=True))
    assert len(found.records) == len(found.errors) == len(found.parents) == 6
