# Columns: Arrow buffers that grow row by row and can be cut back to any row.
#
# A column is shorter than its struct while values are missing. It is filled up with nulls when it is next written, or at
# the end. So a missing value costs nothing, and a bad record is undone by cutting every column back to the row at which
# the record began.
#
# After the last row, the bits of a column (validity, booleans) are zero, so that null and false need no write; other
# bytes there are undefined. Every buffer has SLACK bytes after its last row, so that short values can be written as
# whole words.

cdef inline int reserve(Buffer *buffer, int64_t size) noexcept nogil:
    return OK if size <= buffer.capacity else grow(buffer, size)


cdef int grow(Buffer *buffer, int64_t size) noexcept nogil:
    cdef int64_t capacity = buffer.capacity * 2 if buffer.capacity * 2 > size else size
    return OK if wl_grow(buffer, capacity if capacity > 256 else 256) else EXHAUSTED


cdef int reserve_bits(Buffer *buffer, int64_t rows) noexcept nogil:
    """Reserve so many bits; new ones are zero."""
    cdef int64_t before = buffer.capacity
    if reserve(buffer, (rows >> 3) + SLACK):
        return EXHAUSTED
    if buffer.capacity > before:
        memset(buffer.data + before, 0, <size_t>(buffer.capacity - before))
    return OK


cdef int make_room(Column *column, int64_t rows) noexcept nogil:
    """Reserve so many rows in every buffer."""
    cdef int code = OK
    if column.nullable:
        code = reserve_bits(&column.validity, rows)
    if not code:
        if column.kind == KIND_STRUCT:
            if not column.nullable:
                rows = INT64_MAX
        elif column.kind == KIND_BYTES or column.kind == KIND_LIST:
            code = reserve(&column.offsets, (rows + 1) * 4 + SLACK)
        elif column.kind == KIND_BOOLEAN:
            code = reserve_bits(&column.data, rows)
        else:
            code = reserve(&column.data, rows * width_of(column.kind) + SLACK)
    if code:
        return EXHAUSTED
    if column.length == 0 and column.offsets.data != NULL:
        (<int32_t *>column.offsets.data)[0] = 0
    column.room = rows
    return OK


cdef inline int one_more(Column *column) noexcept nogil:
    """Reserve one more row in a full column."""
    return make_room(column, column.length * 2 if column.length > 16 else 32)


cdef int start_validity(Column *column) noexcept nogil:
    """Begin a validity bitmap; the rows so far are valid."""
    cdef int64_t rows = column.room if column.room < INT64_MAX else column.length * 2 + 64
    if reserve_bits(&column.validity, rows):
        return EXHAUSTED
    memset(column.validity.data, 0xFF, <size_t>(column.length >> 3))
    if column.length & 7:
        column.validity.data[column.length >> 3] = <uint8_t>((1 << (column.length & 7)) - 1)
    column.nullable = True
    column.room = rows
    return OK


cdef inline int64_t width_of(int kind) noexcept nogil:
    if kind == KIND_INT8:
        return 1
    if kind == KIND_INT16:
        return 2
    if kind == KIND_INT32 or kind == KIND_FLOAT:
        return 4
    if kind == KIND_DECIMAL:
        return 16
    return 8


cdef int pad(Column *column, int64_t length) noexcept nogil:
    """Fill up with nulls."""
    cdef int64_t count = length - column.length, width, i
    cdef int32_t *offsets
    cdef int32_t offset
    if count <= 0:
        return OK
    if not column.nullable and start_validity(column):
        return EXHAUSTED
    if length > column.room and make_room(column, length):
        return EXHAUSTED
    if column.kind == KIND_BYTES or column.kind == KIND_LIST:
        offsets = <int32_t *>column.offsets.data + column.length
        offset = offsets[0]
        if count <= 8:
            for i in range(1, 9):
                offsets[i] = offset
        else:
            for i in range(1, count + 1):
                offsets[i] = offset
    elif column.kind < KIND_BOOLEAN:
        width = width_of(column.kind)
        if count * width <= SLACK:
            memset(column.data.data + column.length * width, 0, SLACK)
        else:
            memset(column.data.data + column.length * width, 0, <size_t>(count * width))
    column.length = length
    return OK


