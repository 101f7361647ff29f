/* JSON text to an array of nodes: one pass that checks everything that needs no schema.
 *
 * The grammar is RFC 8259, exactly as parsers/json/text.py checks it: UTF-8, no lone surrogates, no name twice in an
 * object (escapes resolved first), a limit on nesting, floats within 64 bits. If a text breaks a rule, or has
 * something rare that is not handled here, reading stops without a reason: the parser reads the record again and
 * reports the error. Strings with escapes are resolved into an arena. Numbers are read to their digits; floats are
 * computed when a step needs them.
 *
 * Every read lies within [text, text + size). Eight bytes are compared at once with plain 64-bit words; strings are
 * read sixteen at a time where there is SSE2. */
#ifndef WIRELOOM_JSON_H
#define WIRELOOM_JSON_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "digests.h"
#include "bytes.h"
#include "shapes.h"

enum { WL_NULL, WL_BOOLEAN, WL_INTEGER, WL_FLOAT, WL_TEXT, WL_LIST, WL_OBJECT };

enum {
    WL_ESCAPED = 1,  /* a text in the arena: its offset << 32 | its size */
    WL_NEGATIVE = 2,
    WL_WIDE = 4,   /* an integer beyond int64, within uint64 */
    WL_BEYOND = 8, /* an integer beyond both, or a float whose last digits were dropped */
    WL_NAME = 16,  /* the name of a member; the next node is its value */
    WL_SHAPED = 32, /* an object whose names are a path in the tree of shapes */
};

enum {
    WL_OPEN = 512, /* the deepest nesting of containers */
    WL_FEW_NAMES = 24,
    WL_SMALLEST_POWER = -342,
    WL_LARGEST_POWER = 308,
};

typedef struct {
    uint32_t start, end; /* its place in the text */
    uint32_t next;       /* the node after it and all nodes inside; after a name comes its value */
    uint8_t kind, flags;
    int16_t power; /* a float's power of ten; an object's last name in the tree, if WL_SHAPED, or the enclosing name */
    uint64_t value; /* a number, the digits of a float, an offset in the arena, or members and height << 32 */
} wl_node;

typedef struct {
    wl_node *nodes;
    int64_t count, capacity;
    const uint8_t *text;
    uint8_t *arena;
    int64_t arena_capacity, arena_size;
    uint32_t *table; /* indices of names + 1, while the names of a large object are compared */
    int64_t table_capacity;
    uint64_t seed;
    int64_t noted; /* the number of the text in the parser's checkpoints, see checkpoints.pxi */
    wl_shapes shapes;
} wl_json;

typedef struct {
    uint32_t node, count, height;
    uint64_t names; /* the hashes (of 64) of the names so far */
    uint16_t known; /* the last name in the tree of shapes, or the enclosing one; WL_UNKNOWN: not in the tree */
    uint16_t expected; /* the first of the names that may come next */
} wl_open;

/* The number of elements or members of a container, and the depth of nesting inside, including itself. */
static inline int64_t wl_members(const wl_node *node) { return (int64_t)(node->value & 0xFFFFFFFF); }
static inline int64_t wl_height(const wl_node *node) { return (int64_t)(node->value >> 32); }

#define WL_ONES 0x0101010101010101ULL
#define WL_HIGH_BITS 0x8080808080808080ULL

/* --- texts --------------------------------------------------------------------------------------------------------- */

static inline const uint8_t *wl_text_of(const wl_json *json, const wl_node *node, int64_t *size) {
    if (node->flags & WL_ESCAPED) {
        *size = (int64_t)(node->value & 0xFFFFFFFF);
        return json->arena + (node->value >> 32);
    }
    *size = (int64_t)node->end - node->start - 2;
    return json->text + node->start + 1;
}

/* The first byte that ends a run of plain text: a quote, a backslash or a control character; `end` where there is none.
 * `high` is not zero then if there were bytes beyond ASCII. */
