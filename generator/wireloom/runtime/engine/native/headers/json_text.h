/* JSON text, written byte for byte as parsers/json/text.py writes it: numbers, strings and base64.
 *
 * Each function writes to `to`, where the caller has reserved the bytes that its comment states, and returns the
 * position after the last byte. NULL means that the value needs Python's own writer. */
#ifndef WIRELOOM_JSON_TEXT_H
#define WIRELOOM_JSON_TEXT_H

#include "json.h"

static uint16_t wl_two_digits[100]; /* "00" to "99" */
static uint16_t wl_two_sextets[4096]; /* two characters of base64 for twelve bits */

/* --- integers ------------------------------------------------------------------------------------------------------ */

/* The digits of a number; needs 24 bytes. */
static inline uint8_t *wl_put_digits(uint8_t *to, uint64_t number) {
    uint8_t digits[48];
    int at = 20;
    while (number >= 100) {
        at -= 2;
        memcpy(digits + at, &wl_two_digits[number % 100], 2);
        number /= 100;
    }
    if (number >= 10) {
        at -= 2;
        memcpy(digits + at, &wl_two_digits[number], 2);
    } else {
        digits[--at] = (uint8_t)('0' + number);
    }
    memcpy(to, digits + at, 20);
    return to + 20 - at;
}

/* An integer; `wide`: an unsigned one. */
static inline uint8_t *wl_put_integer(uint8_t *to, int64_t number, int wide) {
    if (number >= 0 || wide) return wl_put_digits(to, (uint64_t)number);
    *to++ = '-';
    return wl_put_digits(to, 0 - (uint64_t)number);
}

/* --- floats -------------------------------------------------------------------------------------------------------- */

