/* Copy short runs of bytes, and look for bytes beyond ASCII in the same pass.
 *
 * The caller has WL_SLACK writable bytes after the end of the target, so that short runs are written as whole words.
 * Bytes after the end of the source are only read where `readable` allows it: they never reach the result, and save
 * the branches on the size. */
#ifndef WL_BYTES_H
#define WL_BYTES_H

#include <stdint.h>
#include <string.h>

#define WL_SLACK 64
#define WL_HIGH_BITS 0x8080808080808080ULL

static inline uint64_t wl_load8(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

typedef uint8_t wl_vector __attribute__((vector_size(16))); /* comparisons set all bits of a byte, or none */

static inline wl_vector wl_load16(const uint8_t *p) { wl_vector v; memcpy(&v, p, 16); return v; }

/* The first `size` (0 to 8) bytes of a word. */
static inline uint64_t wl_first(uint64_t word, int64_t size) { return size >= 8 ? word : word & ((1ULL << (8 * size)) - 1); }

/* Up to 8 bytes as a word, filled up with zeros; reads nothing beyond them. */
static inline uint64_t wl_short_word(const uint8_t *p, int64_t size) {
    if (size >= 8) return wl_load8(p);
    if (size >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + size - 4, 4);
        return low | (uint64_t)high << (8 * (size - 4));
    }
    if (size == 0) return 0;
    return p[0] | (uint64_t)p[size >> 1] << (8 * (size >> 1)) | (uint64_t)p[size - 1] << (8 * (size - 1));
}

/* The index of the lowest set bit of a word. */
static inline int64_t wl_lowest(uint64_t word) { return __builtin_ctzll(word); }

static inline void wl_copy(uint8_t *to, const uint8_t *from, int64_t size, int64_t readable) {
    if (size <= 32 && readable >= 32) {
        memcpy(to, from, 32);
    } else if (size > 64) {
        memcpy(to, from, (size_t)size);
    } else if (size > 32) {
        memcpy(to, from, 32);
        memcpy(to + size - 32, from + size - 32, 32);
    } else if (size >= 16) {
        memcpy(to, from, 16);
        memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else {
        uint64_t word = wl_short_word(from, size);
        memcpy(to, &word, 8);
    }
}

/* The first of `count` byte values before `end`; `end` if there is none. */
static inline const uint8_t *wl_stop(const uint8_t *p, const uint8_t *end, const int64_t *stops, int64_t count) {
    if (count == 1) {
        const uint8_t *found = p < end ? (const uint8_t *)memchr(p, (int)stops[0], (size_t)(end - p)) : NULL;
        return found == NULL ? end : found;
    }
    for (; end - p >= 16; p += 16) {
        wl_vector bytes = wl_load16(p), hits = (wl_vector)(bytes == (uint8_t)stops[0]);
        uint64_t words[2];
        for (int64_t n = 1; n < count; n++) hits |= (wl_vector)(bytes == (uint8_t)stops[n]);
        memcpy(words, &hits, 16);
        if (words[0]) return p + (__builtin_ctzll(words[0]) >> 3);
        if (words[1]) return p + 8 + (__builtin_ctzll(words[1]) >> 3);
    }
    for (; p < end; p++)
        for (int64_t n = 0; n < count; n++)
            if (*p == stops[n]) return p;
    return end;
}

/* Copy `size` bytes without their escapes; returns the new size. A byte follows the last escape. */
static inline int64_t wl_unescape(uint8_t *to, const uint8_t *p, int64_t size, int escape, const uint8_t *meanings) {
    const uint8_t *end = p + size, *next;
    uint8_t *start = to;
    while ((next = (const uint8_t *)memchr(p, escape, (size_t)(end - p))) != NULL) {
        memcpy(to, p, (size_t)(next - p));
        to += next - p;
        *to++ = meanings[next[1]];
        p = next + 2;
    }
    memcpy(to, p, (size_t)(end - p));
    return to + (end - p) - start;
}

/* Move bytes up; the ranges may overlap, and have WL_SLACK bytes after them. */
static inline void wl_shift(uint8_t *to, const uint8_t *from, int64_t size) {
    if (size > 64) {
        memmove(to, from, (size_t)size);
    } else {
        uint8_t bytes[64];
        memcpy(bytes, from, 64);
        memcpy(to, bytes, 64);
    }
}

/* Whether all bytes are ASCII; may return false for longer texts, which the caller then checks. */
static inline int wl_is_short_ascii(const uint8_t *p, int64_t size, int64_t readable) {
    if (size <= 32 && readable >= 32) {
        uint64_t high = wl_load8(p) & wl_first(WL_HIGH_BITS, size);
        if (size > 8) {
            int64_t left = size - 8;
            high |= wl_load8(p + 8) & wl_first(WL_HIGH_BITS, left);
            if (size > 16) {
                high |= wl_load8(p + 16) & wl_first(WL_HIGH_BITS, left - 8);
                if (size > 24) high |= wl_load8(p + 24) & wl_first(WL_HIGH_BITS, left - 16);
            }
        }
        return high == 0;
    }
    if (size <= 8) return (wl_short_word(p, size) & WL_HIGH_BITS) == 0;
    if (size <= 16) return ((wl_load8(p) | wl_load8(p + size - 8)) & WL_HIGH_BITS) == 0;
    if (size <= 32) return ((wl_load8(p) | wl_load8(p + 8) | wl_load8(p + size - 16) | wl_load8(p + size - 8)) & WL_HIGH_BITS) == 0;
    return 0;
}

#endif
