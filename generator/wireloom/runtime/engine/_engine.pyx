# cython: language_level=3, boundscheck=False, wraparound=True, cdivision=True, initializedcheck=False
"""The native engine: executes a validated program over an Arrow array of binary values.

A program says how to read a record and which columns get its values. Every read is checked against the end of the
current region. A record with any irregularity leaves no trace in the columns and is marked, so that the construct
parser can read it and report its errors. The GIL is released while records are read.
"""

import os

from cpython.buffer cimport PyBuffer_FillInfo

from wireloom.runtime.engine import _checks
from wireloom.runtime.engine._checks import OPERANDS, PLACES, READERS, WRITERS, WRITTEN, Checker, LayoutError, WritingChecker

include "native/shared/types.pxi"

cdef uint64_t hash_seed = int.from_bytes(os.urandom(8), "little")

include "native/shared/columns.pxi"
include "native/reading/run_queue.pxi"
include "native/shared/texts.pxi"
include "native/shared/words.pxi"
include "native/shared/expressions.pxi"
include "native/reading/msgpack_heads.pxi"
include "native/reading/variant.pxi"
include "native/reading/tagged.pxi"
include "native/reading/protobuf.pxi"
include "native/reading/json.pxi"
include "native/reading/json_nodes.pxi"
include "native/reading/digest_queue.pxi"
include "native/reading/compressed_regions.pxi"
include "native/reading/delivery.pxi"
include "native/reading/checkpoints.pxi"
include "native/reading/protobuf_checkpoints.pxi"
include "native/reading/fixed_runs.pxi"
include "native/shared/addresses.pxi"
include "native/shared/charsets.pxi"
include "native/reading/binary.pxi"
include "native/shared/wide.pxi"
include "native/reading/msgpack.pxi"
include "native/reading/machine.pxi"
include "native/writing/types.pxi"
include "native/writing/columns.pxi"
include "native/writing/readback.pxi"
include "native/writing/values.pxi"
include "native/writing/msgpack.pxi"
include "native/writing/json.pxi"
include "native/writing/variant.pxi"
include "native/writing/protobuf.pxi"
include "native/writing/compressed_regions.pxi"
include "native/writing/machine.pxi"

OPCODES = {name.removeprefix("OP_"): int(number) for name, number in Op.__members__.items()}
"""The instructions, by name; their operands are in checks.pxi."""

EXPRESSION_CODES = {
    name: number
    for number, name in enumerate(
        "END CONST NULL LOAD HERE TEXT + - * & | ^ // % << >> == != < <= > >= NEGATE ~ not present zero in JUMP "
        "FALSE_KEEP TRUE_KEEP FALSE rangeName PART KNOWN NUMBER min max and or".split()
    )
}
"""The operations of expressions, by name."""

KINDS = {
    name: number
    for number, name in enumerate(
        "int8 int16 int32 int64 decimal float double boolean bytes struct list".split()
    )
}
"""The kinds of columns, by name."""

include "native/shared/sources.pxi"

if _checks.SOURCES != SOURCES:
    raise ImportError("the validators were built from other sources than the engine: install wireloom again")

INSTRUCTION_WIDTH = WIDTH
assert OPCODES.keys() == {Op(number).name.removeprefix("OP_") for number in OPERANDS} and len(EXPRESSION_CODES) == X_COUNT and len(KINDS) == KIND_COUNT


cdef class Block:
    """Memory of the engine that was handed out; the buffers that export it keep it alive."""

    cdef Buffer held
    cdef Py_ssize_t size

    def __dealloc__(self):
        wl_return(self.held.data, self.held.capacity)

    def __len__(self):
        return self.size

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.held.data, self.size, 1, flags)


cdef Block block(Buffer *buffer, int64_t size):
    """The buffer as a block of `size` bytes; the buffer is empty afterwards."""
    cdef Block given = Block.__new__(Block)
    if buffer.data == NULL and reserve(buffer, 1):
        raise MemoryError
    wl_trim(buffer, size)
    given.held = buffer[0]
    given.size = size
    buffer.data = NULL
    buffer.capacity = 0
    return given


cdef inline void drop(Buffer *buffer) noexcept:
    wl_return(buffer.data, buffer.capacity)


