# Running a writing program: the caller's columns in, an Arrow array of bytes out.
#
# `WritingProgram.run` binds the buffers of the columns, then writes row after row. Unless a record is certain, a reader
# decodes it and the result is compared with the columns, several records at once. If a row differs, or the machine gives
# it up, it is cut from the output and marked; the builders then write it, or report the error.

ENCODE_OPCODES = {name.removeprefix("E_"): int(number) for name, number in WritingOp.__members__.items()}
"""The instructions of writing programs, by name; their operands are in writing/checks.pxi."""

LOADS = {name: number for number, name in enumerate("integer boolean symbol size count present choice real sum".split())}
"""The forms of loads, by name."""

assert len(ENCODE_OPCODES) == len(WRITTEN) and len(LOADS) == LOAD_FORMS


cdef class Written:
    """The records of one run. `status` has a byte for each record: 0 good, 1 null, 2 given up."""

    cdef Buffer data
    cdef Buffer offsets
    cdef Buffer validity
    cdef int64_t size
    cdef readonly bytearray status
    cdef readonly int64_t consumed
    cdef readonly int64_t failed
    cdef readonly int64_t nulls
    cdef readonly int64_t read_back  # records that were in doubt

    def __dealloc__(self):
        drop(&self.data)
        drop(&self.offsets)
        drop(&self.validity)

    def take(self):
        """The blocks of validity (None: all valid), offsets and data; can be taken once."""
        validity = block(&self.validity, (self.consumed + 7) >> 3) if self.nulls else None
        return validity, block(&self.offsets, (self.consumed + 1) * 4), block(&self.data, self.size)


