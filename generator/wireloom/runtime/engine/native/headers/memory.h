/* The memory of columns: blocks that are kept for the next batch.
 *
 * Filling a fresh page costs as much again as writing it, so a block that a batch no longer needs is kept, up to
 * WL_KEPT_BYTES in all, and very large blocks ask for huge pages. A block is handed out again for sizes close to its
 * own. A block that was cut keeps its capacity, but its pages after the cut are fresh when it grows again. */
#ifndef WIRELOOM_MEMORY_H
#define WIRELOOM_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define WL_LARGE ((int64_t)1 << 16)
#define WL_HUGE ((int64_t)4 << 20)
#define WL_PAGE ((uintptr_t)4096)
#if defined(__SANITIZE_ADDRESS__)
#define WL_KEPT_BYTES ((int64_t)0) /* so that the sanitizer sees the end of each block */
#else
#define WL_KEPT_BYTES ((int64_t)64 << 20)
#endif

enum { WL_KEPT = 256, WL_MUCH = 8 };

typedef struct {
    uint8_t *data;
    int64_t capacity;
} wl_block;

static wl_block wl_kept[WL_KEPT]; /* the oldest first */
static int wl_kept_count;
static int64_t wl_kept_bytes;
static char wl_kept_lock;

/* A thread that does not get the lock at once allocates normally: no thread waits, not even after a fork. */
static int wl_try_lock(void) { return !__atomic_test_and_set(&wl_kept_lock, __ATOMIC_ACQUIRE); }
static void wl_unlock(void) { __atomic_clear(&wl_kept_lock, __ATOMIC_RELEASE); }

static void wl_remove_kept(int place) {
    wl_kept_bytes -= wl_kept[place].capacity;
    wl_kept_count--;
    memmove(wl_kept + place, wl_kept + place + 1, sizeof(wl_block) * (size_t)(wl_kept_count - place));
}

/* Return memory. */
static void wl_return(uint8_t *data, int64_t capacity) {
    if (data == NULL) return;
    if (capacity < WL_LARGE || capacity > WL_KEPT_BYTES || !wl_try_lock()) {
        free(data);
        return;
    }
    while (wl_kept_count == WL_KEPT || wl_kept_bytes + capacity > WL_KEPT_BYTES) {
        free(wl_kept[0].data);
        wl_remove_kept(0);
    }
    wl_kept[wl_kept_count].data = data;
    wl_kept[wl_kept_count++].capacity = capacity;
    wl_kept_bytes += capacity;
    wl_unlock();
}

/* The smallest kept block of at least `size` and at most `largest` bytes; its data is NULL if there is none. */
static wl_block wl_take(int64_t size, int64_t largest) {
    wl_block found = {NULL, 0};
    int best = -1;
    if (!wl_try_lock()) return found;
    for (int place = 0; place < wl_kept_count; place++) {
        int64_t capacity = wl_kept[place].capacity;
        if (capacity >= size && capacity <= largest && (best < 0 || capacity < wl_kept[best].capacity)) best = place;
    }
    if (best >= 0) {
        found = wl_kept[best];
        wl_remove_kept(best);
    }
    wl_unlock();
    return found;
}

/* Round a size up by at most an eighth, so that blocks of similar sizes can replace each other. */
static int64_t wl_rounded(int64_t size) {
    int64_t step = WL_LARGE / 8;
    while (step * 16 <= size) step *= 2;
    return (size + step - 1) / step * step;
}

static void wl_ask_for_huge_pages(void *data, int64_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t first = ((uintptr_t)data + WL_PAGE - 1) & ~(WL_PAGE - 1), last = ((uintptr_t)data + (uintptr_t)size) & ~(WL_PAGE - 1);
    if (size >= WL_HUGE) (void)madvise((void *)first, last - first, MADV_HUGEPAGE); /* only a hint */
#else
    (void)data;
    (void)size;
#endif
}

/* Make a block hold at least `size` bytes; 0, and the block unchanged, if there is no memory. A block that grows is likely
   to grow again, so a kept block may be much larger; a new one has the size that it needs. */
static int wl_grow(wl_block *block, int64_t size) {
    wl_block found = {NULL, 0};
    if (size >= WL_LARGE) {
        size = wl_rounded(size);
        found = wl_take(size, block->capacity ? WL_MUCH * size : size + size / 4);
    }
    if (found.data != NULL) {
        if (block->capacity) memcpy(found.data, block->data, (size_t)block->capacity);
        wl_return(block->data, block->capacity);
    } else {
        found.data = (uint8_t *)realloc(block->data, (size_t)size);
        found.capacity = size;
        if (found.data == NULL) return 0;
        wl_ask_for_huge_pages(found.data, size);
    }
    *block = found;
    return 1;
}

/* Free the part after `size` bytes if it is large; the block may grow again. */
static void wl_trim(wl_block *block, int64_t size) {
    int64_t capacity = size < WL_LARGE ? (size > 0 ? size : 1) : wl_rounded(size);
    uint8_t *data;
    wl_block found = {NULL, 0};
    if (capacity >= block->capacity || (size >= WL_LARGE && block->capacity - capacity <= capacity / 4)) return;
    if (size >= WL_LARGE) found = wl_take(size, capacity + capacity / 4);
    if (found.data != NULL) {
        memcpy(found.data, block->data, (size_t)size);
        wl_return(block->data, block->capacity);
        *block = found;
        return;
    }
    data = (uint8_t *)realloc(block->data, (size_t)capacity);
    if (data == NULL) return;
    block->data = data;
    block->capacity = capacity;
}

#endif
