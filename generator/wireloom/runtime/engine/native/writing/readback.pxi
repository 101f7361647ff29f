# Read-back: a written record is decoded again, and compared with its columns. So nothing is lost or changed without an
# error.
#
# The reader shows the record in columns of its own, with open values as bytes. Each value of the caller must be there.
# A value that the caller omitted may only come back if the format determines it. So a column that the record cannot
# store, or a wrong count, leads to the builders, which report the error.

cdef inline bint given_at(const Source *source, int64_t row) noexcept nogil:
    """Whether a column has a value in a row."""
    cdef int64_t at = source.first + row
    if source.missing:
        return False
    return source.validity == NULL or source.validity[at >> 3] >> (at & 7) & 1


cdef bint chosen_at(const Source *sources, int64_t index, int64_t row) noexcept nogil:
    """Whether alternatives have a value in a row."""
    cdef int64_t each = sources[index].child
    if not given_at(sources + index, row):
        return False
    while each >= 0:
        if given_at(sources + each, row):
            return True
        each = sources[each].sibling
    return False


cdef inline bint found_at(Column *column, int64_t row) noexcept nogil:
    """Whether a reader's column has a value in a row; trailing nulls may be missing from it."""
    write_waiting(column)
    if row >= column.length:
        return False
    return not column.nullable or column.validity.data[row >> 3] >> (row & 7) & 1


cdef inline bint float_agrees(double given, double found) noexcept nogil:
    """Whether two floats are equal: all NaNs are, the two zeros are not; a 32-bit float is the nearest to the given one."""
    if given == found:
        return given != 0 or wl_negative(given) == wl_negative(found)
    return (given != given and found != found) or <double><float>given == found


cdef inline bint scalar_agrees(const Source *source, const Column *column, int64_t row, int64_t there) noexcept nogil:
    """Whether a value reads back equal; both columns are of the same kind."""
    cdef int64_t at = source.first + row, width
    cdef const int32_t *given
    cdef const int32_t *found
    if source.kind == KIND_BYTES:
        given, found = <const int32_t *>source.offsets + at, <const int32_t *>column.offsets.data + there
        width = found[1] - found[0]
        if given[0] < 0 or given[1] - given[0] != width or given[1] > source.size:
            return False
        return width == 0 or memcmp(source.data + given[0], column.data.data + found[0], <size_t>width) == 0
    if source.kind == KIND_BOOLEAN:
        return source.data[at >> 3] >> (at & 7) & 1 == column.data.data[there >> 3] >> (there & 7) & 1
    if source.kind == KIND_FLOAT:
        return float_agrees((<const float *>source.data)[at], (<const float *>column.data.data)[there])
    if source.kind == KIND_DOUBLE:
        return float_agrees((<const double *>source.data)[at], (<const double *>column.data.data)[there])
    if source.kind == KIND_INT64:
        return (<const int64_t *>source.data)[at] == (<const int64_t *>column.data.data)[there]
    if source.kind == KIND_INT32:
        return (<const int32_t *>source.data)[at] == (<const int32_t *>column.data.data)[there]
    width = width_of(source.kind)
    return memcmp(source.data + at * width, column.data.data + there * width, <size_t>width) == 0


cdef inline bint null_agrees(const Source *filled, const Column *column, int64_t row, int64_t there) noexcept nogil:
    """Whether a null reads back as the value that is written for it."""
    return given_at(filled, row) and scalar_agrees(filled, column, row, there)


cdef bint agrees(Builder *k, Column *columns, const Match *matches, int64_t index, int64_t row, int64_t there) noexcept nogil:
    """Whether the caller's column `index` in `row` reads back equal in the reader's row `there`."""
    cdef const Source *source = k.sources + index
    cdef const Match *match = matches + index
    cdef Column *column
    cdef const int32_t *offsets
    cdef int64_t child
    cdef bint given = chosen_at(k.sources, index, row) if match.form & ALTERNATIVES else given_at(source, row)
    if match.reader < 0:
        return not given
    column = columns + match.reader
    if not found_at(column, there):
        return not given or (match.form & OPEN and opened_at(k, index, row, NULL, 0))
    if not given:
        if match.form & FILLED and null_agrees(k.sources + match.filled, column, row, there):
            return True
        return match.form & DETERMINED != 0
    if match.form & OPEN:
        offsets = <const int32_t *>column.offsets.data
        return opened_at(k, index, row, column.data.data + offsets[there], offsets[there + 1] - offsets[there])
    if source.kind == KIND_LIST:
        return list_agrees(k, columns, matches, index, row, there)
    if source.kind != KIND_STRUCT:
        return scalar_agrees(source, column, row, there)
    child = source.child
    while child >= 0:
        if not agrees(k, columns, matches, child, row, there):
            return False
        child = k.sources[child].sibling
    return True