cdef void fill_bits(uint8_t *bits, int64_t first, int64_t last) noexcept nogil:
    while first < last and first & 7:
        bits[first >> 3] |= <uint8_t>(1 << (first & 7))
        first += 1
    while first + 8 <= last:
        bits[first >> 3] = 0xFF
        first += 8
    while first < last:
        bits[first >> 3] |= <uint8_t>(1 << (first & 7))
        first += 1


cdef void clear_bits(uint8_t *bits, int64_t first, int64_t last) noexcept nogil:
    while first < last and first & 7:
        bits[first >> 3] &= <uint8_t>(~(1 << (first & 7)) & 0xFF)
        first += 1
    if first < last:
        memset(bits + (first >> 3), 0, <size_t>(((last - 1) >> 3) - (first >> 3) + 1))


cdef void cut(Column *columns, int index, int64_t length) noexcept nogil:
    """Cut a column and its children back to `length` rows."""
    cdef Column *column = columns + index
    cdef int child
    write_waiting(column)
    if column.length > length:
        if column.nullable:
            clear_bits(column.validity.data, length, column.length)
        if column.kind == KIND_BOOLEAN:
            clear_bits(column.data.data, length, column.length)
        column.length = length
    if column.kind == KIND_BYTES:
        column.size = (<int32_t *>column.offsets.data)[column.length] if column.length else 0
    elif column.kind == KIND_LIST:
        cut(columns, column.child, (<int32_t *>column.offsets.data)[column.length] if column.length else 0)
    elif column.kind == KIND_STRUCT:
        child = column.child
        while child >= 0:
            cut(columns, child, column.length)
            child = columns[child].sibling


cdef Column *prepare(Column *columns, int64_t index) noexcept nogil:
    """`ready` for a column that is too short, has been written before, or is full."""
    cdef Column *column = columns + index
    write_waiting(column)
    if column.length > column.row[0]:
        cut(columns, <int>index, column.row[0])
    elif column.length < column.row[0] and pad(column, column.row[0]):
        return NULL
    if column.length >= column.room and one_more(column):
        return NULL
    return column


cdef inline Column *ready(Column *columns, int64_t index) noexcept nogil:
    """Prepare a column for a value in the current row: earlier rows without a value are null, a value in the row is dropped."""
    cdef Column *column = columns + index
    if column.length == column.row[0] and column.length < column.room:
        return column
    return prepare(columns, index)


cdef inline void close_row(Column *column) noexcept nogil:
    """Count the value that was written at the column's end."""
    if column.nullable:
        column.validity.data[column.length >> 3] |= <uint8_t>(1 << (column.length & 7))
    column.length += 1


cdef inline int finish_row(Column *column) noexcept nogil:
    """`close_row` of a struct column that `ready` may not have prepared."""
    if column.length >= column.room and one_more(column):
        return EXHAUSTED
    close_row(column)
    return OK


cdef inline int put_integer(Column *columns, int64_t index, int64_t value, bint wide) noexcept nogil:
    cdef Column *column = ready(columns, index)
    cdef int64_t row
    if column == NULL:
        return EXHAUSTED
    row = column.length
    if column.kind == KIND_INT64:
        if wide:
            return IRREGULAR
        (<int64_t *>column.data.data)[row] = value
    elif column.kind == KIND_INT32:
        if wide or <int32_t>value != value:
            return IRREGULAR
        (<int32_t *>column.data.data)[row] = <int32_t>value
    elif column.kind == KIND_INT16:
        if wide or <int16_t>value != value:
            return IRREGULAR
        (<int16_t *>column.data.data)[row] = <int16_t>value
    elif column.kind == KIND_INT8:
        if wide or <int8_t>value != value:
            return IRREGULAR
        (<int8_t *>column.data.data)[row] = <int8_t>value
    else:
        (<int64_t *>column.data.data)[2 * row] = value
        (<int64_t *>column.data.data)[2 * row + 1] = -1 if value < 0 and not wide else 0
    close_row(column)
    return OK


