/* Unsigned integers of 128 bits, as two halves of 64: read from decimal text, written as decimal text, and compared. */
#ifndef WIRELOOM_WIDE_H
#define WIRELOOM_WIDE_H

#include <stdint.h>

typedef struct {
    uint64_t low, high;
} wl_wide;

/* value * 10 + digit; whether that is beyond 128 bits */
static inline int wl_shifted(wl_wide *value, uint64_t digit) {
    uint64_t part[4] = {value->low & 0xFFFFFFFF, value->low >> 32, value->high & 0xFFFFFFFF, value->high >> 32};
    for (int n = 0; n < 4; n++) {
        digit += part[n] * 10;
        part[n] = digit & 0xFFFFFFFF;
        digit >>= 32;
    }
    value->low = part[1] << 32 | part[0];
    value->high = part[3] << 32 | part[2];
    return digit != 0;
}

/* The number that a text says, of at most `bits` (1 to 128) bits; one plus sign may lead. Whether it says none. */
static inline int wl_decimal(const uint8_t *text, int64_t size, int64_t bits, wl_wide *value) {
    int64_t n = size > 0 && text[0] == '+';
    value->low = value->high = 0;
    if (n == size) return 1;
    for (; n < size; n++)
        if (text[n] < '0' || text[n] > '9' || wl_shifted(value, (uint64_t)(text[n] - '0'))) return 1;
    return bits < 64 ? value->high != 0 || value->low >> bits != 0 : bits < 128 && value->high >> (bits - 64) != 0;
}

/* The decimal digits, from `text` on; how many there are: at most 39. */
static inline int64_t wl_digits(wl_wide value, uint8_t *text) {
    uint8_t last[39];
    int64_t count = 0, n;
    do {
        uint64_t part[4] = {value.high >> 32, value.high & 0xFFFFFFFF, value.low >> 32, value.low & 0xFFFFFFFF}, rest = 0;
        for (n = 0; n < 4; n++) {
            rest = rest << 32 | part[n];
            part[n] = rest / 10;
            rest %= 10;
        }
        value.high = part[0] << 32 | part[1];
        value.low = part[2] << 32 | part[3];
        last[count++] = (uint8_t)('0' + rest);
    } while (value.high || value.low);
    for (n = 0; n < count; n++) text[n] = last[count - 1 - n];
    return count;
}

/* -1, 0 or 1 */
static inline int wl_wide_order(wl_wide a, wl_wide b) {
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

#endif