static inline const uint8_t *wl_plain(const uint8_t *p, const uint8_t *end, uint64_t *high) {
#ifdef __SSE2__
    while (end - p >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes));
        uint32_t stops = (uint32_t)_mm_movemask_epi8(stop), above = (uint32_t)_mm_movemask_epi8(bytes);
        if (stops) {
            *high |= above & (stops - 1) & ~stops;
            return p + __builtin_ctz(stops);
        }
        *high |= above;
        p += 16;
    }
#endif
    while (end - p >= 8) {
        uint64_t word = wl_load8(p);
        uint64_t quote = word ^ (WL_ONES * '"'), slash = word ^ (WL_ONES * '\\');
        uint64_t stop = ((quote - WL_ONES) & ~quote) | ((slash - WL_ONES) & ~slash) | ((word - WL_ONES * 0x20) & ~word);
        stop &= WL_HIGH_BITS;
        if (stop) {
            int bytes = __builtin_ctzll(stop) >> 3;
            *high |= wl_first(word, bytes) & WL_HIGH_BITS;
            return p + bytes;
        }
        *high |= word & WL_HIGH_BITS;
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\' && *p >= 0x20) *high |= *p++ & 0x80;
    return p;
}

static inline int wl_hex_digit(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static inline int wl_hex4(const uint8_t *p) {
    int a = wl_hex_digit(p[0]), b = wl_hex_digit(p[1]), c = wl_hex_digit(p[2]), d = wl_hex_digit(p[3]);
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

/* The character of the escape at `p`, a backslash; moves `*p` after it. -1: an invalid escape. */
static int32_t wl_escape(const uint8_t **at, const uint8_t *end) {
    const uint8_t *p = *at + 1;
    if (p >= end) return -1;
    *at = p + 1;
    switch (*p) {
        case '"': case '\\': case '/': return *p;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'u': break;
        default: return -1;
    }
    if (end - p < 5) return -1;
    int32_t unit = wl_hex4(p + 1);
    *at = p + 5;
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    if (unit > 0xDBFF || end - p < 11 || p[5] != '\\' || p[6] != 'u') return -1;
    int32_t low = wl_hex4(p + 7);
    if (low < 0xDC00 || low > 0xDFFF) return -1;
    *at = p + 11;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

static inline uint8_t *wl_put_character(uint8_t *to, int32_t character) {
    if (character < 0x80) {
        *to++ = (uint8_t)character;
    } else if (character < 0x800) {
        *to++ = (uint8_t)(0xC0 | character >> 6);
        *to++ = (uint8_t)(0x80 | (character & 0x3F));
    } else if (character < 0x10000) {
        *to++ = (uint8_t)(0xE0 | character >> 12);
        *to++ = (uint8_t)(0x80 | (character >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (character & 0x3F));
    } else {
        *to++ = (uint8_t)(0xF0 | character >> 18);
        *to++ = (uint8_t)(0x80 | (character >> 12 & 0x3F));
        *to++ = (uint8_t)(0x80 | (character >> 6 & 0x3F));
        *to++ = (uint8_t)(0x80 | (character & 0x3F));
    }
    return to;
}

/* Resolve a text with escapes, which is plain from `start` to `p`. Returns its closing quote, or NULL. The arena has space. */
static const uint8_t *wl_resolve(wl_json *json, const uint8_t *start, const uint8_t *p, const uint8_t *end, uint64_t *high, uint64_t *place) {
    uint8_t *first = json->arena + json->arena_size, *to = first;
    memcpy(to, start, (size_t)(p - start));
    to += p - start;
    for (;;) {
        if (p >= end || *p < 0x20) return NULL;
        if (*p == '"') break;
        int32_t character = wl_escape(&p, end);
        if (character < 0) return NULL;
        to = wl_put_character(to, character);
        const uint8_t *run = p;
        p = wl_plain(p, end, high);
        wl_copy(to, run, p - run, end - run);
        to += p - run;
    }
    *place = (uint64_t)json->arena_size << 32 | (uint64_t)(to - first);
    json->arena_size += to - first;
    return p;
}

/* Read the text whose quote is at `p`; returns the end, or NULL if it is invalid. */
static inline const uint8_t *wl_take_string(wl_json *json, wl_node *node, const uint8_t *p, const uint8_t *end) {
    uint64_t high = 0;
    const uint8_t *start = p + 1;
    p = wl_plain(start, end, &high);
    node->kind = WL_TEXT;
    node->flags = 0;
    node->value = 0;
    if (p < end && *p == '\\') {
        node->flags = WL_ESCAPED;
        p = wl_resolve(json, start, p, end, &high, &node->value);
        if (p == NULL) return NULL;
    }
    if (p >= end || *p != '"') return NULL;
    if (high && !wl_is_utf8(start, p - start)) return NULL;
    return p + 1;
}

/* --- names --------------------------------------------------------------------------------------------------------- */

static inline int wl_same_text(const uint8_t *a, int64_t a_size, const uint8_t *b, int64_t b_size) {
    if (a_size != b_size) return 0;
    if (a_size <= 8) return wl_short_word(a, a_size) == wl_short_word(b, b_size);
    return wl_load8(a) == wl_load8(b) && memcmp(a + 8, b + 8, (size_t)(a_size - 8)) == 0;
}

/* Whether a name differs from the few before it in its object. */
static int wl_is_new_name(const wl_json *json, const wl_open *open, const wl_node *name) {
    int64_t size, other_size;
    const uint8_t *text = wl_text_of(json, name, &size);
    const wl_node *other = json->nodes + open->node + 1;
    while (other < name) {
        const uint8_t *other_text = wl_text_of(json, other, &other_size);
        if (wl_same_text(text, size, other_text, other_size)) return 0;
        other = json->nodes + other[1].next;
    }
    return 1;
}

static inline uint64_t wl_name_hash(const uint8_t *text, int64_t size) {
    uint64_t word = wl_short_word(text, size > 8 ? 8 : size);
    if (size > 8) word ^= wl_load8(text + size - 8) * 0x9E3779B97F4A7C15ULL;
    return (word ^ (uint64_t)size) * 0xFF51AFD7ED558CCDULL;
}

/* One of 64 bits, by the name's hash. */
static inline uint64_t wl_name_bit(const uint8_t *text, int64_t size) { return 1ULL << (wl_name_hash(text, size) >> 58); }

static uint64_t wl_seeded_hash(const uint8_t *text, int64_t size, uint64_t value) {
    value ^= (uint64_t)size * 0x9E3779B97F4A7C15ULL;
    for (; size >= 8; text += 8, size -= 8) {
        value = (value ^ wl_load8(text)) * 0xFF51AFD7ED558CCDULL;
        value ^= value >> 32;
    }
    value = (value ^ wl_short_word(text, size)) * 0xC4CEB9FE1A85EC53ULL;
    return value ^ value >> 29;
}

/* Whether all names of an object differ: 1, 0, or -1 if there is no memory. */
static int wl_has_new_names(wl_json *json, const wl_open *open, int64_t last) {
    int64_t slots = 64;
    while (slots < (int64_t)open->count * 2) slots *= 2;
    if (slots > json->table_capacity) {
        uint32_t *grown = (uint32_t *)realloc(json->table, (size_t)slots * sizeof(uint32_t));
        if (grown == NULL) return -1;
        json->table = grown;
        json->table_capacity = slots;
    }
    memset(json->table, 0, (size_t)slots * sizeof(uint32_t));
    for (int64_t at = (int64_t)open->node + 1; at < last; at = json->nodes[at + 1].next) {
        int64_t size, other_size;
        const uint8_t *text = wl_text_of(json, json->nodes + at, &size);
        uint64_t place = wl_seeded_hash(text, size, json->seed) & (uint64_t)(slots - 1);
        while (json->table[place]) {
            const uint8_t *other = wl_text_of(json, json->nodes + json->table[place] - 1, &other_size);
            if (wl_same_text(text, size, other, other_size)) return 0;
            place = (place + 1) & (uint64_t)(slots - 1);
        }
        json->table[place] = (uint32_t)at + 1;
    }
    return 1;
}

/* --- numbers ------------------------------------------------------------------------------------------------------- */

static inline int wl_is_digit(const uint8_t *p, const uint8_t *end) { return p < end && (uint8_t)(*p - '0') <= 9; }

/* The number of leading digits (0 to 8) in eight bytes, and their value. */
static inline int wl_digits8(const uint8_t *p, uint64_t *number) {
    uint64_t word = wl_load8(p), low = word - WL_ONES * '0';
    uint64_t others = ((word + WL_ONES * 0x46) | low) & WL_HIGH_BITS;
    int count = others ? __builtin_ctzll(others) >> 3 : 8;
    if (count == 0) return 0;
    low <<= 8 * (8 - count); /* zeros before the digits */
    low = (low * 10 + (low >> 8)) & 0x00FF00FF00FF00FFULL;
    low = (low * 100 + (low >> 16)) & 0x0000FFFF0000FFFFULL;
    *number = (low * 10000 + (low >> 32)) & 0xFFFFFFFFULL;
    return count;
}

static const uint64_t wl_tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Read the fraction and the exponent of a number after its whole part. */
static const uint8_t *wl_take_real(wl_node *node, const uint8_t *p, const uint8_t *end, uint64_t digits, int64_t count, int64_t left_out) {
    int64_t power = left_out, exponent = 0;
    int negative = 0;
    if (*p == '.') {
        p++;
        if (!wl_is_digit(p, end)) return NULL;
        if (digits == 0)
            for (; p < end && *p == '0'; p++) power--;
        for (int more = 8; more == 8 && count <= 11 && end - p >= 8;) {
            uint64_t number;
            more = wl_digits8(p, &number);
            if (more == 0) break;
            digits = digits * wl_tens[more] + number;
            count += more;
            power -= more;
            p += more;
        }
        for (; wl_is_digit(p, end); p++) {
            if (count < 19) {
                digits = digits * 10 + (uint64_t)(*p - '0');
                count += digits != 0;
                power--;
            } else if (*p != '0') {
                node->flags |= WL_BEYOND;
            }
        }
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
        if (!wl_is_digit(p, end)) return NULL;
        for (; wl_is_digit(p, end); p++)
            if (exponent < 100000) exponent = exponent * 10 + (*p - '0');
    }
    power += negative ? -exponent : exponent;
    /* numbers that could be infinite, and powers that a node cannot hold, are left to the parser */
    if (digits != 0 && power + count > WL_LARGEST_POWER) return NULL;
    if (power < -30000 || power > 30000) return NULL;
    node->kind = WL_FLOAT;
    node->power = (int16_t)power;
    node->value = digits;
    return p;
}

static inline const uint8_t *wl_take_number(wl_node *node, const uint8_t *p, const uint8_t *end) {
    uint64_t digits = 0;
    int64_t count = 0, left_out = 0;
    node->kind = WL_INTEGER;
    node->flags = 0;
    if (*p == '-') {
        node->flags = WL_NEGATIVE;
        p++;
    }
    if (!wl_is_digit(p, end)) return NULL;
    if (*p == '0') {
        p++;
        if (wl_is_digit(p, end)) return NULL;
    } else {
        const uint8_t *first = p;
        for (int more = 8; more == 8 && p - first <= 8 && end - p >= 8;) {
            uint64_t number;
            more = wl_digits8(p, &number);
            if (more == 0) break;
            digits = digits * wl_tens[more] + number;
            p += more;
        }
        while (wl_is_digit(p, end) && p - first < 19) digits = digits * 10 + (uint64_t)(*p++ - '0');
        count = p - first;
        if (wl_is_digit(p, end)) {
            uint64_t whole;
            const uint8_t *twentieth = p;
            int beyond = __builtin_mul_overflow(digits, 10, &whole) || __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole);
            int inexact = 0;
            for (; wl_is_digit(p, end); p++) inexact |= *p != '0';
            left_out = p - twentieth;
            if (p < end && (*p == '.' || (*p | 0x20) == 'e')) {
                if (inexact) node->flags |= WL_BEYOND;
                return wl_take_real(node, p, end, digits, count, left_out);
            }
            if (beyond || left_out > 1) {
                node->flags |= WL_BEYOND;
                node->value = 0;
                return p;
            }
            digits = whole;
        }
    }
    if (p < end && (*p == '.' || (*p | 0x20) == 'e')) return wl_take_real(node, p, end, digits, count, left_out);
    if (node->flags & WL_NEGATIVE) {
        if (digits > 1ULL << 63) node->flags |= WL_BEYOND;
        digits = 0 - digits;
    } else if (digits >> 63) {
        node->flags |= WL_WIDE;
    }
    node->value = digits;
    return p;
}

static uint64_t wl_powers[2 * (WL_LARGEST_POWER - WL_SMALLEST_POWER + 1)]; /* powers of five, 128 bits each, high half first */

/* The double that is nearest to a number's digits times ten to its power; 0 where that needs more than this.
 *
 * Few digits and a small power are exact in doubles (W. Clinger, 1990); the others are multiplied by 128 bits of the power
 * of five (D. Lemire, "Number Parsing at a Gigabyte per Second", 2021). */
static int wl_real_of(uint64_t digits, int64_t power, int negative, double *real) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value;
    if (digits == 0) {
        *real = negative ? -0.0 : 0.0;
        return 1;
    }
    if (digits <= 1ULL << 53 && power >= -22 && power <= 22) {
        value = power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
        *real = negative ? -value : value;
        return 1;
    }
    if (power < WL_SMALLEST_POWER || power > WL_LARGEST_POWER) return 0;
    const uint64_t *five = wl_powers + 2 * (power - WL_SMALLEST_POWER);
    int leading = __builtin_clzll(digits);
    digits <<= leading;
    unsigned __int128 first = (unsigned __int128)digits * five[0];
    uint64_t high = (uint64_t)(first >> 64), low = (uint64_t)first;
    if ((high & 0x1FF) == 0x1FF) {
        uint64_t more = (uint64_t)((unsigned __int128)digits * five[1] >> 64);
        low += more;
        high += low < more;
        if (low == UINT64_MAX && (power < -27 || power > 55)) return 0;
    }
    int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 9);
    int64_t exponent = (((152170 + 65536) * power) >> 16) + 63 + upper - leading + 1023;
    if (exponent <= 0) return 0;
    if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 && mantissa << (upper + 9) == high) mantissa &= ~1ULL;
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >= 2ULL << 52) {
        mantissa = 1ULL << 52;
        exponent++;
    }
    if (exponent >= 0x7FF) return 0;
    uint64_t bits = (mantissa & ~(1ULL << 52)) | (uint64_t)exponent << 52 | (uint64_t)negative << 63;
    memcpy(real, &bits, 8);
    return 1;
}