cdef inline int put_float(Column *columns, int64_t index, double value) noexcept nogil:
    cdef Column *column = ready(columns, index)
    if column == NULL:
        return EXHAUSTED
    if column.kind == KIND_FLOAT:
        (<float *>column.data.data)[column.length] = <float>value
    else:
        (<double *>column.data.data)[column.length] = value
    close_row(column)
    return OK


cdef inline int put_boolean(Column *columns, int64_t index, bint value) noexcept nogil:
    cdef Column *column = ready(columns, index)
    if column == NULL:
        return EXHAUSTED
    column.data.data[column.length >> 3] |= <uint8_t>((value != 0) << (column.length & 7))
    close_row(column)
    return OK


cdef int more_bytes(Column *column, int64_t size) noexcept nogil:
    """Reserve so many more bytes in a full column."""
    if size > INT32_MAX - column.size:
        return FULL
    if reserve(&column.data, column.size + size + SLACK):
        return EXHAUSTED
    column.limit = column.data.capacity - SLACK
    if column.limit > INT32_MAX:
        column.limit = INT32_MAX
    return OK


cdef inline int put_bytes_near(Column *columns, int64_t index, const uint8_t *data, int64_t size, int64_t readable) noexcept nogil:
    """Append `size` bytes from `data`, after which `readable` bytes may be read."""
    cdef Column *column = ready(columns, index)
    cdef int code
    if column == NULL:
        return EXHAUSTED
    if size > column.limit - column.size:
        code = more_bytes(column, size)
        if code:
            return code
    wl_copy(column.data.data + column.size, data, size, readable)
    column.size += size
    (<int32_t *>column.offsets.data)[column.length + 1] = <int32_t>column.size
    close_row(column)
    return OK


cdef int put_bytes(Column *columns, int64_t index, const uint8_t *data, int64_t size) noexcept nogil:
    return put_bytes_near(columns, index, data, size, size)


cdef int put_list(Column *columns, int64_t index) noexcept nogil:
    """Close the list at the column's end after its elements."""
    cdef Column *column = columns + index
    cdef int64_t length = columns[column.child].length
    if length > INT32_MAX:
        return FULL
    if column.length >= column.room and one_more(column):
        return EXHAUSTED
    (<int32_t *>column.offsets.data)[column.length + 1] = <int32_t>length
    close_row(column)
    return OK


cdef int settle(Column *columns, int index, int64_t length) noexcept nogil:
    """After the last record: make every column as long as its struct."""
    cdef Column *column = columns + index
    cdef int child
    write_waiting(column)
    if pad(column, length) or (length == 0 and make_room(column, 1)):
        return EXHAUSTED
    if column.kind == KIND_STRUCT:
        child = column.child
        while child >= 0:
            if settle(columns, child, length):
                return EXHAUSTED
            child = columns[child].sibling
    elif column.kind == KIND_LIST:
        return settle(columns, column.child, columns[column.child].length)
    return OK


cdef int expect(Column *columns, int index, int64_t rows) noexcept nogil:
    """Reserve so many rows at once; columns inside lists grow on demand."""
    cdef Column *column = columns + index
    cdef int child
    if make_room(column, rows):
        return EXHAUSTED
    if column.kind == KIND_STRUCT:
        child = column.child
        while child >= 0:
            if expect(columns, child, rows):
                return EXHAUSTED
            child = columns[child].sibling
    return OK


cdef void foresee(Column *column, double rows, double size, double most) noexcept nogil:
    """Reserve about so many rows and bytes, if they are at most `most` bytes and there is memory."""
    cdef double width = 4 if column.kind == KIND_BYTES or column.kind == KIND_LIST else width_of(column.kind)
    rows += rows / SPARE + SLACK
    size += size / SPARE
    if rows * width <= most and rows < INT32_MAX and <int64_t>rows > column.room:
        make_room(column, <int64_t>rows)
    if column.kind == KIND_BYTES and size <= most and size < INT32_MAX // 2:
        more_bytes(column, <int64_t>size)


cdef void link_rows(Column *columns, int count) noexcept nogil:
    """Let every column see the current row: its struct's, or its own end. No bytes are reserved yet."""
    cdef int index
    for index in range(count):
        columns[index].limit = -1
        columns[index].row = &columns[columns[index].parent if columns[index].parent >= 0 else index].length