cdef class Batch:
    """The columns of one run. `status` has a byte for each record: 0 good, 1 null, 2 failed."""

    cdef Column *columns
    cdef int count
    cdef readonly bytearray status
    cdef readonly int64_t consumed
    cdef readonly int64_t failed

    def __dealloc__(self):
        cdef int i
        if self.columns != NULL:
            for i in range(self.count):
                drop(&self.columns[i].data)
                drop(&self.columns[i].offsets)
                drop(&self.columns[i].validity)
            free(self.columns)

    def take(self, int index):
        """Length and blocks of a column: validity (None: all valid), offsets and data. Each column can be taken once."""
        cdef Column *column
        cdef int64_t length
        if not 0 <= index < self.count:
            raise IndexError(index)
        column = self.columns + index
        length = column.length
        validity = block(&column.validity, (length + 7) >> 3) if column.nullable else None
        offsets = data = None
        if column.kind == KIND_BYTES or column.kind == KIND_LIST:
            offsets = block(&column.offsets, (length + 1) * 4)
        if column.kind == KIND_BYTES:
            data = block(&column.data, column.size)
        elif column.kind == KIND_BOOLEAN:
            data = block(&column.data, (length + 7) >> 3)
        elif column.kind < KIND_STRUCT:
            data = block(&column.data, length * width_of(column.kind))
        return length, validity, offsets, data


cdef struct Input:
    int form  # 0: 32-bit offsets, 1: 64-bit offsets, 2: views
    const uint8_t *validity
    const uint8_t *offsets
    const uint8_t *data
    int64_t data_size
    int64_t first  # the array's own offset
    const uint8_t **view_data
    int64_t *view_sizes
    int64_t view_count


cdef bint locate(const Input *given, int64_t row, const uint8_t **start, int64_t *size) noexcept nogil:
    """Find a record's bytes; False if the array's buffers contradict each other."""
    cdef int64_t at = given.first + row, first, last
    cdef const uint8_t *view
    cdef int32_t buffer, place
    if given.form == 0:
        first = (<const int32_t *>given.offsets)[at]
        last = (<const int32_t *>given.offsets)[at + 1]
    elif given.form == 1:
        first = (<const int64_t *>given.offsets)[at]
        last = (<const int64_t *>given.offsets)[at + 1]
    else:
        view = given.offsets + 16 * at
        size[0] = (<const int32_t *>view)[0]
        if size[0] <= 12:
            start[0] = view + 4
            return size[0] >= 0
        buffer = (<const int32_t *>view)[2]
        place = (<const int32_t *>view)[3]
        if buffer < 0 or buffer >= given.view_count or place < 0 or size[0] > given.view_sizes[buffer] - place:
            return False
        start[0] = given.view_data[buffer] + place
        return True
    if first < 0 or last < first or last > given.data_size:
        return False
    start[0] = given.data + first
    size[0] = last - first
    return True


cdef int64_t given_size(const Input *given, int64_t start, int64_t stop) noexcept nogil:
    """The total size of some records; any possible number if the array's buffers contradict each other."""
    cdef int64_t size = 0, row, first = given.first + start, last = given.first + stop
    if start == stop:
        return 0
    if given.form == 2:
        for row in range(first, last):
            size += <uint32_t>(<const int32_t *>(given.offsets + 16 * row))[0]
        return size
    if given.form == 1:
        first, last = (<const int64_t *>given.offsets)[first], (<const int64_t *>given.offsets)[last]
    else:
        first, last = (<const int32_t *>given.offsets)[first], (<const int32_t *>given.offsets)[last]
    return last - first if 0 <= first <= last <= given.data_size else 0