/* The value of a number as a double; 0 if its text must be read again. */
static inline int wl_node_real(const wl_node *node, double *real) {
    int negative = (node->flags & WL_NEGATIVE) != 0;
    if (node->kind == WL_INTEGER) {
        if (node->flags & WL_BEYOND) return 0;
        *real = node->flags & WL_WIDE ? (double)node->value : (double)(int64_t)node->value;
        if (negative && node->value == 0) *real = -0.0;
        return 1;
    }
    if (node->flags & WL_BEYOND) {
        double above;
        if (!wl_real_of(node->value, node->power, negative, real)) return 0;
        return wl_real_of(node->value + 1, node->power, negative, &above) && above == *real;
    }
    return wl_real_of(node->value, node->power, negative, real);
}

/* --- the whole text ------------------------------------------------------------------------------------------------ */

static int wl_json_grow(wl_json *json) {
    int64_t capacity = json->capacity ? json->capacity * 2 : 256;
    wl_node *grown = (wl_node *)realloc(json->nodes, (size_t)capacity * sizeof(wl_node));
    if (grown == NULL) return 0;
    json->nodes = grown;
    json->capacity = capacity;
    return 1;
}

/* An object of some members of another one, as nodes after all others; 0 where there is no room.
 *
 * `names` are the places of the members that are left out, in their order. */
