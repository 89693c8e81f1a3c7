/* Part of _heapwalk.c: third pass: what can reach a target is marked. */
#ifndef TENURE_HEAPWALK_REACHING_H
#define TENURE_HEAPWALK_REACHING_H

typedef struct {
    const uint32_t *from, *to;
} Range;

static inline Range
references_of(const Walk *walk, uint32_t number)
{
    const uint32_t *edges = walk->edges.start;
    if (number < num_fixed(walk)) {
        const uint64_t *starts = walk->starts.start;
        return (Range){edges + starts[number], edges + starts[number + 1]};
    }
    const Array *array = (const Array *)walk->arrays.start + (number - num_fixed(walk));
    return (Range){edges + array->start, edges + array->end};
}

/* Adds to each object's weight the arrays that nothing else holds. */
static void
weigh_arrays(Walk *walk)
{
    uint32_t count = num_fixed(walk) + walk->num_arrays;
    Array *arrays = walk->arrays.start;
    for (uint32_t number = 0; number < count; number++) {
        if (number >= walk->num_plain && number < num_fixed(walk)) {
            continue;
        }
        Range range = references_of(walk, number);
        uint64_t *weight = number < walk->num_plain ? (uint64_t *)walk->weights.start + number
                                                    : &arrays[number - num_fixed(walk)].weight;
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            if (*edge >= num_fixed(walk)) {
                const Array *array = arrays + (*edge - num_fixed(walk));
                if (array->bytes != 0 && Py_REFCNT(array->object) == 2 + (array->position >= 0)) {
                    *weight += array->bytes;
                }
            }
        }
    }
}

static uint64_t
weight_of(const Walk *walk, uint32_t number)
{
    if (walk->least == 0 || (number >= walk->num_plain && number < num_fixed(walk))) {
        return 0;
    }
    return number < walk->num_plain ? ((const uint64_t *)walk->weights.start)[number]
                                    : ((const Array *)walk->arrays.start)[number - num_fixed(walk)].weight;
}

static inline int
is_marked(const Walk *walk, uint32_t number)
{
    return (((const uint64_t *)walk->marks.start)[number >> 6] >> (number & 63)) & 1;
}

static inline void
mark(Walk *walk, uint32_t number)
{
    ((uint64_t *)walk->marks.start)[number >> 6] |= (uint64_t)1 << (number & 63);
}

static inline int
mark_by_references(Walk *walk, uint32_t number)
{
    if (is_marked(walk, number)) {
        return 0;
    }
    Range range = references_of(walk, number);
    for (const uint32_t *edge = range.from; edge < range.to; edge++) {
        if (is_marked(walk, *edge)) {
            mark(walk, number);
            return 1;
        }
    }
    return 0;
}

#define SWEEPS 6

/* Newly marked in one sweep over all references. Most of a heap settles in two or three. */
static uint64_t
sweep(Walk *walk, uint32_t count, int backward)
{
    uint64_t news = 0;
    for (uint32_t i = 0; i < count; i++) {
        news += (uint64_t)mark_by_references(walk, backward ? count - 1 - i : i);
    }
    return news;
}

/* What sweeps leave (long chains that jump about in memory): follow references backward, from a table of them. */
static int
mark_by_worklist(Walk *walk, uint32_t count)
{
    Block starts = {0}, sources = {0}, stack = {0};
    int result = -1;
    if (block_grow(&starts, ((size_t)count + 2) * sizeof(uint32_t)) < 0 ||
        block_grow(&stack, ((size_t)count + 1) * sizeof(uint32_t)) < 0) {
        goto done;
    }
    uint32_t *begin = (uint32_t *)starts.start + 1, *todo = stack.start;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_marked(walk, i)) {
            Range range = references_of(walk, i);
            for (const uint32_t *edge = range.from; edge < range.to; edge++) {
                begin[*edge]++;
            }
        }
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t here = begin[i];
        begin[i] = total;
        total += here;
    }
    if (block_grow(&sources, ((size_t)total + 1) * sizeof(uint32_t)) < 0) {
        goto done;
    }
    /* After this loop begin[i] is where the sources of i end, begin[i - 1] where they start. */
    uint32_t *source = sources.start;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_marked(walk, i)) {
            Range range = references_of(walk, i);
            for (const uint32_t *edge = range.from; edge < range.to; edge++) {
                source[begin[*edge]++] = i;
            }
        }
    }
    size_t waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (mark_by_references(walk, i)) {
            todo[waiting++] = i;
        }
        while (waiting > 0) {
            uint32_t number = todo[--waiting];
            for (uint32_t at = begin[(int64_t)number - 1]; at < begin[number]; at++) {
                if (!is_marked(walk, source[at])) {
                    mark(walk, source[at]);
                    todo[waiting++] = source[at];
                }
            }
        }
    }
    result = 0;
done:
    block_free(&starts);
    block_free(&sources);
    block_free(&stack);
    return result;
}

static int
mark_ancestry(Walk *walk)
{
    uint32_t count = num_fixed(walk) + walk->num_arrays;
    if (block_grow(&walk->marks, ((size_t)count / 64 + 1) * sizeof(uint64_t)) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    const uint32_t *positions = walk->targets.start;
    for (uint32_t i = 0; i < walk->num_targets; i++) {
        uintptr_t address = (uintptr_t)object_at(walk, positions[i]);
        if (IS_ODD(address)) {
            mark(walk, num_fixed(walk) + map_get(&walk->array_numbers, address));
        }
        else {
            mark(walk, number_at(&walk->pages, address));
        }
    }
    for (uint32_t number = 0; walk->least != 0 && number < count; number++) {
        if (weight_of(walk, number) >= walk->least) {
            mark(walk, number);
        }
    }
    for (int round = 0;; round++) {
        if (sweep(walk, count, round % 2 == 0) == 0) {
            return 0;
        }
        if (round + 1 >= SWEEPS && walk->num_edges < UINT32_MAX) {
            break;
        }
    }
    if (mark_by_worklist(walk, count) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

#endif