cdef class WritingProgram:
    """Validated writing instructions, with the program that reads the records back."""

    cdef int64_t *code
    cdef int64_t *expressions
    cdef int64_t *tables
    cdef int64_t *symbol_list
    cdef uint32_t *symbols
    cdef int64_t symbol_mask
    cdef uint8_t *texts
    cdef int64_t text_size
    cdef wl_crc *crcs
    cdef Source *columns
    cdef int column_count
    cdef int space_count
    cdef int register_count
    cdef int slot_count
    cdef int64_t entry
    cdef Program reader
    cdef Match *matches
    cdef bint certain
    cdef double usual  # the size of a row in the last batch

    def __init__(self, code, expressions, tables, bytes texts, crcs, columns, symbols, Program reader, matches, *, int registers, int slots, int64_t entry, bint certain=False):
        cdef int i
        checker = WritingChecker(code, expressions, tables, texts, crcs, columns, registers, slots)
        checker.beside = frozenset(filled for _, _, filled in matches if filled >= 0)
        checker.check([entry])
        if not 1 <= registers <= 1 << 16 or not 0 <= slots <= 1 << 16 or columns[0][0] != KIND_STRUCT:
            raise LayoutError("a malformed layout: registers, slots or columns")
        for symbol in symbols:
            if symbol < 0 or (symbol >> 16) + (symbol & 0xFFFF) > len(texts):
                raise LayoutError(f"a malformed layout: the text {symbol}")
        check_matches(columns, matches, reader)
        self.certain = certain
        self.reader, self.entry, self.register_count, self.slot_count = reader, entry, registers, slots
        self.code, self.expressions, self.tables = words(code), words(expressions), words(tables)
        self.symbol_list = words(symbols)
        self.texts = <uint8_t *>calloc(len(texts) + SLACK, 1)
        self.crcs = <wl_crc *>malloc(sizeof(wl_crc) * (len(crcs) + 1))
        self.columns = <Source *>calloc(len(columns), sizeof(Source))
        self.matches = <Match *>calloc(len(columns), sizeof(Match))
        if self.texts == NULL or self.crcs == NULL or self.columns == NULL or self.matches == NULL:
            raise MemoryError
        memcpy(self.texts, <const char *>texts, len(texts))
        self.text_size = len(texts)
        for i, (column, form, filled) in enumerate(matches):
            self.matches[i].reader, self.matches[i].form = column, form
            self.matches[i].filled = filled
        for i, parameters in enumerate(crcs):
            prepare_crc(self.crcs + i, parameters)
        self.column_count, self.space_count = len(columns), 1
        for i, (kind, parent, child, sibling) in enumerate(columns):
            self.columns[i].kind, self.columns[i].parent = kind, parent
            self.columns[i].child, self.columns[i].sibling = child, sibling
            if parent >= 0:
                self.columns[i].space = self.columns[<int>parent].space
            elif i > 0:
                self.columns[i].space = self.space_count
                self.space_count += 1
        self.place_symbols(len(symbols))

    cdef place_symbols(self, int64_t count):
        """Make the hash table of the text constants."""
        cdef int64_t slots = 8, n
        cdef uint64_t place
        while slots < 4 * count:
            slots *= 2
        self.symbols = <uint32_t *>calloc(<size_t>slots, 4)
        if self.symbols == NULL:
            raise MemoryError
        self.symbol_mask = slots - 1
        for n in range(count):
            place = hash_of(self.texts + (self.symbol_list[n] >> 16), self.symbol_list[n] & 0xFFFF, hash_seed) & <uint64_t>(slots - 1)
            while self.symbols[place]:
                place = (place + 1) & <uint64_t>(slots - 1)
            self.symbols[place] = <uint32_t>(n + 1)

    def __dealloc__(self):
        free(self.code)
        free(self.expressions)
        free(self.tables)
        free(self.symbol_list)
        free(self.symbols)
        free(self.texts)
        free(self.crcs)
        free(self.columns)
        free(self.matches)

    def run(self, columns, int64_t start, int64_t stop, int64_t limit=-1):
        """The records of rows `start` to `stop`, each of at most `limit` bytes (-1: no limit).

        A column is None, or its validity, offsets and data (buffers or None), the array's own offset and its length.
        Ends early if the output is full; `consumed` is the number of rows written.
        """
        cdef Written written = Written.__new__(Written)
        cdef Builder k
        cdef Machine c
        cdef int code
        cdef int64_t count = stop - start
        cdef Batch echo
        cdef Source *sources = <Source *>malloc(self.column_count * sizeof(Source))
        held = []
        memset(&k, 0, sizeof(Builder))
        echo = self.reader.begin(&c)
        try:
            if sources == NULL:
                raise MemoryError
            memcpy(sources, self.columns, self.column_count * sizeof(Source))
            self.bind(sources, columns, held)
            if count < 0 or start < 0 or sources[0].missing or stop > sources[0].length:
                raise ValueError("a range that the columns do not have")
            written.status = bytearray(count)
            self.prepare(&k, sources)
            if expect(c.columns, 0, 1) or reserve(&written.offsets, (count + 1) * 4) or reserve(&written.validity, (count >> 3) + 1):
                raise MemoryError
            memset(written.validity.data, 0xFF, <size_t>((count >> 3) + 1))
            with nogil:
                k.certain, k.m.limit, k.m.json.seed = self.certain, c.limit, hash_seed
                if count >= FORESEEN_ROWS and self.usual * count < FORESEEN_OUTPUT:
                    reserve(&k.output, <int64_t>(self.usual * count * (1 + 1.0 / SPARE)))
                code = self.write_all(&k, &c, written, start, count, limit)
            written.data, k.output.data = k.output, NULL
            written.size = k.size
            if written.consumed >= FORESEEN_ROWS:
                self.usual = k.size / <double>written.consumed
        finally:
            free(sources)
            release_builder(&k, self.slot_count)
            release(&c)
        if code == EXHAUSTED:
            raise MemoryError("no memory for the records")
        if code == FULL:
            raise OverflowError(f"record {start + written.consumed} is longer than an Arrow array can hold")
        if code == MALFORMED:
            raise ValueError(f"the columns of row {start + written.consumed} contradict themselves: offsets that lead nowhere")
        return written

    cdef bind(self, Source *sources, columns, list held):
        """Take the buffers of the columns; each must be as long as its array requires."""
        cdef int i
        if len(columns) != self.column_count:
            raise ValueError("other columns than the program has")
        for i, column in enumerate(columns):
            sources[i].missing = column is None
            if column is None:
                continue
            validity, offsets, data, first, length = column
            views = [memoryview(each) if each is not None else None for each in (validity, offsets, data)]
            held.append(views)
            check_column(sources[i].kind, views, first, length)
            sources[i].first, sources[i].length = first, length
            sources[i].validity, sources[i].offsets, sources[i].data = address(views[0]), address(views[1]), address(views[2])
            sources[i].size = views[2].nbytes if views[2] is not None else 0
        for i in range(self.column_count):
            if sources[i].parent >= 0 and not sources[i].missing:
                if sources[sources[i].parent].missing or sources[i].length < sources[sources[i].parent].length:
                    raise ValueError("a struct that is longer than its members")
            elif sources[i].kind == KIND_LIST and not sources[i].missing and sources[sources[i].child].missing:
                sources[sources[i].child].length = INT32_MAX

    cdef prepare(self, Builder *k, const Source *sources):
        k.m.code, k.m.expressions, k.m.tables, k.m.texts, k.m.crcs = self.code, self.expressions, self.tables, self.texts, self.crcs
        k.m.text_size, k.m.register_count = self.text_size, self.register_count
        k.m.registers = <int64_t *>calloc(self.register_count + 1, 8)
        k.m.absent = <uint8_t *>malloc(self.register_count + 1)
        k.m.pointers = <const uint8_t **>calloc(self.register_count + 1, sizeof(void *))
        k.rows = <int64_t *>calloc(self.space_count, 8)
        k.interned = <Interned *>calloc(self.slot_count + 1, sizeof(Interned))
        k.known = <Known *>malloc(self.column_count * sizeof(Known))
        if k.known == NULL or k.m.registers == NULL or k.m.absent == NULL or k.m.pointers == NULL or k.rows == NULL or k.interned == NULL:
            raise MemoryError
        memset(k.known, 0xFF, self.column_count * sizeof(Known))
        memset(k.m.absent, 1, self.register_count + 1)
        k.sources = sources
        k.symbols, k.symbol_mask, k.symbol_list, k.seed = self.symbols, self.symbol_mask, self.symbol_list, hash_seed

    cdef int write_all(self, Builder *k, Machine *c, Written written, int64_t start, int64_t count, int64_t limit) noexcept nogil:
        """Write every row; for a row that is given up, the output is restored."""
        cdef int32_t *offsets = <int32_t *>written.offsets.data
        cdef uint8_t *status
        cdef int64_t row
        cdef bint ends  # the rows to be compared must be consecutive
        cdef int code = OK
        with gil:
            status = written.status
        offsets[0] = 0
        for row in range(count):
            k.rows[0] = start + row
            written.consumed = row
            if not there(k, 0):
                status[row] = 1
                written.nulls += 1
                written.validity.data[row >> 3] &= <uint8_t>(~(1 << (row & 7)) & 0xFF)
            else:
                code = self.write(k, c, limit)
                written.read_back += k.doubtful
                if code == IRREGULAR:
                    status[row] = 2
                    written.failed += 1
                elif code:
                    break
            offsets[row + 1] = <int32_t>k.size
            if k.seal_count >= GROUP or k.sealed >= GROUP_BYTES:
                write_seals(k)
            ends = status[row] or not k.doubtful or k.read_count == COMPARED or k.size - k.read_base >= COMPARED_BYTES
            if ends and (status[row] or k.read_count):
                self.compare(k, c, written, status - start)
        else:
            written.consumed = count
            code = OK
        if code == FULL and written.consumed > 0:
            code = OK
        self.compare(k, c, written, status - start)
        write_seals(k)
        return code

    cdef int write(self, Builder *k, Machine *c, int64_t limit) noexcept nogil:
        """Write one record and, unless the program is certain, read it back."""
        cdef int64_t seals = k.seal_count, opened = k.opened.length, settled = k.settled.length
        cdef int code
        k.base = k.size
        k.guessing = 0
        k.m.scanned = 0
        if k.m.chunks != NULL:
            forget_texts(&k.m)
        k.doubtful = not self.certain
        if k.read_count == 0:
            k.read_first, k.read_base = k.rows[0], k.base
        code = make(k, self.entry)
        if not code and k.size > INT32_MAX:
            code = FULL
        if not code and limit >= 0 and k.size - k.base > limit:
            code = IRREGULAR
        if not code and not k.doubtful:
            k.opened.length = opened
            code = OK if k.size - k.base < INT32_MAX // 2 else IRREGULAR  # no reader accepts longer texts
        elif not code:
            trust_seals(k, seals, c)
            code = OK if self.reads(k, c) else IRREGULAR
        if code:
            k.size, k.seal_count, k.opened.length, k.settled.length = k.base, seals, opened, settled
        return code

    cdef bint reads(self, Builder *k, Machine *c) noexcept nogil:
        """Whether a reader accepts the record; its values are compared later."""
        c.given_end = k.output.data + k.output.capacity
        self.follow_output(k, c)
        if self.reader.read(c, k.output.data + k.base, k.size - k.base, True):
            return False
        k.read_count += 1
        return True

    cdef void follow_output(self, Builder *k, Machine *c) noexcept nogil:
        """If the output has moved since a record was read back, adjust the reader's pointers to waiting numbers."""
        if k.output.data != k.read_data:
            move_waiting(&c.wait, k.read_data, k.output.data)
            k.read_data = k.output.data

    cdef void compare(self, Builder *k, Machine *c, Written written, uint8_t *status) noexcept nogil:
        """Give up the rows whose read-back differs from the caller's columns; `status` is by row."""
        cdef int64_t n
        self.follow_output(k, c)  # a record that was given up may have moved the output
        if k.read_count and not all_agree(k, c.columns, self.matches, 0, k.read_first, 0, k.read_count):
            for n in range(k.read_count):
                if not agrees(k, c.columns, self.matches, 0, k.read_first + n, n):
                    status[k.read_first + n] = 2
                    written.failed += 1
        empty(c.columns, self.reader.column_count)
        k.read_count = k.opened.length = k.next_opened = 0
        k.settled.length = k.replaced.length = k.next_settled = 0
        k.settled_column = -1