static int wl_json_without(wl_json *json, int64_t object, const int64_t *names, int64_t left_out) {
    int64_t end = json->nodes[object].next, start = json->count, place = 0;
    int64_t height = 0, members = 0;
    while (json->capacity < start + (end - object))
        if (json->capacity > UINT32_MAX / 4 || !wl_json_grow(json)) return 0;
    wl_node *made = json->nodes + start, *to = made + 1;
    *made = json->nodes[object];
    for (int64_t at = object + 1; at < end;) {
        int64_t next = json->nodes[at + 1].next;
        if (place < left_out && names[place] == at) {
            place++;
        } else {
            uint32_t shift = (uint32_t)(to - json->nodes) - (uint32_t)at;
            const wl_node *value = json->nodes + at + 1;
            if (value->kind >= WL_LIST && wl_height(value) > height) height = wl_height(value);
            for (int64_t n = at; n < next; n++, to++) {
                *to = json->nodes[n];
                to->next += shift;
            }
            members++;
        }
        at = next;
    }
    made->value = (uint64_t)members | (uint64_t)(height + 1) << 32;
    made->flags = 0;
    made->power = WL_UNKNOWN;
    made->next = (uint32_t)(to - json->nodes);
    json->count = made->next;
    return 1;
}

static int wl_json_prepare(wl_json *json, int64_t size) {
    int64_t wanted = 2 * size + 4 * WL_SLACK;
    if (wanted > json->arena_capacity) {
        uint8_t *grown = (uint8_t *)malloc((size_t)wanted);
        if (grown == NULL) return 0;
        free(json->arena);
        json->arena = grown;
        json->arena_capacity = wanted;
    }
    return 1;
}