cdef bint list_agrees(Builder *k, Column *columns, const Match *matches, int64_t index, int64_t row, int64_t there) noexcept nogil:
    """Whether a list reads back equal, element by element."""
    cdef const Source *source = k.sources + index
    cdef const int32_t *given = <const int32_t *>source.offsets + source.first + row
    cdef const int32_t *found = <const int32_t *>columns[matches[index].reader].offsets.data + there
    cdef int64_t n
    if given[0] < 0 or given[1] < given[0] or given[1] - given[0] != found[1] - found[0]:
        return False
    if given[1] > given[0] and given[1] > k.sources[source.child].length:
        return False
    for n in range(given[1] - given[0]):
        if not agrees(k, columns, matches, source.child, given[0] + n, found[0] + n):
            return False
    return True


# --- many rows at once -----------------------------------------------------------------------------------------------

cdef inline uint64_t bits_at(const uint8_t *bitmap, int64_t first, int64_t count) noexcept nogil:
    """Up to 64 bits of a bitmap that has them all; reads no byte beyond them."""
    cdef const uint8_t *data = bitmap + (first >> 3)
    cdef int64_t shift = first & 7, size = (shift + count + 7) >> 3
    cdef uint64_t word = wl_short_word(data, size)
    word >>= shift
    if size > 8:
        word |= <uint64_t>data[8] << (64 - shift)
    return word if count == 64 else word & ((<uint64_t>1 << count) - 1)


cdef inline uint64_t all_of(int64_t count) noexcept nogil:
    return ~<uint64_t>0 >> (64 - count)


cdef inline uint64_t given_in(const Source *source, int64_t row, int64_t count) noexcept nogil:
    """The rows, among up to 64 (at least one), in which a column has a value."""
    if source.missing:
        return 0
    return all_of(count) if source.validity == NULL else bits_at(source.validity, source.first + row, count)


cdef inline uint64_t shown_in(Column *column, int64_t row, int64_t count) noexcept nogil:
    """The same for a reader's column, which may lack trailing nulls."""
    cdef int64_t there
    write_waiting(column)
    there = column.length - row if column.length - row < count else count
    if there <= 0:
        return 0
    return bits_at(column.validity.data, row, there) if column.nullable else all_of(there)


cdef bint same_there(const Source *source, Column *column, int64_t row, int64_t there, int64_t count) noexcept nogil:
    """Whether both columns have values in the same rows."""
    cdef int64_t n, part
    for n in range(0, count, 64):
        part = count - n if count - n < 64 else 64
        if given_in(source, row + n, part) != shown_in(column, there + n, part):
            return False
    return True


cdef bint none_there(const Source *source, int64_t row, int64_t count) noexcept nogil:
    """Whether a column has no value in any of the rows."""
    cdef int64_t n
    for n in range(0, count, 64):
        if given_in(source, row + n, count - n if count - n < 64 else 64):
            return False
    return True


cdef bint all_agree(Builder *k, Column *columns, const Match *matches, int64_t index, int64_t row, int64_t there, int64_t count) noexcept nogil:
    """Whether the caller's column reads back equal in `count` rows from `row` on; may return false for equal rows."""
    cdef const Source *source = k.sources + index
    cdef const Match *match = matches + index
    cdef Column *column
    cdef int64_t child, n
    if count == 0:
        return True
    if source.missing and (match.reader < 0 or match.form & DETERMINED and not match.form & OPEN):
        return True
    if not match.form & (FILLED | OPEN) and (match.form & DETERMINED or match.reader < 0) and none_there(source, row, count):
        return True
    if match.reader < 0 or source.missing or match.form & OPEN or match.form & (DETERMINED | FILLED) and source.validity != NULL:
        for n in range(count):
            if not agrees(k, columns, matches, index, row + n, there + n):
                return False
        return True
    column = columns + match.reader
    write_waiting(column)
    if source.kind == KIND_LIST:
        return lists_agree(k, columns, matches, index, row, there, count)
    if source.kind != KIND_STRUCT:
        return scalars_agree(source, column, row, there, count)
    if not match.form & ALTERNATIVES and not same_there(source, column, row, there, count):
        return False
    child = source.child
    while child >= 0:
        if not all_agree(k, columns, matches, child, row, there, count):
            return False
        child = k.sources[child].sibling
    return True


cdef bint lists_agree(Builder *k, Column *columns, const Match *matches, int64_t index, int64_t row, int64_t there, int64_t count) noexcept nogil:
    """Whether lists read back equal; all their elements are consecutive on both sides."""
    cdef const Source *source = k.sources + index
    cdef Column *column = columns + matches[index].reader
    cdef const int32_t *given = <const int32_t *>source.offsets + source.first + row
    cdef const int32_t *found = <const int32_t *>column.offsets.data + there
    cdef int64_t n
    if there + count > column.length or not same_there(source, column, row, there, count):
        return False
    for n in range(count):
        if given[n] < 0 or given[n + 1] < given[n] or given[n + 1] - given[n] != found[n + 1] - found[n]:
            return False
    if given[count] > given[0] and given[count] > k.sources[source.child].length:
        return False
    return all_agree(k, columns, matches, source.child, given[0], found[0], given[count] - given[0])