cdef void release_builder(Builder *k, int slots) noexcept:
    cdef int i
    if k.interned != NULL:
        for i in range(slots):
            free(k.interned[i].entries.data)
            free(k.interned[i].places.data)
        free(k.interned)
    free(k.rows)
    free(k.known)
    free(k.output.data)
    free(k.scratch.data)
    free(k.opened.data)
    free(k.replaced.data)
    free(k.settled.data)
    release(&k.m)


cdef check_column(int kind, list views, int64_t first, int64_t length):
    """Check that the buffers are large enough for an array of this kind and length."""
    cdef int64_t rows = first + length
    if first < 0 or length < 0 or rows > <int64_t>1 << 48:
        raise ValueError("an array of no such length")
    validity, offsets, data = (0 if view is None else view.nbytes for view in views)
    if views[0] is not None and validity < (rows + 7) // 8:
        raise ValueError("a validity bitmap that is too short")
    if length and kind in (KIND_BYTES, KIND_LIST) and offsets < (rows + 1) * 4:
        raise ValueError("offsets that are too short")
    if kind == KIND_BOOLEAN and data < (rows + 7) // 8 or kind < KIND_BOOLEAN and data < rows * width_of(kind):
        raise ValueError("values that are too short")


cdef check_matches(columns, matches, Program reader):
    """Check that each column is matched with a reader's column of its kind, whose parent is matched with its parent."""
    if len(matches) != len(columns) or matches[0][0] != 0:
        raise LayoutError("a malformed layout: other columns to be read back than those that are written")
    for (kind, parent, child, _), (column, form, filled) in zip(columns, matches):
        if not -1 <= filled < len(columns) or (form & FILLED and filled < 0) or (
            filled >= 0 and (columns[filled] != (kind, parent, -1, -1) or parent < 0 or kind in (KIND_STRUCT, KIND_LIST))
        ):
            raise LayoutError(f"a malformed layout: the column {filled} of what is written for nulls")
        if column == -1:
            continue
        if not 0 <= column < reader.column_count or not 0 <= form < 2 * FILLED:
            raise LayoutError(f"a malformed layout: the column {column} of what is read back")
        likes = KIND_BYTES if form & OPEN else kind
        below = kind != KIND_LIST or matches[child][0] in (-1, reader.columns[<int>column].child)
        beside = parent < 0 or matches[parent][0] in (-1, reader.columns[<int>column].parent)
        if likes != reader.columns[<int>column].kind or not below or not beside or (form and kind == KIND_LIST and form != DETERMINED):
            raise LayoutError(f"a malformed layout: the column {column} of what is read back")
        if form & (OPEN | ALTERNATIVES) and kind != KIND_STRUCT:
            raise LayoutError(f"a malformed layout: the column {column} of what is read back")