cdef class Program:
    """Validated instructions with their tables. Several threads may run a program at once: it is immutable, except for the
    statistics of the last batch, for which any thread's values will do."""

    cdef int64_t *code
    cdef int64_t *expressions
    cdef int64_t *tables
    cdef uint8_t *texts
    cdef int64_t text_size
    cdef wl_crc *crcs
    cdef Column *columns
    cdef int column_count
    cdef int register_count
    cdef int slot_count
    cdef int64_t entry
    cdef int64_t other  # the entry for the other byte order; -1: none
    cdef int64_t limit
    cdef double *usual  # for each column, the rows and bytes per byte of records in the last batch

    def __init__(self, code, expressions, tables, bytes texts, crcs, columns, *, int registers, int slots, entries, int64_t depth):
        cdef int i
        entries = list(entries)
        Checker(code, expressions, tables, texts, crcs, columns, registers, slots).check(entries)
        if not 1 <= registers <= 1 << 16 or not 0 <= slots <= 1 << 16 or not 1 <= len(entries) <= 2:
            raise LayoutError("a malformed layout: registers, slots or entries")
        if columns[0][0] != KIND_STRUCT and columns[0][0] != KIND_LIST:
            raise LayoutError("a malformed layout: the first column is no record")
        self.code = words(code)
        self.expressions = words(expressions)
        self.tables = words(tables)
        self.texts = <uint8_t *>calloc(len(texts) + SLACK, 1)
        self.crcs = <wl_crc *>malloc(sizeof(wl_crc) * (len(crcs) + 1))
        self.columns = <Column *>calloc(len(columns), sizeof(Column))
        self.usual = <double *>calloc(2 * len(columns), sizeof(double))
        if self.texts == NULL or self.crcs == NULL or self.columns == NULL or self.usual == NULL:
            raise MemoryError
        memcpy(self.texts, <const char *>texts, len(texts))
        self.text_size = len(texts)
        for i, parameters in enumerate(crcs):
            prepare_crc(self.crcs + i, parameters)
        for i, (kind, parent, child, sibling) in enumerate(columns):
            self.columns[i].kind = kind
            self.columns[i].parent = parent
            self.columns[i].child = child
            self.columns[i].sibling = sibling
        self.column_count = len(columns)
        self.register_count, self.slot_count = registers, slots
        self.entry = entries[0]
        self.other = entries[1] if len(entries) > 1 else -1
        self.limit = depth

    def __dealloc__(self):
        free(self.code)
        free(self.expressions)
        free(self.tables)
        free(self.texts)
        free(self.crcs)
        free(self.columns)
        free(self.usual)

    cdef Batch begin(self, Machine *m):
        """Prepare a batch without rows and a machine that writes to it; the caller must call `release`."""
        cdef Batch batch = Batch.__new__(Batch)
        memset(m, 0, sizeof(Machine))
        batch.columns = <Column *>calloc(self.column_count, sizeof(Column))
        if batch.columns == NULL:
            raise MemoryError
        batch.count = self.column_count
        memcpy(batch.columns, self.columns, self.column_count * sizeof(Column))
        link_rows(batch.columns, batch.count)
        m.code, m.expressions, m.tables, m.texts, m.crcs = self.code, self.expressions, self.tables, self.texts, self.crcs
        m.columns, m.limit, m.text_size = batch.columns, self.limit, self.text_size
        m.register_count = self.register_count
        m.registers = <int64_t *>calloc(self.register_count + 1, 8)
        m.absent = <uint8_t *>malloc(self.register_count + 1)
        m.pointers = <const uint8_t **>calloc(self.register_count + 1, sizeof(void *))
        m.slots = <Slot *>calloc(self.slot_count + 1, sizeof(Slot))
        if m.registers == NULL or m.absent == NULL or m.pointers == NULL or m.slots == NULL:
            release(m)
            raise MemoryError
        memset(m.absent, 1, self.register_count + 1)
        return batch

    cdef void foresee(self, Column *columns, int64_t size, int64_t made) noexcept nogil:
        """Reserve memory for the likely output of so many bytes of records, judging by the last batch.

        No column gets more than `made` bytes (0: no limit), or than FAVOUR times the size of the records.
        """
        cdef double most = FAVOUR * <double>size
        cdef int i
        if size < FORESEEN:
            return
        if made and made < most:
            most = made
        for i in range(self.column_count):
            foresee(columns + i, self.usual[2 * i] * size, self.usual[2 * i + 1] * size, most)

    cdef void remember(self, const Column *columns, int64_t size) noexcept nogil:
        """Record how much output so many bytes of records gave."""
        cdef int i
        if size < FORESEEN:
            return
        for i in range(self.column_count):
            self.usual[2 * i] = columns[i].length / <double>size
            self.usual[2 * i + 1] = columns[i].size / <double>size

    def run(self, int form, buffers, int64_t first, int64_t start, int64_t stop, int64_t row_budget=0, int rows=-1, int64_t largest=-1, int64_t made=0):
        """The columns of records `start` to `stop` of an array given by its buffers (validity, offsets, data ...).

        Ends early if an output buffer is full, if the column `rows` has `row_budget` elements, or if the columns have `made`
        bytes (0: no limit); `consumed` is the number of records read. Records of more than `largest` bytes (-1: no limit) are given up unread.
        """
        cdef Batch batch
        cdef Machine m
        cdef Input given
        cdef int i, code = OK
        cdef int64_t row, count = stop - start
        cdef uint8_t *status
        held = [memoryview(buffer) if buffer is not None else None for buffer in buffers]
        memset(&given, 0, sizeof(Input))
        if start < 0 or count < 0 or first < 0 or form not in (0, 1, 2) or rows >= self.column_count:
            raise ValueError("a range that the array does not have")
        check_buffers(form, held, first + stop)
        batch = self.begin(&m)
        batch.status = bytearray(count)
        status = batch.status
        given.form, given.first = form, first
        given.validity = address(held[0])
        given.offsets = address(held[1])
        if form == 2:
            given.view_count = len(held) - 2
            given.view_data = <const uint8_t **>calloc(given.view_count + 1, sizeof(void *))
            given.view_sizes = <int64_t *>calloc(given.view_count + 1, 8)
            if given.view_data == NULL or given.view_sizes == NULL:
                code = EXHAUSTED
            else:
                for i in range(given.view_count):
                    given.view_data[i] = address(held[2 + i])
                    given.view_sizes[i] = len(held[2 + i])
        else:
            given.data = address(held[2])
            given.data_size = len(held[2]) if held[2] is not None else 0
            m.given_end = given.data + given.data_size
        row = 0
        if code == OK:
            code = expect(m.columns, 0, count)
        if code == OK:
            self.foresee(m.columns, given_size(&given, start, stop), made)
        if code == OK:
            with nogil:
                m.largest = largest if largest >= 0 else INT64_MAX
                code = self.sweep(&m, &given, start, count, row_budget, rows if rows >= 0 else 0, made, status, &row)
                if code == OK or (code == FULL and row > 0):
                    code = settle(m.columns, 0, row)
                if code == OK:
                    self.remember(m.columns, given_size(&given, start, start + row))
        release(&m)
        free(given.view_data)
        free(given.view_sizes)
        if code == EXHAUSTED:
            raise MemoryError("no memory for the columns")
        if code:
            raise ValueError(f"record {start + row} does not fit an Arrow array, or its array is malformed")
        batch.consumed = row
        batch.failed = batch.status.count(b"\2", 0, row)
        return batch

    def checkpoints(self, const unsigned char[::1] data):
        """The checkpoints of a record that was given up; None if the parser must read all of it."""
        cdef Batch batch
        cdef Machine m
        batch = self.begin(&m)
        try:
            with nogil:
                m.notes = True
                m.deferral.plain = INT64_MAX
                if self.read(&m, &data[0] if data.shape[0] else NULL, data.shape[0], True) and m.json.count:
                    note_unread(&m, m.json.nodes, m.node)
            return None if m.scattered else (<char *>m.noted.data)[:m.noted.length]
        finally:
            release(&m)

    cdef int sweep(self, Machine *m, const Input *given, int64_t start, int64_t count, int64_t row_budget, int64_t listed, int64_t made, uint8_t *status, int64_t *consumed) noexcept nogil:
        """Read records until they, the output or the budgets end; returns why it ended."""
        cdef int64_t row = 0, back
        cdef int code = OK
        cdef bint ended = count == 0
        while not ended:
            begin_record(m, row)
            code = self.record(m, given, start + row, status + row)
            if code == OK:
                row += 1
            ended = code or row == count or (row_budget > 0 and m.columns[listed].length >= row_budget)
            ended = ended or is_heavy(m, self.column_count, row, m.stop - m.base, made)
            if ended or is_due(m):
                back = first_refused(m)
                if back >= 0:
                    memset(status + back, 0, <size_t>(m.deferral.row + 1 - back))
                    cut(m.columns, 0, back)
                    row = back
                    ended = False
        consumed[0] = row
        return code

    cdef int record(self, Machine *m, const Input *given, int64_t at, uint8_t *status) noexcept nogil:
        """Read one record of the array, or a null, as a row; `status` tells which, or that the record failed."""
        cdef const uint8_t *record = NULL
        cdef int64_t size = 0, place = given.first + at
        cdef int code
        if given.validity != NULL and not given.validity[place >> 3] >> (place & 7) & 1:
            status[0] = 1
            return skip_row(m)
        if not locate(given, at, &record, &size):
            return IRREGULAR
        code = self.read(m, record, size, True) if size <= m.largest else IRREGULAR
        if code == OK or code == FULL or code == EXHAUSTED:
            return code
        status[0] = 2
        return skip_row(m)

    cdef int read(self, Machine *m, const uint8_t *record, int64_t size, bint whole) noexcept nogil:
        """Read one record, which must use all bytes if `whole`; if it fails, the columns are restored."""
        cdef int64_t row = m.columns[0].length
        cdef int code = once(m, self.entry, record, size, whole)
        if code == OK:
            return OK
        if m.columns[0].length >= row:
            cut(m.columns, 0, row)
        if self.other >= 0 and is_error(code) and not m.opened and (whole or (code != TRUNCATED and not m.cut_off) or size >= m.awaited):
            if m.notes:
                begin_noted(m, NEXT_READING)
            code = once(m, self.other, record, size, whole)
            if code:
                cut(m.columns, 0, row)
        return code


