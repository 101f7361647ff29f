/* Shapes: the order of names that earlier JSON objects had, as a tree of names.
 *
 * Records of one kind mostly have the same members in the same order. After a program has read an object, its names
 * are in the tree. In the next record, each name is compared with the name that is expected there, including quotes
 * and colon, in one or two steps of eight bytes. Names on one path of the tree differ, so no search for duplicates
 * is needed. The node at the end of a path identifies the whole set of names: what was found out about one object
 * (where the members of a struct are) holds for all objects of that shape.
 *
 * Only objects that a program reads as structs are learned, up to a bound, by one machine. Maps are not: each record
 * has names of its own. */
#ifndef WIRELOOM_SHAPES_H
#define WIRELOOM_SHAPES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

enum {
    WL_UNKNOWN = 0, /* no name: nothing is known yet */
    WL_OUTSIDE = 1, /* the name for the whole text */
    WL_EXPECTED = 512, /* the most names in the tree */
    WL_BESIDE = 8, /* the most names in one place */
    WL_LONGEST = 60,
    WL_FRUITLESS = 1000, /* after so many objects that could not be learned, learning stops */
    WL_PLANS = 256,
    WL_PLANNED = 32, /* the most members of an object, and slots without a member */
};

typedef struct {
    uint64_t head, mask, middle, tail; /* the first bytes, the next and the last ones, from quote to colon */
    uint64_t bit;    /* see `wl_open.names` */
    uint32_t size;   /* including quotes and colon */
    uint16_t after;  /* the first of the names that may come next */
    uint16_t beside; /* another name in the same place */
    uint16_t within; /* the first of the names in objects inside its value */
    uint8_t text[WL_LONGEST + 4];
} wl_edge;

typedef struct {
    uint64_t key; /* 0: none */
    int32_t members, absent;
    int32_t slots[WL_PLANNED]; /* for each member; -1: none */
    int32_t empty[WL_PLANNED]; /* slots without a member */
} wl_plan;

typedef struct {
    wl_edge *edges;
    wl_plan *plans;
    int32_t count, fruitless;
} wl_shapes;

static const wl_edge wl_no_edges[2];

/* Whether the name is at `p`, up to its colon. */
static inline int wl_stands(const wl_edge *edge, const uint8_t *p, int64_t left) {
    int64_t size = edge->size;
    if (left < size || left < 8 || (wl_load8(p) ^ edge->head) & edge->mask) return 0;
    if (size <= 8) return 1;
    if (wl_load8(p + size - 8) != edge->tail) return 0;
    if (size <= 16) return 1;
    return wl_load8(p + 8) == edge->middle && (size <= 24 || memcmp(p + 16, edge->text + 16, (size_t)size - 24) == 0);
}

/* Find a name, with quotes and colon, in one place of the tree; add it if there is space; else WL_UNKNOWN. */
static uint16_t wl_learned(wl_shapes *shapes, uint16_t *place, const uint8_t *name, int64_t size, uint64_t bit, int *added) {
    int beside = 0;
    if (size > WL_LONGEST) return WL_UNKNOWN;
    for (; *place; place = &shapes->edges[*place].beside, beside++) {
        const wl_edge *edge = shapes->edges + *place;
        if (edge->size == size && memcmp(edge->text, name, (size_t)size) == 0) return *place;
    }
    if (beside == WL_BESIDE || shapes->count == WL_EXPECTED) return WL_UNKNOWN;
    wl_edge *edge = shapes->edges + shapes->count;
    memcpy(edge->text, name, (size_t)size);
    edge->size = (uint32_t)size;
    edge->bit = bit;
    edge->head = wl_load8(edge->text);
    edge->mask = wl_first(UINT64_MAX, size);
    edge->middle = wl_load8(edge->text + 8);
    if (size >= 8) edge->tail = wl_load8(edge->text + size - 8);
    *place = (uint16_t)shapes->count++;
    *added = 1;
    return *place;
}

/* The plan for a key; with `make`, a new one if there is space. NULL: none. */
static inline wl_plan *wl_plan_of(wl_shapes *shapes, uint64_t key, int make) {
    uint64_t place = key * 0x9E3779B97F4A7C15ULL >> 56;
    if (shapes->plans == NULL) return NULL;
    for (uint64_t n = 0; n < 4; n++) {
        wl_plan *plan = shapes->plans + ((place + n) & (WL_PLANS - 1));
        if (plan->key == key) return plan;
        if (plan->key == 0) {
            if (!make) return NULL;
            plan->key = key;
            plan->members = plan->absent = 0;
            return plan;
        }
    }
    return NULL;
}

static int wl_shapes_begin(wl_shapes *shapes) {
    shapes->edges = (wl_edge *)calloc(WL_EXPECTED, sizeof(wl_edge));
    shapes->plans = (wl_plan *)calloc(WL_PLANS, sizeof(wl_plan));
    shapes->count = WL_OUTSIDE + 1;
    if (shapes->edges != NULL && shapes->plans != NULL) return 1;
    free(shapes->edges);
    free(shapes->plans);
    shapes->edges = NULL;
    shapes->plans = NULL;
    shapes->fruitless = WL_FRUITLESS;
    return 0;
}

static void wl_shapes_free(wl_shapes *shapes) {
    free(shapes->edges);
    free(shapes->plans);
}

#endif
