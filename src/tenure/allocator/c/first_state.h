/* Part of _simulator.c: the state before the first event of a trace. */
#ifndef TENURE_SIMULATOR_FIRST_STATE_H
#define TENURE_SIMULATOR_FIRST_STATE_H

enum { S_ADDRESS, S_SIZE, S_STREAM, S_SMALL, S_POOL, S_EXPANDABLE, S_BASE, NUM_SEGMENT_COLUMNS };
enum { B_ADDRESS, B_SIZE, B_REQUESTED, NUM_BLOCK_COLUMNS };

typedef struct {
    const int64_t *columns[8];
    Py_ssize_t rows;
    Py_buffer buffers[8];
    int num_buffers;
} Table;

static Block *
mapped_run(Allocator *a, const Table *segments, Py_ssize_t row, int queue)
{
    int64_t address = segments->columns[S_ADDRESS][row], size = segments->columns[S_SIZE][row];
    Block *rest = NULL;
    for (Block *each = a->queues[queue].unmapped; each != NULL; each = each->right) {
        rest = each; /* the highest */
    }
    if (rest == NULL) {
        int64_t page = segments->columns[S_SMALL][row] ? SMALL_SEGMENT : a->settings.large_segment;
        Range *range = new_range(a, segments->columns[S_BASE][row], ENDLESS, page);
        rest = new_block(a, segments->columns[S_BASE][row], ENDLESS, queue, range);
        rest->is_mapped = 0;
        put_in(a, rest);
    }
    if (address > rest->address) {
        if (address - rest->address >= rest->size) {
            a->failed = 1;
            return NULL;
        }
        take_out(a, rest);
        put_in(a, cut_off(a, rest, address - rest->address));
        put_in(a, rest);
    }
    Block *block = map_memory(a, rest, size);
    a->failed |= block->address != address || block->size < size;
    return block;
}

static Block *
place_block(Allocator *a, Block *free_one, int64_t address, int64_t size, int64_t requested)
{
    take_out(a, free_one);
    if (address > free_one->address) {
        put_in(a, cut_off(a, free_one, address - free_one->address));
    }
    if (size < free_one->size) {
        Block *part = cut_off(a, free_one, size);
        put_in(a, free_one);
        free_one = part;
    }
    free_one->in_use = 1;
    free_one->requested = requested;
    a->active += size;
    a->requested += requested;
    return free_one;
}

/* Segments and blocks are in the order of their addresses; `placed` gets the block of each row, or NULL. */
static void
lay_out(Allocator *a, const Table *segments, const Table *blocks, Block **placed)
{
    Block **rests = calloc((size_t)segments->rows + 1, sizeof(*rests));
    if (rests == NULL) {
        a->failed = 1;
        return;
    }
    for (Py_ssize_t row = 0; row < segments->rows && !a->failed; row++) {
        int64_t size = segments->columns[S_SIZE][row];
        int pool = pool_number(a, segments->columns[S_POOL][row], segments->columns[S_SMALL][row] != 0);
        int queue = queue_of(a, pool, segments->columns[S_STREAM][row]);
        if (segments->columns[S_EXPANDABLE][row]) {
            rests[row] = mapped_run(a, segments, row, queue);
        }
        else {
            rests[row] = new_block(a, segments->columns[S_ADDRESS][row], size, queue, NULL);
            a->reserved += size;
            put_in(a, rests[row]);
            driver_has(a, segments->columns[S_ADDRESS][row], size);
        }
    }
    Py_ssize_t segment = 0;
    for (Py_ssize_t row = 0; row < blocks->rows && !a->failed; row++) {
        int64_t address = blocks->columns[B_ADDRESS][row], size = blocks->columns[B_SIZE][row];
        while (segment + 1 < segments->rows && segments->columns[S_ADDRESS][segment + 1] <= address) {
            segment++;
        }
        Block *rest = segments->rows ? rests[segment] : NULL;
        if (rest == NULL || address < rest->address || address + size > rest->address + rest->size) {
            continue;
        }
        int64_t end = rest->address + rest->size;
        placed[row] = place_block(a, rest, address, size, blocks->columns[B_REQUESTED][row]);
        rests[segment] = address + size == end ? NULL : placed[row]->after;
    }
    free(rests);
}

#endif