cdef int once(Machine *m, int64_t entry, const uint8_t *record, int64_t size, bint whole) noexcept nogil:
    cdef int code
    if m.opened or m.kept != NULL:
        forget_unpacked(m)
    m.base = m.position = m.furthest = record if record != NULL else m.texts  # an array of empty records has no bytes
    m.end = m.stop = m.base + size
    m.overrun = TRUNCATED
    m.none = m.wide = m.cut_off = False
    m.readable = m.given_end if m.given_end != NULL else m.stop
    m.frame_count = 0
    m.spans.length = 0
    m.expanded = m.packed = m.unpacked = m.again = m.retried = m.scanned = m.unpacking = 0
    if m.chunks != NULL:
        forget_texts(m)
    m.json.count = 0
    code = run(m, entry)
    if code:
        return code
    return OK if m.position == m.end or not whole else IRREGULAR  # bytes are left after the record


cdef inline bint is_error(int code) noexcept nogil:
    """Whether the parser also reports an error for the record."""
    return code == TRUNCATED or code >= FIRST_CODE


cdef int skip_row(Machine *m) noexcept nogil:
    """Append a null row."""
    return pad(m.columns, m.columns[0].length + 1)


cdef void release(Machine *m) noexcept:
    free(m.registers)
    free(m.absent)
    free(m.pointers)
    free(m.slots)
    free(m.spans.data)
    free(m.noted.data)
    free(m.extents.data)
    free(m.output.data)
    free(m.keys.data)
    free(m.work.data)
    forget_unpacked(m)
    free(m.covered.data)
    free_texts(m)
    wl_json_free(&m.json)


