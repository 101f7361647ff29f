/* Unsigned 128-bit integers as two halves of 64 bits: read from decimal text, and compared. */
#ifndef WIRELOOM_WIDE_H
#define WIRELOOM_WIDE_H

#include <stdint.h>

typedef struct {
    uint64_t low, high;
} wl_wide;

/* Read a number of at most `bits` (1 to 128) bits; a plus sign is allowed. Returns whether the text is not one. */
static inline int wl_decimal(const uint8_t *text, int64_t size, int64_t bits, wl_wide *value) {
    unsigned __int128 whole = 0, most = ~(unsigned __int128)0 >> (128 - bits), tenth = most / 10;
    int64_t n = size > 0 && text[0] == '+';
    if (n == size) return 1;
    for (; n < size; n++) {
        unsigned digit = text[n] - (unsigned)'0';
        if (digit > 9 || digit > most || whole > tenth || whole * 10 > most - digit) return 1;
        whole = whole * 10 + digit;
    }
    value->low = (uint64_t)whole;
    value->high = (uint64_t)(whole >> 64);
    return 0;
}

/* -1, 0 or 1 */
static inline int wl_wide_order(wl_wide a, wl_wide b) {
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

#endif
