# Reading the current row of the caller's columns.
#
# Rows are inside their column, since the driver has compared the lengths. Offsets in the buffers come from the caller,
# so they are checked at each use; a wrong one is MALFORMED, which is an error of the caller, not of a record.

cdef inline bint there(const Builder *k, int64_t index) noexcept nogil:
    """Whether the column has a value in the current row."""
    cdef const Source *source = k.sources + index
    cdef int64_t at
    if source.validity == NULL:
        return not source.missing
    at = source.first + k.rows[source.space]
    return source.validity[at >> 3] >> (at & 7) & 1


cdef inline bint chosen(const Builder *k, int64_t index, int64_t *child) noexcept nogil:
    """Whether alternatives have a value, and its column; -2 if several have one, which is invalid."""
    cdef int64_t each
    child[0] = -1
    if not there(k, index):
        return False
    each = k.sources[index].child
    while each >= 0:
        if there(k, each):
            child[0] = each if child[0] == -1 else -2
        each = k.sources[each].sibling
    return child[0] != -1


cdef inline int integer_at(const Builder *k, int64_t index, int64_t *value, bint *wide) noexcept nogil:
    """The integer of a column with a value; `wide` if it is an unsigned number beyond int64."""
    cdef const Source *source = k.sources + index
    cdef int64_t at = source.first + k.rows[source.space]
    wide[0] = False
    if source.kind == KIND_INT64:
        value[0] = (<const int64_t *>source.data)[at]
    elif source.kind == KIND_INT32:
        value[0] = (<const int32_t *>source.data)[at]
    elif source.kind == KIND_INT16:
        value[0] = (<const int16_t *>source.data)[at]
    elif source.kind == KIND_INT8:
        value[0] = (<const int8_t *>source.data)[at]
    else:
        value[0] = (<const int64_t *>source.data)[2 * at]
        at = (<const int64_t *>source.data)[2 * at + 1]
        if at == 0:
            wide[0] = value[0] < 0
        elif at != -1 or value[0] >= 0:
            return IRREGULAR
    return OK


cdef inline bint boolean_at(const Builder *k, int64_t index) noexcept nogil:
    cdef const Source *source = k.sources + index
    cdef int64_t at = source.first + k.rows[source.space]
    return source.data[at >> 3] >> (at & 7) & 1


cdef inline double double_at(const Builder *k, int64_t index) noexcept nogil:
    cdef const Source *source = k.sources + index
    cdef int64_t at = source.first + k.rows[source.space]
    if source.kind == KIND_FLOAT:
        return (<const float *>source.data)[at]
    return (<const double *>source.data)[at]


cdef inline int bytes_at(const Builder *k, int64_t index, Span *span) noexcept nogil:
    """The bytes of a column with a value."""
    cdef const Source *source = k.sources + index
    cdef int64_t at = source.first + k.rows[source.space]
    cdef int64_t first = (<const int32_t *>source.offsets)[at], last = (<const int32_t *>source.offsets)[at + 1]
    if first < 0 or last < first or last > source.size:
        return MALFORMED
    span.data = source.data + first
    span.size = last - first
    return OK


cdef inline int list_at(const Builder *k, int64_t index, int64_t *first, int64_t *last) noexcept nogil:
    """The rows of a list's elements."""
    cdef const Source *source = k.sources + index
    cdef int64_t at = source.first + k.rows[source.space]
    first[0] = (<const int32_t *>source.offsets)[at]
    last[0] = (<const int32_t *>source.offsets)[at + 1]
    if first[0] < 0 or last[0] < first[0] or (last[0] > first[0] and last[0] > k.sources[source.child].length):
        return MALFORMED
    return OK