cdef const uint8_t *address(held) except? NULL:
    """The address of a buffer's bytes; NULL for none and for empty ones."""
    cdef const unsigned char[::1] view
    if held is None or len(held) == 0:
        return NULL
    view = held.cast("B") if held.format != "B" else held
    return &view[0]


cdef check_buffers(int form, list held, int64_t rows):
    """Check that the buffers are large enough for an array of so many rows."""
    width = (4, 8, 16)[form]
    wanted = (rows + (form != 2)) * width
    if held[0] is not None and held[0].nbytes < (rows + 7) // 8:
        raise ValueError("a validity bitmap that is too short")
    if rows and (held[1] is None or held[1].nbytes < wanted):
        raise ValueError("offsets that are too short")


cdef int64_t *words(given) except NULL:
    """Copy numbers into a C array."""
    cdef int64_t *copy = <int64_t *>malloc((len(given) + 1) * 8)
    cdef Py_ssize_t i
    if copy == NULL:
        raise MemoryError
    try:
        for i in range(len(given)):
            copy[i] = given[i]
    except OverflowError as error:
        free(copy)
        raise LayoutError("a malformed layout: a number beyond 64 bits") from error
    return copy


def crc_value(parameters, const unsigned char[::1] data, *, bint tables=False):
    """The CRC of bytes as programs compute it; with `tables`, even if the processor has a faster instruction.

    `parameters`: width, polynomial, initial value, final xor, whether bits are reflected; for a sum its rule, width,
    modulus, initial value and final xor.
    """
    cdef wl_crc *crc = <wl_crc *>malloc(sizeof(wl_crc))
    if crc == NULL:
        raise MemoryError
    try:
        prepare_crc(crc, parameters)
        if tables:
            crc.fold.ready = False
        return wl_crc_value(crc, &data[0] if data.shape[0] else NULL, data.shape[0])
    finally:
        free(crc)


_SUMS = {"add": 1, "xor": 2, "fletcher": 3, "internet": 4}


cdef prepare_crc(wl_crc *crc, parameters):
    if parameters[0] in _SUMS:
        rule, width, modulus, init, xorout = parameters
        if not 8 <= width <= 64 or (rule == "fletcher" and not 1 < modulus <= 1 << 32):
            raise LayoutError(f"a malformed layout: a sum of {width} bits")
        wl_sum_prepare(crc, _SUMS[rule], width, modulus, init, xorout)
        return
    width, poly, init, xorout, reflected = parameters
    if not 8 <= width <= 64:
        raise LayoutError(f"a malformed layout: a CRC of {width} bits")
    wl_crc_prepare(crc, width, poly, init, xorout, reflected)


include "native/reading/streams.pxi"
include "native/writing/entry.pxi"
