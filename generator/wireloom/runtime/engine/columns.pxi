# Columns: Arrow buffers that grow row by row and can be cut back to any row.
#
# A column lags behind its struct where values are absent; it is filled up with nulls when it is next written, or at
# the end. So an absent value costs nothing, and a bad record is undone by cutting every column to the row it began at.

cdef inline int reserve(Buffer *buffer, int64_t size) noexcept nogil:
    return OK if size <= buffer.capacity else grow(buffer, size)


cdef int grow(Buffer *buffer, int64_t size) noexcept nogil:
    cdef int64_t capacity
    cdef uint8_t *data
    capacity = buffer.capacity * 2 if buffer.capacity * 2 > size else size
    if capacity < 256:
        capacity = 256
    data = <uint8_t *>realloc(buffer.data, <size_t>capacity)
    if data == NULL:
        return EXHAUSTED
    buffer.data = data
    buffer.capacity = capacity
    return OK


cdef int start_validity(Column *column) noexcept nogil:
    """From here on the column has a bitmap; what it holds so far is valid."""
    cdef int64_t size = (column.length + 8) >> 3
    if reserve(&column.validity, size):
        return EXHAUSTED
    memset(column.validity.data, 0xFF, <size_t>size)
    column.nullable = True
    return OK


cdef int mark_valid(Column *column, int64_t row, int64_t count, bint valid) noexcept nogil:
    cdef int64_t i
    if not column.nullable:
        if valid:
            return OK
        if start_validity(column):
            return EXHAUSTED
    if reserve(&column.validity, ((row + count) >> 3) + 1):
        return EXHAUSTED
    i = row
    while i < row + count:
        if i & 7 == 0 and row + count - i >= 8:
            column.validity.data[i >> 3] = 0xFF if valid else 0
            i += 8
            continue
        if valid:
            column.validity.data[i >> 3] |= <uint8_t>(1 << (i & 7))
        else:
            column.validity.data[i >> 3] &= <uint8_t>(~(1 << (i & 7)) & 0xFF)
        i += 1
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
    if count <= 0:
        return OK
    if mark_valid(column, column.length, count, False):
        return EXHAUSTED
    if column.kind == KIND_BYTES or column.kind == KIND_LIST:
        if reserve(&column.offsets, (length + 1) * 4):
            return EXHAUSTED
        offsets = <int32_t *>column.offsets.data
        if column.length == 0:
            offsets[0] = 0
        for i in range(column.length, length):
            offsets[i + 1] = offsets[column.length]
    elif column.kind == KIND_BOOLEAN:
        if reserve(&column.data, (length >> 3) + 1):
            return EXHAUSTED
        for i in range(column.length, length):
            column.data.data[i >> 3] &= <uint8_t>(~(1 << (i & 7)) & 0xFF)
    elif column.kind != KIND_STRUCT:
        width = width_of(column.kind)
        if reserve(&column.data, length * width):
            return EXHAUSTED
        memset(column.data.data + column.length * width, 0, <size_t>(count * width))
    column.length = length
    return OK


cdef void cut(Column *columns, int index, int64_t length) noexcept nogil:
    """Back to `length` rows, with everything below."""
    cdef Column *column = columns + index
    cdef int child
    if column.length > length:
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


cdef inline int ready(Column *columns, int64_t index) noexcept nogil:
    """Bring a column to the row that is being written: earlier rows without a value are null, a value there goes."""
    cdef Column *column = columns + index
    cdef int64_t row
    if column.parent < 0:
        return OK
    row = columns[column.parent].length
    if column.length == row:
        return OK
    if column.length > row:
        cut(columns, <int>index, row)
        return OK
    return pad(column, row)


cdef inline int close_row(Column *column) noexcept nogil:
    """The value at the column's end is there: count it."""
    if column.nullable:
        if column.length >> 3 >= column.validity.capacity:
            if reserve(&column.validity, (column.length >> 3) + 1):
                return EXHAUSTED
        column.validity.data[column.length >> 3] |= <uint8_t>(1 << (column.length & 7))
    column.length += 1
    return OK


