/* The heads of MessagePack values that the machine's main loop reads itself: the forms that are common.
 *
 * Each function reads a head of one family at *position and moves the position after it. Any other head gives
 * WL_SLOW, and the position stays: the general reader (`read_head`) then reads the rare forms, and refuses values of
 * other families. */
#ifndef WL_HEADS_H
#define WL_HEADS_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"

enum { WL_READ = 0, WL_SLOW = 1 };

static inline uint16_t wl_big16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return __builtin_bswap16(v); }
static inline uint32_t wl_big32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return __builtin_bswap32(v); }
static inline uint64_t wl_big64(const uint8_t *p) { return __builtin_bswap64(wl_load8(p)); }

/* An integer of any width; `wide` if it is beyond int64. */
static inline __attribute__((always_inline)) int wl_take_integer(const uint8_t **position, const uint8_t *end, int64_t *value, int *wide) {
    const uint8_t *p = *position;
    if (p >= end) return WL_SLOW;
    uint8_t first = *p;
    *wide = 0;
    if (first <= 0x7F || first >= 0xE0) {
        *value = (int8_t)first;
        *position = p + 1;
        return WL_READ;
    }
    if (first < 0xCC || first > 0xD3 || end - p <= 1 << (first & 3)) return WL_SLOW;
    switch (first) {
    case 0xCC: *value = p[1]; *position = p + 2; break;
    case 0xCD: *value = wl_big16(p + 1); *position = p + 3; break;
    case 0xCE: *value = wl_big32(p + 1); *position = p + 5; break;
    case 0xCF: *value = (int64_t)wl_big64(p + 1); *wide = *value < 0; *position = p + 9; break;
    case 0xD0: *value = (int8_t)p[1]; *position = p + 2; break;
    case 0xD1: *value = (int16_t)wl_big16(p + 1); *position = p + 3; break;
    case 0xD2: *value = (int32_t)wl_big32(p + 1); *position = p + 5; break;
    default: *value = (int64_t)wl_big64(p + 1); *position = p + 9; break;
    }
    return WL_READ;
}

/* A 64-bit float. */
static inline __attribute__((always_inline)) int wl_take_float(const uint8_t **position, const uint8_t *end, double *value) {
    const uint8_t *p = *position;
    if (end - p < 9 || *p != 0xCB) return WL_SLOW;
    uint64_t bits = wl_big64(p + 1);
    memcpy(value, &bits, 8);
    *position = p + 9;
    return WL_READ;
}

/* The length of a text of up to 255 bytes. */
static inline __attribute__((always_inline)) int wl_take_text(const uint8_t **position, const uint8_t *end, int64_t *size) {
    const uint8_t *p = *position;
    if (end - p < 2) return WL_SLOW;
    if ((*p & 0xE0) == 0xA0) {
        *size = *p & 0x1F;
        *position = p + 1;
        return WL_READ;
    }
    if (*p != 0xD9) return WL_SLOW;
    *size = p[1];
    *position = p + 2;
    return WL_READ;
}

/* The length of up to 255 bytes of binary data. */
static inline __attribute__((always_inline)) int wl_take_bytes(const uint8_t **position, const uint8_t *end, int64_t *size) {
    const uint8_t *p = *position;
    if (end - p < 2 || *p != 0xC4) return WL_SLOW;
    *size = p[1];
    *position = p + 2;
    return WL_READ;
}

/* The count of an array of up to 15 elements. */
static inline __attribute__((always_inline)) int wl_take_array(const uint8_t **position, const uint8_t *end, int64_t *count) {
    const uint8_t *p = *position;
    if (p >= end || (*p & 0xF0) != 0x90) return WL_SLOW;
    *count = *p & 0x0F;
    *position = p + 1;
    return WL_READ;
}

/* The family of each first byte: nil, bool, int, float, str, bin, array, map, ext; 9 for the byte that is never one. */
static const uint8_t wl_family[256] = {
#define WL_16(f) f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f
    WL_16(2), WL_16(2), WL_16(2), WL_16(2), WL_16(2), WL_16(2), WL_16(2), WL_16(2),
    WL_16(7), WL_16(6), WL_16(4), WL_16(4),
    0, 9, 1, 1, 5, 5, 5, 8, 8, 8, 3, 3, 2, 2, 2, 2,
    2, 2, 2, 2, 8, 8, 8, 8, 8, 4, 4, 4, 6, 6, 7, 7,
    WL_16(2), WL_16(2)
#undef WL_16
};

#endif