cdef bint scalars_agree(const Source *source, Column *column, int64_t row, int64_t there, int64_t count) noexcept nogil:
    """Whether values read back equal."""
    cdef int64_t n, at, width
    cdef uint64_t given_rows
    cdef const int32_t *given
    cdef const int32_t *found
    if source.validity != NULL or column.nullable or there + count > column.length or source.kind == KIND_BOOLEAN:
        if not same_there(source, column, row, there, count):
            return False
        for n in range(0, count, 64):
            given_rows = given_in(source, row + n, count - n if count - n < 64 else 64)
            while given_rows:
                at = n + wl_lowest(given_rows)
                given_rows &= given_rows - 1
                if not scalar_agrees(source, column, row + at, there + at):
                    return False
        return True
    if source.kind == KIND_BYTES:
        given, found = <const int32_t *>source.offsets + source.first + row, <const int32_t *>column.offsets.data + there
        for n in range(count):
            if given[n + 1] - given[0] != found[n + 1] - found[0]:
                return False
        width = found[count] - found[0]
        if given[0] < 0 or given[count] > source.size:
            return False
        return width == 0 or memcmp(source.data + given[0], column.data.data + found[0], <size_t>width) == 0
    width = width_of(source.kind)
    if memcmp(source.data + (source.first + row) * width, column.data.data + there * width, <size_t>(count * width)) == 0:
        return True
    for n in range(count if source.kind in (KIND_FLOAT, KIND_DOUBLE) else 0):
        if not scalar_agrees(source, column, row + n, there + n):
            return False
    return source.kind in (KIND_FLOAT, KIND_DOUBLE)


cdef void empty(Column *columns, int count) noexcept nogil:
    """Clear all columns."""
    cdef Column *column
    cdef int n
    for n in range(count):
        column = columns + n
        write_waiting(column)
        if column.length == 0:
            continue
        if column.nullable:
            memset(column.validity.data, 0, <size_t>((column.length + 7) >> 3))
        if column.kind == KIND_BOOLEAN:
            memset(column.data.data, 0, <size_t>((column.length + 7) >> 3))
        column.length = column.size = 0


cdef int note_open(Builder *k, int64_t column, int64_t first) noexcept nogil:
    """Note an open value that was written."""
    cdef Opened entry
    entry.column, entry.row = column, k.rows[k.sources[column].space]
    entry.first, entry.size = first, k.size - first
    return push(&k.opened, &entry, sizeof(Opened))


cdef inline bint is_nil(const uint8_t *data, int64_t size) noexcept nogil:
    """Whether a value is null, in MessagePack or in JSON."""
    return (size == 1 and data[0] == 0xC0) or (size == 4 and memcmp(data, b"null", 4) == 0)


cdef const Opened *opened_in(Builder *k, bint is_settled, int64_t column, int64_t row) noexcept nogil:
    """The open value of a row in the output, or in `replaced`; NULL if it is missing.

    Open values mostly come in the order in which they were written: the search continues after the last one found.
    """
    cdef const Stack *values = &k.settled if is_settled else &k.opened
    cdef int64_t *following = &k.next_settled if is_settled else &k.next_opened
    cdef const Opened *all = <const Opened *>values.data
    cdef int64_t count = values.length // <int64_t>sizeof(Opened), n, at
    for n in range(count):
        at = following[0] + n
        if at >= count:
            at -= count
        if all[at].column == column and all[at].row == row:
            following[0] = at + 1 if at + 1 < count else 0
            return all + at
    return NULL


cdef bint opened_at(Builder *k, int64_t column, int64_t row, const uint8_t *data, int64_t size) noexcept nogil:
    """Whether an open value was written as these bytes or, if `data` is NULL, as nil.

    The values of a column come one after the other, and are mostly in the same place: in the output, or in `replaced`.
    """
    cdef bint is_settled = k.settled.length > 0 and column == k.settled_column
    cdef const Opened *found = opened_in(k, is_settled, column, row)
    cdef const uint8_t *written
    if found == NULL and k.settled.length > 0:
        is_settled = not is_settled
        found = opened_in(k, is_settled, column, row)
        k.settled_column = column if is_settled else -1
    if found == NULL or found.first + found.size > (k.replaced.length if is_settled else k.size):
        return False
    written = (k.replaced.data if is_settled else k.output.data) + found.first
    if data == NULL:
        return is_nil(written, found.size)
    return found.size == size and memcmp(written, data, <size_t>size) == 0