static inline const uint8_t *wl_skip_white(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p <= 0x20 && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

static inline int wl_is_word(const uint8_t *p, const uint8_t *end, const char *word, int64_t size) {
    return end - p >= size && memcmp(p, word, (size_t)size) == 0;
}

/* Learn the names of an object, for later records. */
static void wl_json_learn(wl_json *json, const wl_node *object) {
    wl_shapes *shapes = &json->shapes;
    int added = 0;
    if (object->flags & WL_SHAPED || object->power == WL_UNKNOWN || wl_members(object) == 0) return;
    if (shapes->fruitless >= WL_FRUITLESS || (shapes->edges == NULL && !wl_shapes_begin(shapes))) return;
    uint16_t *place = &shapes->edges[object->power].within;
    for (const wl_node *name = object + 1, *last = json->nodes + object->next; name < last; name = json->nodes + name[1].next) {
        const uint8_t *text = json->text + name->start;
        int64_t size = (int64_t)name->end - name->start + 1;
        if (name->flags & WL_ESCAPED || text[size - 1] != ':') break;
        uint16_t found = wl_learned(shapes, place, text, size, wl_name_bit(text + 1, size - 3), &added);
        if (found == WL_UNKNOWN) break;
        place = &shapes->edges[found].after;
    }
    shapes->fruitless += !added;
}

/* Read the text: 1, 0 if it is given up, -1 if there is no memory. At most `depth` containers are nested. */
static int wl_json_read(wl_json *json, const uint8_t *text, int64_t size, int64_t depth) {
    const uint8_t *p = text, *end = text + size;
    wl_open opened[WL_OPEN];
    const wl_edge *edges = json->shapes.edges != NULL ? json->shapes.edges : wl_no_edges;
    int64_t open = 0;
    uint16_t around = WL_OUTSIDE; /* the name of the next value, or of the value around it */
    wl_node *node;
    json->count = 0;
    json->text = text;
    json->arena_size = 0;
    if (size >= INT32_MAX / 2) return 0;
    if (!wl_json_prepare(json, size)) return -1;
    if (depth > WL_OPEN) depth = WL_OPEN;

value:
    p = wl_skip_white(p, end);
    if (p == end) return 0;
    if (json->count == json->capacity && !wl_json_grow(json)) return -1;
    node = json->nodes + json->count++;
    node->start = (uint32_t)(p - text);
    switch (*p) {
        case '"':
            p = wl_take_string(json, node, p, end);
            if (p == NULL) return 0;
            break;
        case '{':
        case '[':
            if (open >= depth) return 0;
            node->kind = *p == '{' ? WL_OBJECT : WL_LIST;
            node->flags = 0;
            node->next = 0;
            node->power = (int16_t)around;
            opened[open].known = around;
            opened[open].expected = edges[around].within;
            opened[open].node = (uint32_t)(json->count - 1);
            opened[open].count = 0;
            opened[open].height = 0;
            opened[open].names = 0;
            open++;
            p = wl_skip_white(p + 1, end);
            if (p == end) return 0;
            if (node->kind == WL_OBJECT) {
                if (*p == '}') goto closed;
                goto name;
            }
            if (*p == ']') goto closed;
            opened[open - 1].count = 1;
            goto value;
        case 't':
            if (!wl_is_word(p, end, "true", 4)) return 0;
            node->kind = WL_BOOLEAN;
            node->flags = 0;
            node->value = 1;
            p += 4;
            break;
        case 'f':
            if (!wl_is_word(p, end, "false", 5)) return 0;
            node->kind = WL_BOOLEAN;
            node->flags = 0;
            node->value = 0;
            p += 5;
            break;
        case 'n':
            if (!wl_is_word(p, end, "null", 4)) return 0;
            node->kind = WL_NULL;
            node->flags = 0;
            p += 4;
            break;
        default:
            p = wl_take_number(node, p, end);
            if (p == NULL) return 0;
    }
    node->end = (uint32_t)(p - text);
    node->next = (uint32_t)json->count;

behind:
    p = wl_skip_white(p, end);
    if (open == 0) return p == end;
    if (p == end) return 0;
    if (*p == ',') {
        p++;
        if (json->nodes[opened[open - 1].node].kind == WL_OBJECT) goto name;
        opened[open - 1].count++;
        around = opened[open - 1].known;
        goto value;
    }
    if (*p != (json->nodes[opened[open - 1].node].kind == WL_OBJECT ? '}' : ']')) return 0;

closed:
    open--;
    node = json->nodes + opened[open].node;
    p++;
    if (node->kind == WL_OBJECT && opened[open].count > 0) {
        if (opened[open].known != WL_UNKNOWN) {
            node->flags = WL_SHAPED;
            node->power = (int16_t)opened[open].known;
        } else if (opened[open].count > WL_FEW_NAMES) {
            int good = wl_has_new_names(json, opened + open, json->count);
            if (good != 1) return good;
        }
    }
    node->end = (uint32_t)(p - text);
    node->next = (uint32_t)json->count;
    node->value = opened[open].count | (uint64_t)(opened[open].height + 1) << 32;
    if (open > 0 && opened[open - 1].height < opened[open].height + 1) opened[open - 1].height = opened[open].height + 1;
    goto behind;

name:
    p = wl_skip_white(p, end);
    if (p == end || *p != '"') return 0;
    if (json->count == json->capacity && !wl_json_grow(json)) return -1;
    node = json->nodes + json->count++;
    node->start = (uint32_t)(p - text);
    for (around = opened[open - 1].expected; around != WL_UNKNOWN; around = edges[around].beside) {
        const wl_edge *edge = edges + around;
        if (!wl_stands(edge, p, end - p)) continue;
        wl_open *object = opened + open - 1;
        object->count++;
        object->names |= edge->bit;
        object->known = around;
        object->expected = edge->after;
        p += edge->size;
        node->end = (uint32_t)(p - text) - 1;
        node->next = (uint32_t)json->count;
        node->kind = WL_TEXT;
        node->flags = WL_NAME;
        node->value = 0;
        goto value;
    }
    opened[open - 1].known = opened[open - 1].expected = WL_UNKNOWN;
    p = wl_take_string(json, node, p, end);
    if (p == NULL) return 0;
    node->flags |= WL_NAME;
    node->end = (uint32_t)(p - text);
    node->next = (uint32_t)json->count;
    {
        wl_open *object = opened + open - 1;
        int64_t length;
        const uint8_t *characters = wl_text_of(json, node, &length);
        uint64_t bit = wl_name_bit(characters, length);
        if (++object->count <= WL_FEW_NAMES) {
            if (object->names & bit && !wl_is_new_name(json, object, node)) return 0;
            object->names |= bit;
        }
    }
    p = wl_skip_white(p, end);
    if (p == end || *p != ':') return 0;
    p++;
    goto value;
}

/* --- base64 -------------------------------------------------------------------------------------------------------- */

static uint8_t wl_sextets[256]; /* the value of a base64 character; 0xFF: invalid */

/* Whether sixteen characters are all base64. */
static inline int wl_are_sextets(const uint8_t *text) {
    wl_vector characters = wl_load16(text);
    wl_vector letters = (wl_vector)((wl_vector)((characters | 0x20) - 'a') < 26);
    wl_vector digits = (wl_vector)((wl_vector)(characters - '0') < 10);
    wl_vector others = (wl_vector)(characters == '+') | (wl_vector)(characters == '/');
    wl_vector good = letters | digits | others;
    uint64_t words[2];
    memcpy(words, &good, 16);
    return (words[0] & words[1]) == UINT64_MAX;
}

/* The bytes of base64 text, after what the arena holds: their number, or -1 where it is not the one way to write them.
 *
 * Standard alphabet, padded, spare bits zero. With `lines` a line feed may stand after each full line of 76 characters.
 * Where nobody `wanted` them, the bytes are counted but not written. */
static int64_t wl_from_base64(wl_json *json, const uint8_t *text, int64_t size, int lines, int wanted, const uint8_t **bytes) {
    uint8_t *first = json->arena + json->arena_size, *to = first;
    int64_t line = 0;
    if (size / 4 * 3 + 8 > json->arena_capacity - WL_SLACK - json->arena_size) return -2;
    const uint8_t *end = text + size;
    int fed = lines && memchr(text, '\n', (size_t)size) != NULL;
    *bytes = first;
    while (text < end) {
        if (fed && line == 76) {
            if (*text++ != '\n') return -1;
            line = 0;
            continue;
        }
        if (!wanted && end - text > 16 && (!fed || line <= 60) && wl_are_sextets(text)) {
            text += 16;
            line += 16;
            to += 12;
            continue;
        }
        if (end - text < 4) return -1;
        uint32_t a = wl_sextets[text[0]], b = wl_sextets[text[1]], c = wl_sextets[text[2]], d = wl_sextets[text[3]];
        if ((a | b | c | d) < 0x40) {
            uint32_t word = a << 18 | b << 12 | c << 6 | d;
            to[0] = (uint8_t)(word >> 16);
            to[1] = (uint8_t)(word >> 8);
            to[2] = (uint8_t)word;
            to += 3;
        } else {
            if ((a | b) >= 0x40 || text[3] != '=') return -1;
            if (text[2] == '=') {
                if (b & 15) return -1;
                *to++ = (uint8_t)(a << 2 | b >> 4);
            } else {
                if (c >= 0x40 || c & 3) return -1;
                *to++ = (uint8_t)(a << 2 | b >> 4);
                *to++ = (uint8_t)(b << 4 | c >> 2);
            }
            /* the end, or a line feed after a full line */
            text += 4;
            line += 4;
            if (text < end && !(fed && line == 76 && text + 1 == end && *text == '\n')) return -1;
            break;
        }
        text += 4;
        line += 4;
    }
    json->arena_size += to - first;
    return to - first;
}

static void wl_json_free(wl_json *json) {
    free(json->nodes);
    free(json->arena);
    free(json->table);
    wl_shapes_free(&json->shapes);
}

#endif
