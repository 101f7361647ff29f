/* CRCs by the Rocksoft model, of 8 to 64 bits, and sums of bytes.
 *
 * `wl_crc_prepare` turns the parameters of a CRC into tables once; `wl_crc_value` then runs over the data. Reflected
 * CRCs use carry-less multiplication where the processor has it, else tables, 8 bytes at a time. CRCs that are not
 * reflected run byte by byte. All ways give the same value. */
#ifndef WIRELOOM_CRC_H
#define WIRELOOM_CRC_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WL_FOLDS 1
#include <immintrin.h>
#endif

/* --- by carry-less multiplication ----------------------------------------------------------------------------------- */

/* A CRC of w bits with polynomial P is one of 64 bits with G = P * x^(64 - w), in the low bits of the register, so one set
   of constants serves all widths. All is mirrored: bit 0 is the highest power. */
typedef struct {
    uint64_t near[2];        /* x^191 and x^127 mod G: they carry 16 bytes over the next 16 */
    uint64_t far[2];         /* x^575 and x^511 mod G: the same over 64 */
    uint64_t quotient, poly; /* x^128 / G and G, without their highest terms */
    int ready;
} wl_fold;

/* x^power mod G */
static uint64_t wl_power(uint64_t poly, int power) {
    uint64_t value = (uint64_t)1 << 63;
    for (; power > 0; power--) value = value >> 1 ^ (value & 1 ? poly : 0);
    return value;
}

static void wl_fold_prepare(wl_fold *fold, uint64_t poly) {
    uint64_t left = poly, quotient = 0; /* long division; its first step leaves G's lower terms */
    for (int bit = 0; bit < 64; bit++) {
        quotient |= (left & 1) << bit;
        left = left >> 1 ^ (left & 1 ? poly : 0);
    }
    fold->near[0] = wl_power(poly, 191);
    fold->near[1] = wl_power(poly, 127);
    fold->far[0] = wl_power(poly, 575);
    fold->far[1] = wl_power(poly, 511);
    fold->quotient = quotient;
    fold->poly = poly;
#ifdef WL_FOLDS
    fold->ready = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
#else
    fold->ready = 0;
#endif
}

#ifdef WL_FOLDS
/* Loaded from n on, the mask moves bytes up by 16 - n; from 16 + n on, down by n. Zeros come in. */
static const uint8_t WL_MOVES[48] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
};

#define WL_LOAD(place) _mm_loadu_si128((const __m128i *)(const void *)(place))
#define WL_CARRY(value, by) _mm_xor_si128(_mm_clmulepi64_si128(value, by, 0x00), _mm_clmulepi64_si128(value, by, 0x11))
#define WL_LOW(value) (uint64_t)_mm_cvtsi128_si64(value)
#define WL_HIGH(value) (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value))

/* The register after at least 16 bytes. Zeros in front of a text change nothing while the register is zero; so the
   register's value is added to the first bytes instead, and the first block filled up with zeros. */
__attribute__((target("pclmul,ssse3"))) static uint64_t wl_fold_value(
    const wl_fold *fold, uint64_t value, const uint8_t *data, int64_t size) {
    const __m128i start = _mm_set_epi64x(0, (long long)value), near = WL_LOAD(fold->near);
    const int64_t odd = size & 15;
    __m128i all = _mm_xor_si128(WL_LOAD(data), start), part;
    uint64_t low;
    if (odd) {
        all = _mm_shuffle_epi8(all, WL_LOAD(WL_MOVES + odd));
        part = _mm_shuffle_epi8(start, WL_LOAD(WL_MOVES + 16 + odd));
        all = _mm_xor_si128(WL_CARRY(all, near), _mm_xor_si128(WL_LOAD(data + odd), part));
    }
    data += odd + 16;
    size -= odd + 16;
    if (size >= 112) { /* four chains that do not wait for each other */
        const __m128i far = WL_LOAD(fold->far);
        __m128i second = WL_LOAD(data), third = WL_LOAD(data + 16), fourth = WL_LOAD(data + 32);
        for (data += 48, size -= 48; size >= 64; data += 64, size -= 64) {
            all = _mm_xor_si128(WL_CARRY(all, far), WL_LOAD(data));
            second = _mm_xor_si128(WL_CARRY(second, far), WL_LOAD(data + 16));
            third = _mm_xor_si128(WL_CARRY(third, far), WL_LOAD(data + 32));
            fourth = _mm_xor_si128(WL_CARRY(fourth, far), WL_LOAD(data + 48));
        }
        all = _mm_xor_si128(WL_CARRY(all, near), second);
        all = _mm_xor_si128(WL_CARRY(all, near), third);
        all = _mm_xor_si128(WL_CARRY(all, near), fourth);
    }
    for (; size > 0; data += 16, size -= 16) all = _mm_xor_si128(WL_CARRY(all, near), WL_LOAD(data));
    /* 16 bytes to 8, then Barrett reduction: the quotient by G, and the remainder. */
    all = _mm_xor_si128(_mm_clmulepi64_si128(all, near, 0x10), _mm_srli_si128(all, 8));
    low = WL_LOW(all);
    part = _mm_clmulepi64_si128(all, _mm_cvtsi64_si128((long long)fold->quotient), 0x00);
    low ^= WL_LOW(part) << 1;
    part = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)low), _mm_cvtsi64_si128((long long)fold->poly), 0x00);
    return (WL_HIGH(part) << 1 | WL_LOW(part) >> 63) ^ WL_HIGH(all);
}
#endif

