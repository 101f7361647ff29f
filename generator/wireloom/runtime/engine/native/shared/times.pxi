# Timestamps and dates: whole columns of RFC 3339 texts as microseconds or days since 1970, and back.
#
# Readers have checked the texts, so digits are where they must be; a text that is too short gives no value.

DEF LONGEST_MOMENT = 27
DEF SHORTEST_MOMENT = 20
DEF LENGTH_OF_DAY = 10
DEF FIRST_DAY = -719162
DEF LAST_DAY = 2932896
DEF DAYS_TO_MARCH = 719468
DEF DAYS_OF_CYCLE = 146097

cdef int64_t microseconds_of_day = 86400000000

TIME_KINDS = {"date": 0, "timestamp": 1}


cdef inline int64_t number_at(const uint8_t *at, int digits) noexcept nogil:
    cdef int64_t found = 0
    cdef int n
    for n in range(digits):
        found = 10 * found + at[n] - 48
    return found


cdef inline int put_padded(int64_t number, int digits, uint8_t *to) noexcept nogil:
    cdef int n
    for n in range(digits - 1, -1, -1):
        to[n] = 48 + number % 10
        number //= 10
    return digits


cdef int64_t day_at(const uint8_t *text) noexcept nogil:
    """The days since 1970 of the day that ten characters say. Years begin in March here, so that they end with leap days."""
    cdef int64_t year = number_at(text, 4), month = number_at(text + 5, 2), day = number_at(text + 8, 2), days
    if month <= 2:
        year -= 1
        month += 12
    days = (153 * (month - 3) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + days - DAYS_TO_MARCH


cdef int64_t moment_at(const uint8_t *text, int64_t size) noexcept nogil:
    """The microseconds since 1970 of a moment in at least twenty characters; what is finer is cut off."""
    cdef int64_t seconds = 86400 * day_at(text), place = 19, unit = 100000, fraction = 0, apart
    seconds += 3600 * number_at(text + 11, 2) + 60 * number_at(text + 14, 2) + number_at(text + 17, 2)
    if text[19] == 46:
        place = 20
        while place < size and 48 <= text[place] <= 57:
            fraction += unit * (text[place] - 48)
            unit //= 10
            place += 1
    if place + 6 == size:
        apart = 3600 * number_at(text + place + 1, 2) + 60 * number_at(text + place + 4, 2)
        seconds += apart if text[place] == 45 else -apart
    return 1000000 * seconds + fraction


cdef int put_day(int64_t day, uint8_t *to) noexcept nogil:
    """The ten characters of a day."""
    cdef int64_t cycle, year, days, month
    day += DAYS_TO_MARCH
    cycle = day // DAYS_OF_CYCLE
    day -= cycle * DAYS_OF_CYCLE
    year = (day - day // 1460 + day // 36524 - day // (DAYS_OF_CYCLE - 1)) // 365
    days = day - (365 * year + year // 4 - year // 100)
    month = (5 * days + 2) // 153
    days -= (153 * month + 2) // 5
    month += 3
    if month > 12:
        month -= 12
        year += 1
    put_padded(400 * cycle + year, 4, to)
    to[4] = 45
    put_padded(month, 2, to + 5)
    to[7] = 45
    put_padded(days + 1, 2, to + 8)
    return LENGTH_OF_DAY


cdef int put_moment(int64_t day, int64_t rest, uint8_t *to) noexcept nogil:
    """A moment in UTC, so many microseconds after the beginning of a day; without a fraction where it has none."""
    cdef int64_t seconds = rest // 1000000
    cdef int n = put_day(day, to)
    to[n] = 84
    n += 1 + put_padded(seconds // 3600, 2, to + n + 1)
    to[n] = 58
    n += 1 + put_padded(seconds // 60 % 60, 2, to + n + 1)
    to[n] = 58
    n += 1 + put_padded(seconds % 60, 2, to + n + 1)
    if rest % 1000000:
        to[n] = 46
        n += 1 + put_padded(rest % 1000000, 6, to + n + 1)
    to[n] = 90
    return n + 1


def counts_of_times(kind, offsets, data, int64_t first, int64_t count):
    """The counts that texts say, as a block of 64 bits each, of days 32; a text that is too short says nothing."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i") if offsets is not None else None
    cdef const uint8_t[::1] texts = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef Buffer found
    cdef int which = TIME_KINDS[kind]
    cdef int64_t n, size, shortest = SHORTEST_MOMENT if which else LENGTH_OF_DAY, value
    memset(&found, 0, sizeof(Buffer))
    if reserve(&found, 8 * count + 8):
        raise MemoryError
    with nogil:
        for n in range(count):
            size = places[first + n + 1] - places[first + n]
            value = 0
            if size >= shortest:
                if which:
                    value = moment_at(&texts[0] + places[first + n], size)
                else:
                    value = day_at(&texts[0] + places[first + n])
            if which:
                (<int64_t *>found.data)[n] = value
            else:
                (<int32_t *>found.data)[n] = <int32_t>value
    return block(&found, (8 if which else 4) * count)


def texts_of_times(kind, counts, present, int64_t first, int64_t count):
    """The texts of counts of 64 bits, as blocks of offsets and text; None where one is beyond the years 1 to 9999."""
    cdef const int64_t[::1] values = memoryview(counts).cast("B").cast("q") if count else None
    cdef const uint8_t[::1] there = memoryview(present).cast("B") if present is not None else None
    cdef Buffer found, text
    cdef int which = TIME_KINDS[kind], refused = 0
    cdef int64_t n, used = 0, day, rest
    memset(&found, 0, sizeof(Buffer))
    memset(&text, 0, sizeof(Buffer))
    if reserve(&found, 4 * (count + 1)) or reserve(&text, LONGEST_MOMENT * count + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            if there is None or there[n >> 3] >> (n & 7) & 1:
                day = values[first + n]
                rest = 0
                if which:
                    rest = day % microseconds_of_day
                    if rest < 0:
                        rest += microseconds_of_day
                    day = (day - rest) // microseconds_of_day
                if day < FIRST_DAY or day > LAST_DAY or used > 0x7FFFFF00:
                    refused = 1
                    break
                if which:
                    used += put_moment(day, rest, <uint8_t *>text.data + used)
                else:
                    used += put_day(day, <uint8_t *>text.data + used)
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    if refused:
        drop(&found)
        drop(&text)
        return None
    return block(&found, 4 * (count + 1)), block(&text, used)
