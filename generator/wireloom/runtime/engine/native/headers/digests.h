/* Checksums (crc.h, md5.h) and the check of UTF-8: the loops that must run at the speed of memory.
 *
 * Every function reads exactly [data, data + size). */
#ifndef WIRELOOM_DIGESTS_H
#define WIRELOOM_DIGESTS_H

#include <stdint.h>
#include <string.h>

#include "crc.h"
#include "md5.h"

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
