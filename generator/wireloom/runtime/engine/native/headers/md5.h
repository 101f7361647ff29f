/* MD5 (RFC 1321), of one text at a time or of eight.
 *
 * Each step of MD5 waits for the step before it, so one text leaves most of the processor idle. Eight texts run side
 * by side in the lanes of vectors; a lane that is finished gets the next text. */
#ifndef WIRELOOM_MD5_H
#define WIRELOOM_MD5_H

#include <stdint.h>
#include <string.h>

#define WL_F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define WL_G(x, y, z) (((x) & (z)) + ((y) & ~(z))) /* the terms share no bit: + is |, and shortens the chain */
#define WL_H(x, y, z) ((x) ^ (y) ^ (z))
#define WL_I(x, y, z) ((y) ^ ((x) | ~(z)))
#define WL_STEP(f, a, b, c, d, x, t, s) \
    a += f(b, c, d) + (x) + (uint32_t)(t); \
    a = (a << (s) | a >> (32 - (s))) + b;
#define WL_GSTEP(f, a, b, c, d, x, t, s) \
    a += (c & ~d) + (x) + (uint32_t)(t); \
    a += (b & d); \
    a = (a << (s) | a >> (32 - (s))) + b;
#define WL_R(f, step, i, j, k, l, t0, t1, t2, t3, s0, s1, s2, s3) \
    step(f, a, b, c, d, WL_X(i), t0, s0) step(f, d, a, b, c, WL_X(j), t1, s1) \
    step(f, c, d, a, b, WL_X(k), t2, s2) step(f, b, c, d, a, WL_X(l), t3, s3)
/* All rounds, on numbers or on vectors of them: a, b, c and d are the state, WL_X(i) is a word of the block. */
#define WL_MD5_ROUNDS \
    WL_R(WL_F, WL_STEP, 0, 1, 2, 3, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 7, 12, 17, 22) \
    WL_R(WL_F, WL_STEP, 4, 5, 6, 7, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 7, 12, 17, 22) \
    WL_R(WL_F, WL_STEP, 8, 9, 10, 11, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 7, 12, 17, 22) \
    WL_R(WL_F, WL_STEP, 12, 13, 14, 15, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 7, 12, 17, 22) \
    WL_R(WL_G, WL_GSTEP, 1, 6, 11, 0, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 5, 9, 14, 20) \
    WL_R(WL_G, WL_GSTEP, 5, 10, 15, 4, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 9, 14, 20) \
    WL_R(WL_G, WL_GSTEP, 9, 14, 3, 8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 5, 9, 14, 20) \
    WL_R(WL_G, WL_GSTEP, 13, 2, 7, 12, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 5, 9, 14, 20) \
    WL_R(WL_H, WL_STEP, 5, 8, 11, 14, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 4, 11, 16, 23) \
    WL_R(WL_H, WL_STEP, 1, 4, 7, 10, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 4, 11, 16, 23) \
    WL_R(WL_H, WL_STEP, 13, 0, 3, 6, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 4, 11, 16, 23) \
    WL_R(WL_H, WL_STEP, 9, 12, 15, 2, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 4, 11, 16, 23) \
    WL_R(WL_I, WL_STEP, 0, 7, 14, 5, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 6, 10, 15, 21) \
    WL_R(WL_I, WL_STEP, 12, 3, 10, 1, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 6, 10, 15, 21) \
    WL_R(WL_I, WL_STEP, 8, 15, 6, 13, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 6, 10, 15, 21) \
    WL_R(WL_I, WL_STEP, 4, 11, 2, 9, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 6, 10, 15, 21)

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
        WL_MD5_ROUNDS
#undef WL_X
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

static const uint32_t WL_MD5_START[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

/* Write the last blocks of a text: the rest, padded, with the size. Returns their number. */
static int64_t wl_md5_tail(const uint8_t *data, int64_t size, uint8_t tail[128]) {
    int64_t left = size & 63, padded = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)size << 3;
    memset(tail, 0, 128);
    if (left) memcpy(tail, data + (size - left), (size_t)left);
    tail[left] = 0x80;
    for (int i = 0; i < 8; i++) tail[padded - 8 + i] = (uint8_t)(bits >> (8 * i));
    return padded >> 6;
}

static void wl_md5_store(const uint32_t state[4], uint8_t digest[16]) {
    for (int i = 0; i < 16; i++) digest[i] = (uint8_t)(state[i >> 2] >> (8 * (i & 3)));
}

static void wl_md5(const uint8_t *data, int64_t size, uint8_t digest[16]) {
    uint32_t state[4];
    uint8_t tail[128];
    int64_t last = wl_md5_tail(data, size, tail);
    memcpy(state, WL_MD5_START, sizeof state);
    wl_md5_blocks(state, data, size >> 6);
    wl_md5_blocks(state, tail, last);
    wl_md5_store(state, digest);
}

/* --- several texts at once ------------------------------------------------------------------------------------------ */

enum { WL_LANES = 8 };

typedef struct {
    const uint8_t *data;
    int64_t size;
    const uint8_t *expected;
    int64_t row; /* of the record; for the caller */
    int good;    /* the result of the check */
} wl_digest;

typedef uint32_t wl_lane_words __attribute__((vector_size(4 * WL_LANES)));

/* So many blocks of each lane, the lanes' next blocks being `step` bytes apart. A compiler without such vectors in the
   target makes two or eight of them. */