cdef int64_t symbol_of(const Builder *k, const Span *span) noexcept nogil:
    """The number of a text constant; -1 for any other text."""
    cdef uint64_t place = hash_of(span.data, span.size, k.seed) & <uint64_t>k.symbol_mask
    cdef int64_t symbol
    while k.symbols[place]:
        symbol = k.symbol_list[k.symbols[place] - 1]
        if symbol & 0xFFFF == span.size and (
            not span.size or memcmp(k.m.texts + (symbol >> 16), span.data, <size_t>span.size) == 0
        ):
            return symbol
        place = (place + 1) & <uint64_t>k.symbol_mask
    return -1


cdef inline int64_t symbol_at(Builder *k, int64_t index, const Span *span) noexcept nogil:
    """The number of the text in the current row; it is looked up only once."""
    cdef Known *known = k.known + index
    cdef int64_t at = k.sources[index].first + k.rows[k.sources[index].space]
    if known.at != at:
        known.at, known.symbol = at, symbol_of(k, span)
    return known.symbol


cdef int total_of(Builder *k, int64_t index, int64_t column, int64_t *total) noexcept nogil:
    """The sum of the integers in `column`, for the elements of a list; nulls are skipped."""
    cdef int64_t element = k.sources[index].child, space = k.sources[element].space, row = k.rows[space]
    cdef int64_t first = 0, last = 0, each, value = 0, n
    cdef bint wide = False
    cdef int code = list_at(k, index, &first, &last)
    total[0] = 0
    for n in range(first, last):
        if code:
            break
        k.rows[space] = n
        each = column
        while each != element and there(k, each):
            each = k.sources[each].parent
        if each == element and there(k, each):
            code = integer_at(k, column, &value, &wide)
            if not code:
                code = IRREGULAR if wide else wl_add(total[0], value, total)
    k.rows[space] = row
    return code


cdef inline int load_column(Builder *k, const int64_t *i) noexcept nogil:
    """`load_name`, with fast paths for nulls and the common kinds."""
    cdef int64_t form = i[2], target = i[3]
    cdef bint wide
    cdef Span span
    cdef int code
    if form != LOAD_CHOICE and not there(k, i[1]):
        k.m.absent[target] = True
        return OK
    if form == LOAD_BOOLEAN:
        k.m.registers[target] = boolean_at(k, i[1])
    elif form == LOAD_INTEGER and k.sources[i[1]].kind <= KIND_INT64:
        integer_at(k, i[1], &k.m.registers[target], &wide)
    elif form == LOAD_SIZE or form == LOAD_SYMBOL:
        code = bytes_at(k, i[1], &span)
        if code:
            return code
        k.m.registers[target] = span.size if form == LOAD_SIZE else symbol_at(k, i[1], &span)
        k.m.pointers[target] = span.data if span.data != NULL else k.m.texts
    else:
        return load_name(k, i)
    k.m.absent[target] = False
    return OK


cdef inline int load_into(Builder *k, int64_t column, int64_t form, int64_t target) noexcept nogil:
    """`load_column` for forms without a further operand."""
    cdef int64_t operands[4]
    operands[1], operands[2], operands[3] = column, form, target
    return load_column(k, operands)


cdef int load_name(Builder *k, const int64_t *i) noexcept nogil:
    """i: column with a value, form (that `load_column` does not handle), register, for a sum the column of its integers"""
    cdef int64_t target = i[3], first = 0, last = 0
    cdef bint wide = False
    cdef double real
    cdef int code
    if i[2] == LOAD_CHOICE:
        k.m.absent[target] = not chosen(k, i[1], &first)
        k.m.registers[target] = 1
        return OK
    k.m.absent[target] = False
    if i[2] == LOAD_INTEGER:
        code = integer_at(k, i[1], &k.m.registers[target], &wide)
        return code if code or not wide else IRREGULAR
    if i[2] == LOAD_COUNT:
        code = list_at(k, i[1], &first, &last)
        k.m.registers[target] = last - first
        return code
    if i[2] == LOAD_SUM:
        return total_of(k, i[1], i[4], &k.m.registers[target])
    if i[2] == LOAD_PRESENT:
        k.m.registers[target] = 1
        return OK
    real = double_at(k, i[1])
    memcpy(&k.m.registers[target], &real, 8)
    return OK
