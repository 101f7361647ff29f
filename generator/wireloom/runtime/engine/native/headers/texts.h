/* Positions in UTF-8 texts, counted in characters.
 *
 * A character begins at each byte that is no continuation byte. Eight bytes are counted at once. */
#ifndef WIRELOOM_TEXTS_H
#define WIRELOOM_TEXTS_H

#include <stdint.h>
#include <string.h>

static inline int wl_begins(uint8_t byte) { return (byte & 0xC0) != 0x80; }

/* The number of characters that begin in eight bytes. */
static inline int64_t wl_begun(const uint8_t *p) {
    uint64_t word, follows;
    memcpy(&word, p, 8);
    follows = word >> 7 & ~word >> 6 & 0x0101010101010101u;
    return 8 - (int64_t)(follows * 0x0101010101010101u >> 56);
}

/* The offset of the character after `count` others, or the end. */
static inline int64_t wl_forward(const uint8_t *text, int64_t size, int64_t count) {
    int64_t at = 0, begun;
    while (count >= 8 && at + 8 <= size) {
        begun = wl_begun(text + at);
        count -= begun;
        at += 8;
    }
    for (; at < size; at++)
        if (wl_begins(text[at]) && count-- == 0) return at;
    return size;
}

/* The offset of the character `count` (at least 1) before the end, or the beginning. */
static inline int64_t wl_backward(const uint8_t *text, int64_t size, int64_t count) {
    int64_t at = size, begun;
    while (count > 8 && at >= 8) {
        begun = wl_begun(text + at - 8);
        count -= begun;
        at -= 8;
    }
    while (at > 0)
        if (wl_begins(text[--at]) && --count == 0) return at;
    return 0;
}

/* The offset for a number: negative ones count from the end; it is limited to the text. */
static inline int64_t wl_place(const uint8_t *text, int64_t size, int64_t number, int characters) {
    if (number < 0) {
        if (number < -size) return 0;
        return characters ? wl_backward(text, size, -number) : size + number;
    }
    if (number > size) return size;
    return characters ? wl_forward(text, size, number) : number;
}

#endif