/* The high half of a product of 64 and 128 bits; its lowest bit tells whether the lower half was not zero. */
static inline uint64_t wl_product(const uint64_t ten[2], uint64_t number) {
    uint64_t carried = (uint64_t)((unsigned __int128)ten[1] * number >> 64);
    unsigned __int128 product = (unsigned __int128)ten[0] * number + carried;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The fewest digits that only this double is nearest to, and of those the nearest; their power of ten. 0: not found here.
 *
 * R. Giulietti, "The Schubfach way to render doubles", 2021: the powers of ten that the interval around the double must
 * contain a multiple of are two; 128 bits of a power of five, rounded up, decide which multiple it is. */
static uint64_t wl_shortest(uint64_t bits, int *power) {
    uint64_t fraction = bits & ((1ULL << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t number = biased ? fraction | 1ULL << 52 : fraction;
    int exponent = biased ? biased - 1075 : -1074;
    int narrow = fraction == 0 && biased > 1; /* the double below is half as far away */
    int ten = (exponent * 1262611 - (narrow ? 524031 : 0)) >> 22;
    if (-ten > WL_LARGEST_POWER || -ten < WL_SMALLEST_POWER) return 0;
    int shift = exponent + ((-ten * 1741647) >> 19) + 1;
    const uint64_t *five = wl_powers + 2 * (-ten - WL_SMALLEST_POWER);
    uint64_t above[2] = {five[0], five[1]};
    if ((-ten < -27 || -ten > 55) && ++above[1] == 0) above[0]++;
    int odd = (int)(number & 1);
    uint64_t low = wl_product(above, (4 * number - 2 + (uint64_t)narrow) << shift) + (uint64_t)odd;
    uint64_t middle = wl_product(above, 4 * number << shift);
    uint64_t high = wl_product(above, (4 * number + 2) << shift) - (uint64_t)odd;
    uint64_t whole = middle / 4;
    if (whole >= 10) {
        uint64_t tens = whole / 10;
        int below = low <= 40 * tens, beyond = 40 * tens + 40 <= high;
        if (below != beyond) {
            *power = ten + 1;
            return tens + (uint64_t)beyond;
        }
    }
    int below = low <= 4 * whole, beyond = 4 * whole + 4 <= high;
    *power = ten;
    if (below != beyond) return whole + (uint64_t)beyond;
    uint64_t half = 4 * whole + 2;
    return whole + (middle > half || (middle == half && (whole & 1)));
}

/* A finite float as Python's repr writes it; needs 32 bytes. NULL: Python must write it. */
static uint8_t *wl_put_real(uint8_t *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    if (bits >> 63) {
        *to++ = '-';
        value = -value;
        bits &= ~(1ULL << 63);
    }
    if (value < 9007199254740992.0 && value == (double)(uint64_t)value) {
        to = wl_put_digits(to, (uint64_t)value);
        memcpy(to, ".0", 2);
        return to + 2;
    }
    int power = 0;
    uint64_t number = wl_shortest(bits, &power);
    if (number == 0) return NULL;
    while (number % 10 == 0) {
        number /= 10;
        power++;
    }
    uint8_t digits[32];
    int count = (int)(wl_put_digits(digits, number) - digits), point = count + power;
    if (point > -4 && point <= 0) { /* 0.00123 */
        memcpy(to, "0.000", 5);
        memcpy(to + 2 - point, digits, 20);
        return to + 2 - point + count;
    }
    if (point > 0 && point < count) { /* 12.3 */
        memcpy(to, digits, 20);
        to[point] = '.';
        memcpy(to + point + 1, digits + point, 12);
        memcpy(to + point + 13, digits + point + 12, 4);
        return to + count + 1;
    }
    if (point >= count && point <= 16) { /* 12300.0 */
        memcpy(to, digits, 20);
        memset(to + count, '0', 16);
        memcpy(to + point, ".0", 2);
        return to + point + 2;
    }
    *to++ = digits[0];
    if (count > 1) {
        *to++ = '.';
        memcpy(to, digits + 1, 20);
        to += count - 1;
    }
    point--;
    *to++ = 'e';
    *to++ = point < 0 ? '-' : '+';
    if (point < 0) point = -point;
    if (point >= 100) {
        *to++ = (uint8_t)('0' + point / 100);
        point %= 100;
    }
    memcpy(to, &wl_two_digits[point], 2);
    return to + 2;
}

/* --- strings ------------------------------------------------------------------------------------------------------- */

/* Text with its quotes, backslashes and control characters escaped; room for six times its size, and 8 bytes. `high` gets
 * the highest bits of its bytes. */
static inline uint8_t *wl_put_escaped(uint8_t *to, const uint8_t *p, int64_t size, uint64_t *high) {
    static const char letters[] = "\0\0\0\0\0\0\0\0btn\0fr\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    const uint8_t *end = p + size;
    while (p < end) {
        int64_t left = end - p;
        uint64_t word = wl_short_word(p, left);
        memcpy(to, &word, 8);
        *high |= word;
        if (left < 8) word |= WL_ONES * 'a' << (8 * left);
        uint64_t quote = word ^ (WL_ONES * '"'), slash = word ^ (WL_ONES * '\\');
        uint64_t stop = ((quote - WL_ONES) & ~quote) | ((slash - WL_ONES) & ~slash) | ((word - WL_ONES * 0x20) & ~word);
        stop &= WL_HIGH_BITS;
        if (!stop) {
            to += left < 8 ? left : 8;
            p += 8;
            continue;
        }
        int run = __builtin_ctzll(stop) >> 3;
        to += run;
        p += run;
        uint8_t byte = *p++;
        *to++ = '\\';
        if (byte >= 0x20) {
            *to++ = byte;
        } else if (letters[byte]) {
            *to++ = (uint8_t)letters[byte];
        } else {
            memcpy(to, "u00", 3);
            to[3] = (uint8_t)('0' + (byte >> 4));
            to[4] = (uint8_t)"0123456789abcdef"[byte & 15];
            to += 5;
        }
    }
    return to;
}

/* Padded base64; needs four thirds of the size, and 8 bytes. */
static uint8_t *wl_put_base64(uint8_t *to, const uint8_t *p, int64_t size) {
    for (; size >= 3; size -= 3, p += 3, to += 4) {
        uint32_t word = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        memcpy(to, &wl_two_sextets[word >> 12], 2);
        memcpy(to + 2, &wl_two_sextets[word & 4095], 2);
    }
    if (size) {
        uint32_t word = (uint32_t)p[0] << 16 | (size > 1 ? (uint32_t)p[1] << 8 : 0);
        memcpy(to, &wl_two_sextets[word >> 12], 2);
        memcpy(to + 2, &wl_two_sextets[word & 4095], 2);
        if (size == 1) to[2] = '=';
        to[3] = '=';
        to += 4;
    }
    return to;
}

#endif
