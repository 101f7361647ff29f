/* Checksums and UTF-8: the loops that must run at the speed of memory. Every function reads exactly [data, data + size). */
#ifndef WIRELOOM_DIGESTS_H
#define WIRELOOM_DIGESTS_H

#include <stdint.h>
#include <string.h>

#include "md5.h"

/* --- CRC by the Rocksoft model, 8 to 64 bits; slice-by-16 where reflected, by bytes where not ----------------------- */

typedef struct {
    uint64_t table[16][256];
    uint64_t init, xorout, mask;
    int width, reflected;
} wl_crc;

static uint64_t wl_reflect(uint64_t value, int width) {
    uint64_t mirrored = 0;
    for (int bit = 0; bit < width; bit++)
        if (value >> bit & 1) mirrored |= (uint64_t)1 << (width - 1 - bit);
    return mirrored;
}

static void wl_crc_prepare(wl_crc *crc, int width, uint64_t poly, uint64_t init, uint64_t xorout, int reflected) {
    crc->width = width;
    crc->reflected = reflected;
    crc->mask = width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
    crc->init = reflected ? wl_reflect(init, width) : init;
    crc->xorout = xorout;
    uint64_t mirrored = wl_reflect(poly, width);
    for (int byte = 0; byte < 256; byte++) {
        uint64_t value;
        if (reflected) {
            value = (uint64_t)byte;
            for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? mirrored : 0);
        } else {
            value = (uint64_t)byte << (width - 8);
            for (int bit = 0; bit < 8; bit++) value = (value << 1 ^ (value >> (width - 1) & 1 ? poly : 0)) & crc->mask;
        }
        crc->table[0][byte] = value;
    }
    for (int slice = 1; slice < 16; slice++)
        for (int byte = 0; byte < 256; byte++) {
            uint64_t before = crc->table[slice - 1][byte];
            crc->table[slice][byte] = before >> 8 ^ crc->table[0][before & 0xFF];
        }
}

static uint64_t wl_crc_value(const wl_crc *crc, const uint8_t *data, int64_t size) {
    uint64_t value = crc->init;
    if (!crc->reflected) {
        int shift = crc->width - 8;
        for (; size > 0; size--) value = (value << 8 ^ crc->table[0][(value >> shift ^ *data++) & 0xFF]) & crc->mask;
        return value ^ crc->xorout;
    }
    for (; size >= 16; size -= 16, data += 16) {
        uint64_t word, next;
        memcpy(&word, data, 8);
        memcpy(&next, data + 8, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
        next = __builtin_bswap64(next);
#endif
        word ^= value;
        value = crc->table[15][word & 0xFF] ^ crc->table[14][word >> 8 & 0xFF] ^ crc->table[13][word >> 16 & 0xFF] ^
                crc->table[12][word >> 24 & 0xFF] ^ crc->table[11][word >> 32 & 0xFF] ^
                crc->table[10][word >> 40 & 0xFF] ^ crc->table[9][word >> 48 & 0xFF] ^ crc->table[8][word >> 56] ^
                crc->table[7][next & 0xFF] ^ crc->table[6][next >> 8 & 0xFF] ^ crc->table[5][next >> 16 & 0xFF] ^
                crc->table[4][next >> 24 & 0xFF] ^ crc->table[3][next >> 32 & 0xFF] ^
                crc->table[2][next >> 40 & 0xFF] ^ crc->table[1][next >> 48 & 0xFF] ^ crc->table[0][next >> 56];
    }
    for (; size >= 8; size -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word ^= value;
        value = crc->table[7][word & 0xFF] ^ crc->table[6][word >> 8 & 0xFF] ^ crc->table[5][word >> 16 & 0xFF] ^
                crc->table[4][word >> 24 & 0xFF] ^ crc->table[3][word >> 32 & 0xFF] ^ crc->table[2][word >> 40 & 0xFF] ^
                crc->table[1][word >> 48 & 0xFF] ^ crc->table[0][word >> 56];
    }
    for (; size > 0; size--) value = crc->table[0][(value ^ *data++) & 0xFF] ^ value >> 8;
    return value ^ crc->xorout;
}

/* --- UTF-8 as RFC 3629 has it: nothing overlong, no surrogates, nothing above U+10FFFF ----------------------------- */

static int wl_is_utf8(const uint8_t *data, int64_t size) {
    const uint8_t *end = data + size;
    while (data < end) {
        while (end - data >= 8) {
            uint64_t word;
            memcpy(&word, data, 8);
            if (word & 0x8080808080808080ULL) break;
            data += 8;
        }
        if (data == end) return 1;
        uint8_t lead = *data;
        if (lead < 0x80) {
            data++;
            continue;
        }
        int more;
        uint8_t low = 0x80, high = 0xBF;
        if (lead >= 0xC2 && lead <= 0xDF) {
            more = 1;
        } else if ((lead & 0xF0) == 0xE0) {
            more = 2;
            if (lead == 0xE0) low = 0xA0;
            if (lead == 0xED) high = 0x9F;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            more = 3;
            if (lead == 0xF0) low = 0x90;
            if (lead == 0xF4) high = 0x8F;
        } else {
            return 0;
        }
        if (end - data <= more || data[1] < low || data[1] > high) return 0;
        for (int i = 2; i <= more; i++)
            if ((data[i] & 0xC0) != 0x80) return 0;
        data += more + 1;
    }
    return 1;
}

#endif