#define WL_LANE_BLOCKS(name) \
    static void name(uint32_t state[4][WL_LANES], const uint8_t *data[WL_LANES], const int64_t *step, int64_t blocks) { \
        wl_lane_words a, b, c, d, x[16]; \
        memcpy(&a, state[0], sizeof a); \
        memcpy(&b, state[1], sizeof b); \
        memcpy(&c, state[2], sizeof c); \
        memcpy(&d, state[3], sizeof d); \
        for (; blocks > 0; blocks--) { \
            wl_lane_words a0 = a, b0 = b, c0 = c, d0 = d; \
            for (int i = 0; i < 64; i += 4) \
                x[i >> 2] = (wl_lane_words){wl_word(data[0] + i), wl_word(data[1] + i), wl_word(data[2] + i), \
                                            wl_word(data[3] + i), wl_word(data[4] + i), wl_word(data[5] + i), \
                                            wl_word(data[6] + i), wl_word(data[7] + i)}; \
            WL_MD5_ROUNDS \
            a += a0; \
            b += b0; \
            c += c0; \
            d += d0; \
            for (int lane = 0; lane < WL_LANES; lane++) data[lane] += step[lane]; \
        } \
        memcpy(state[0], &a, sizeof a); \
        memcpy(state[1], &b, sizeof b); \
        memcpy(state[2], &c, sizeof c); \
        memcpy(state[3], &d, sizeof d); \
    }

#define WL_X(i) x[i]
WL_LANE_BLOCKS(wl_lane_blocks)
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,avx512f,avx512vl"))) WL_LANE_BLOCKS(wl_lane_blocks_avx512)
#endif
#undef WL_X

static void wl_lane_hash(uint32_t state[4][WL_LANES], const uint8_t *data[WL_LANES], const int64_t *step, int64_t blocks) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512vl")) {
        wl_lane_blocks_avx512(state, data, step, blocks);
        return;
    }
#endif
    wl_lane_blocks(state, data, step, blocks);
}

static int wl_md5_equal(const uint32_t state[4], const uint8_t digest[16]) {
    return wl_word(digest) == state[0] && wl_word(digest + 4) == state[1] && wl_word(digest + 8) == state[2] &&
           wl_word(digest + 12) == state[3];
}

typedef struct {
    wl_digest *digest; /* NULL: idle */
    int64_t left;      /* blocks */
    int64_t last;      /* blocks of the tail, until it is begun */
    uint8_t tail[128];
} wl_lane;

/* Check each digest against its text; with `write`, store it instead. */
static void wl_md5_each(wl_digest *digests, int64_t count, int write) {
    static const uint8_t nothing[64] = {0};
    uint32_t state[4][WL_LANES], own[4];
    const uint8_t *data[WL_LANES];
    int64_t step[WL_LANES], next = 0, blocks = 0;
    wl_lane lanes[WL_LANES];
    int lane, busy = 0, one = 0;
    memset(state, 0, sizeof state);
    for (lane = 0; lane < WL_LANES; lane++) {
        lanes[lane].digest = NULL;
        lanes[lane].left = lanes[lane].last = 0;
        data[lane] = nothing;
        step[lane] = 0;
    }
    for (;;) {
        for (lane = busy = 0; lane < WL_LANES; lane++) {
            wl_lane *at = lanes + lane;
            if (at->left == 0 && at->last > 0) {
                at->left = at->last;
                at->last = 0;
                data[lane] = at->tail;
            } else if (at->left == 0) {
                if (at->digest != NULL) {
                    for (int i = 0; i < 4; i++) own[i] = state[i][lane];
                    if (write) wl_md5_store(own, (uint8_t *)at->digest->expected);
                    at->digest->good = write || wl_md5_equal(own, at->digest->expected);
                    at->digest = NULL;
                    data[lane] = nothing;
                    step[lane] = 0;
                }
                if (next < count) {
                    at->digest = digests + next++;
                    at->left = at->digest->size >> 6;
                    at->last = wl_md5_tail(at->digest->data, at->digest->size, at->tail);
                    data[lane] = at->digest->data;
                    step[lane] = 64;
                    for (int i = 0; i < 4; i++) state[i][lane] = WL_MD5_START[i];
                    if (at->left == 0) {
                        at->left = at->last;
                        at->last = 0;
                        data[lane] = at->tail;
                    }
                }
            }
            if (at->digest != NULL) {
                blocks = busy == 0 || at->left < blocks ? at->left : blocks;
                busy++;
                one = lane;
            }
        }
        if (busy == 0) return;
        if (busy == 1) { /* a single lane is faster alone */
            for (int i = 0; i < 4; i++) own[i] = state[i][one];
            wl_md5_blocks(own, data[one], blocks);
            for (int i = 0; i < 4; i++) state[i][one] = own[i];
        } else {
            wl_lane_hash(state, data, step, blocks);
        }
        for (lane = 0; lane < WL_LANES; lane++)
            if (lanes[lane].digest != NULL) lanes[lane].left -= blocks;
        if (busy == 1) data[one] += 64 * blocks;
    }
}

static void wl_md5_check(wl_digest *digests, int64_t count) { wl_md5_each(digests, count, 0); }
static void wl_md5_write(wl_digest *digests, int64_t count) { wl_md5_each(digests, count, 1); }

#endif