/* --- by tables ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t table[8][256];
    uint64_t init, xorout, mask;
    int width, reflected;
    wl_fold fold;
    int rule;         /* the rule of a sum: 0 none (a CRC), 1 add, 2 xor, 3 fletcher, 4 internet */
    uint64_t modulus; /* of fletcher */
} wl_crc;

static void wl_sum_prepare(wl_crc *sum, int rule, int width, uint64_t modulus, uint64_t init, uint64_t xorout) {
    sum->rule = rule;
    sum->width = width;
    sum->mask = width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
    sum->modulus = modulus;
    sum->init = init;
    sum->xorout = xorout;
    sum->fold.ready = 0;
}

static uint64_t wl_sum_value(const wl_crc *sum, const uint8_t *data, int64_t size) {
    uint64_t first = sum->init, second = 0;
    int64_t n = 0;
    switch (sum->rule) {
    case 1:
        for (; n < size; n++) first += data[n];
        first &= sum->mask;
        break;
    case 2:
        for (; n < size; n++) first ^= data[n];
        break;
    case 3:
        while (n < size) {
            int64_t until = size - n > 4096 ? n + 4096 : size;
            for (; n < until; n++) second += first += data[n];
            first %= sum->modulus;
            second %= sum->modulus;
        }
        first %= sum->modulus;
        first |= second << sum->width / 2;
        break;
    default:
        for (; n < size; n++) first += (uint64_t)data[n] << (n & 1 ? 0 : 8);
        while (first >> 16) first = (first & 0xFFFF) + (first >> 16);
        first ^= 0xFFFF;
    }
    return first ^ sum->xorout;
}

static uint64_t wl_reflect(uint64_t value, int width) {
    uint64_t mirrored = 0;
    for (int bit = 0; bit < width; bit++)
        if (value >> bit & 1) mirrored |= (uint64_t)1 << (width - 1 - bit);
    return mirrored;
}

static void wl_crc_prepare(wl_crc *crc, int width, uint64_t poly, uint64_t init, uint64_t xorout, int reflected) {
    crc->rule = 0;
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
    wl_fold_prepare(&crc->fold, mirrored);
    for (int slice = 1; slice < 8; slice++)
        for (int byte = 0; byte < 256; byte++) {
            uint64_t before = crc->table[slice - 1][byte];
            crc->table[slice][byte] = before >> 8 ^ crc->table[0][before & 0xFF];
        }
}

static uint64_t wl_crc_value(const wl_crc *crc, const uint8_t *data, int64_t size) {
    uint64_t value = crc->init;
    if (crc->rule) return wl_sum_value(crc, data, size);
    if (!crc->reflected) {
        int shift = crc->width - 8;
        for (; size > 0; size--) value = (value << 8 ^ crc->table[0][(value >> shift ^ *data++) & 0xFF]) & crc->mask;
        return value ^ crc->xorout;
    }
#ifdef WL_FOLDS
    if (size >= 16 && crc->fold.ready) return wl_fold_value(&crc->fold, value, data, size) ^ crc->xorout;
#endif
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

#endif