cdef int put_integer(Column *columns, int64_t index, int64_t value, bint wide) noexcept nogil:
    cdef Column *column
    cdef int64_t row
    if ready(columns, index):
        return EXHAUSTED
    column = columns + index
    row = column.length
    if column.kind == KIND_INT64:
        if wide:
            return IRREGULAR
        if reserve(&column.data, (row + 1) * 8):
            return EXHAUSTED
        (<int64_t *>column.data.data)[row] = value
    elif column.kind == KIND_INT32:
        if reserve(&column.data, (row + 1) * 4):
            return EXHAUSTED
        (<int32_t *>column.data.data)[row] = <int32_t>value
        if wide or <int32_t>value != value:
            return IRREGULAR
    elif column.kind == KIND_INT16:
        if reserve(&column.data, (row + 1) * 2):
            return EXHAUSTED
        (<int16_t *>column.data.data)[row] = <int16_t>value
        if wide or <int16_t>value != value:
            return IRREGULAR
    elif column.kind == KIND_INT8:
        if reserve(&column.data, row + 1):
            return EXHAUSTED
        (<int8_t *>column.data.data)[row] = <int8_t>value
        if wide or <int8_t>value != value:
            return IRREGULAR
    else:
        if reserve(&column.data, (row + 1) * 16):
            return EXHAUSTED
        (<int64_t *>column.data.data)[2 * row] = value
        (<int64_t *>column.data.data)[2 * row + 1] = -1 if value < 0 and not wide else 0
    return close_row(column)


cdef int put_float(Column *columns, int64_t index, double value) noexcept nogil:
    cdef Column *column
    if ready(columns, index):
        return EXHAUSTED
    column = columns + index
    if reserve(&column.data, (column.length + 1) * 8):
        return EXHAUSTED
    if column.kind == KIND_FLOAT:
        (<float *>column.data.data)[column.length] = <float>value
    else:
        (<double *>column.data.data)[column.length] = value
    return close_row(column)


cdef int put_boolean(Column *columns, int64_t index, bint value) noexcept nogil:
    cdef Column *column
    cdef int64_t row
    if ready(columns, index):
        return EXHAUSTED
    column = columns + index
    row = column.length
    if reserve(&column.data, (row >> 3) + 1):
        return EXHAUSTED
    if value:
        column.data.data[row >> 3] |= <uint8_t>(1 << (row & 7))
    else:
        column.data.data[row >> 3] &= <uint8_t>(~(1 << (row & 7)) & 0xFF)
    return close_row(column)


cdef int put_bytes(Column *columns, int64_t index, const uint8_t *data, int64_t size) noexcept nogil:
    cdef Column *column
    if ready(columns, index):
        return EXHAUSTED
    column = columns + index
    if size > INT32_MAX - column.size:
        return FULL
    if reserve(&column.data, column.size + size) or reserve(&column.offsets, (column.length + 2) * 4):
        return EXHAUSTED
    if column.length == 0:
        (<int32_t *>column.offsets.data)[0] = 0
    if size > 0:
        memcpy(column.data.data + column.size, data, <size_t>size)
    column.size += size
    (<int32_t *>column.offsets.data)[column.length + 1] = <int32_t>column.size
    return close_row(column)


cdef int put_list(Column *columns, int64_t index) noexcept nogil:
    """The elements of the list at the column's end are all there."""
    cdef Column *column = columns + index
    cdef int64_t length = columns[column.child].length
    if length > INT32_MAX:
        return FULL
    if reserve(&column.offsets, (column.length + 2) * 4):
        return EXHAUSTED
    if column.length == 0:
        (<int32_t *>column.offsets.data)[0] = 0
    (<int32_t *>column.offsets.data)[column.length + 1] = <int32_t>length
    return close_row(column)


cdef int settle(Column *columns, int index, int64_t length) noexcept nogil:
    """After the last record: every column as long as its struct."""
    cdef Column *column = columns + index
    cdef int child
    if pad(column, length):
        return EXHAUSTED
    if column.kind == KIND_STRUCT:
        child = column.child
        while child >= 0:
            if settle(columns, child, length):
                return EXHAUSTED
            child = columns[child].sibling
    elif column.kind == KIND_LIST:
        if reserve(&column.offsets, (length + 1) * 4):
            return EXHAUSTED
        if length == 0:
            (<int32_t *>column.offsets.data)[0] = 0
        return settle(columns, column.child, columns[column.child].length)
    elif column.kind == KIND_BYTES and length == 0:
        if reserve(&column.offsets, 4):
            return EXHAUSTED
        (<int32_t *>column.offsets.data)[0] = 0
    return OK


cdef int expect(Column *columns, int index, int64_t rows) noexcept nogil:
    """Room for so many rows, in one piece; what lies within lists grows as it comes."""
    cdef Column *column = columns + index
    cdef int child
    if column.kind == KIND_STRUCT:
        child = column.child
        while child >= 0:
            if expect(columns, child, rows):
                return EXHAUSTED
            child = columns[child].sibling
    elif column.kind == KIND_BYTES or column.kind == KIND_LIST:
        return reserve(&column.offsets, (rows + 2) * 4)
    elif column.kind == KIND_BOOLEAN:
        return reserve(&column.data, (rows >> 3) + 1)
    else:
        return reserve(&column.data, rows * width_of(column.kind))
    return OK
