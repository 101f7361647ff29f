/* Checksums and UTF-8: the loops that must run at the speed of memory. Every function reads exactly [data, data + size). */
#ifndef WIRELOOM_DIGESTS_H
#define WIRELOOM_DIGESTS_H

#include <stdint.h>
#include <string.h>

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

/* --- MD5 (RFC 1321) ------------------------------------------------------------------------------------------------ */

#define WL_F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define WL_G(x, y, z) (((x) & (z)) + ((y) & ~(z))) /* the terms share no bit: + is |, and shortens the chain */
#define WL_H(x, y, z) ((x) ^ (y) ^ (z))
#define WL_I(x, y, z) ((y) ^ ((x) | ~(z)))
#define WL_STEP(f, a, b, c, d, x, t, s) \
    a += f(b, c, d) + (x) + (uint32_t)(t); \
    a = (a << (s) | a >> (32 - (s))) + b;
#define WL_GSTEP(a, b, c, d, x, t, s) \
    a += (c & ~d) + (x) + (uint32_t)(t); \
    a += (b & d); \
    a = (a << (s) | a >> (32 - (s))) + b;

static uint32_t wl_word(const uint8_t *data) {
    uint32_t word;
    memcpy(&word, data, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

static void wl_md5_blocks(uint32_t state[4], const uint8_t *data, int64_t blocks) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (; blocks > 0; blocks--, data += 64) {
        uint32_t a0 = a, b0 = b, c0 = c, d0 = d;
#define WL_X(i) wl_word(data + 4 * (i))
#define WL_R(f, w, i, j, k, l, t0, t1, t2, t3, s0, s1, s2, s3) \
        w(f, a, b, c, d, WL_X(i), t0, s0) w(f, d, a, b, c, WL_X(j), t1, s1) \
        w(f, c, d, a, b, WL_X(k), t2, s2) w(f, b, c, d, a, WL_X(l), t3, s3)
#define WL_GW(f, a, b, c, d, x, t, s) WL_GSTEP(a, b, c, d, x, t, s)
        WL_R(WL_F, WL_STEP, 0, 1, 2, 3, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 7, 12, 17, 22)
        WL_R(WL_F, WL_STEP, 4, 5, 6, 7, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 7, 12, 17, 22)
        WL_R(WL_F, WL_STEP, 8, 9, 10, 11, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 7, 12, 17, 22)
        WL_R(WL_F, WL_STEP, 12, 13, 14, 15, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 7, 12, 17, 22)
        WL_R(WL_G, WL_GW, 1, 6, 11, 0, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 5, 9, 14, 20)
        WL_R(WL_G, WL_GW, 5, 10, 15, 4, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 9, 14, 20)
        WL_R(WL_G, WL_GW, 9, 14, 3, 8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 5, 9, 14, 20)
        WL_R(WL_G, WL_GW, 13, 2, 7, 12, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 5, 9, 14, 20)
        WL_R(WL_H, WL_STEP, 5, 8, 11, 14, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 4, 11, 16, 23)
        WL_R(WL_H, WL_STEP, 1, 4, 7, 10, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 4, 11, 16, 23)
        WL_R(WL_H, WL_STEP, 13, 0, 3, 6, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 4, 11, 16, 23)
        WL_R(WL_H, WL_STEP, 9, 12, 15, 2, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 4, 11, 16, 23)
        WL_R(WL_I, WL_STEP, 0, 7, 14, 5, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 6, 10, 15, 21)
        WL_R(WL_I, WL_STEP, 12, 3, 10, 1, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 6, 10, 15, 21)
        WL_R(WL_I, WL_STEP, 8, 15, 6, 13, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 6, 10, 15, 21)
        WL_R(WL_I, WL_STEP, 4, 11, 2, 9, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 6, 10, 15, 21)
        a += a0;
        b += b0;
        c += c0;
        d += d0;
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
}

static void wl_md5(const uint8_t *data, int64_t size, uint8_t digest[16]) {
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t tail[128];
    int64_t left = size & 63, padded = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)size << 3;
    wl_md5_blocks(state, data, size >> 6);
    memset(tail, 0, sizeof tail);
    if (left) memcpy(tail, data + (size - left), (size_t)left);
    tail[left] = 0x80;
    for (int i = 0; i < 8; i++) tail[padded - 8 + i] = (uint8_t)(bits >> (8 * i));
    wl_md5_blocks(state, tail, padded >> 6);
    for (int i = 0; i < 16; i++) digest[i] = (uint8_t)(state[i >> 2] >> (8 * (i & 3)));
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
