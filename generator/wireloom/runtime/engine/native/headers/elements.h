/* Find where an element of a JSON array ends, by brackets and quotes alone. streams/elements.py does the same in
 * Python.
 *
 * `wl_element` keeps the position, the depth and whether the position is inside a string. So an element may come in
 * any number of pieces, and each piece is looked at once. Whether the element is valid JSON is checked later, when
 * it is decoded. */
#ifndef WIRELOOM_ELEMENTS_H
#define WIRELOOM_ELEMENTS_H

#include "bytes.h"

typedef struct {
    int64_t position, depth;
    int quoted;
} wl_element;

#define WL_EACH 0x0101010101010101ULL

/* The first quote or backslash; `end` if there is none. */
static inline const uint8_t *wl_quote(const uint8_t *p, const uint8_t *end) {
    while (end - p >= 8) {
        uint64_t word = wl_load8(p), quote = word ^ (WL_EACH * '"'), slash = word ^ (WL_EACH * '\\');
        uint64_t stop = (((quote - WL_EACH) & ~quote) | ((slash - WL_EACH) & ~slash)) & WL_HIGH_BITS;
        if (stop) return p + (__builtin_ctzll(stop) >> 3);
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\') p++;
    return p;
}

/* The position of the comma or bracket after the element; -1 if it is not in the data. */
static int64_t wl_element_end(wl_element *element, const uint8_t *data, int64_t size) {
    const uint8_t *p = data + element->position, *end = data + size;
    int64_t found = -1;
    while (p < end) {
        if (element->quoted) {
            p = wl_quote(p, end);
            if (p == end) break;
            if (*p == '"') {
                element->quoted = 0;
            } else if (end - p < 2) {
                break; /* the escaped character is in the next piece */
            } else {
                p++;
            }
            p++;
            continue;
        }
        uint8_t byte = *p;
        if (byte == '"') {
            element->quoted = 1;
        } else if (byte == '[' || byte == '{') {
            element->depth++;
        } else if (element->depth == 0 && (byte == ',' || byte == ']')) {
            found = p - data;
            break;
        } else if ((byte == ']' || byte == '}') && element->depth > 0) {
            element->depth--;
        }
        p++;
    }
    element->position = p - data;
    return found;
}

#endif
