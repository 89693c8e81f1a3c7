/* Part of _simulator.c: the best fit, what is done without one, and what happens to a block that is freed. */
#ifndef TENURE_SIMULATOR_ALLOCATION_H
#define TENURE_SIMULATOR_ALLOCATION_H

static int64_t
could_grow_to(const Block *block)
{
    const Block *after = block->after;
    return block->size + (after == NULL || after->is_mapped ? 0 : after->size);
}

static Block *
best_fit(Allocator *a, int number, int64_t size)
{
    const Queue *queue = &a->queues[number];
    if (a->settings.threshold > 0) {
        a->pools[queue->pool].calls++;
    }
    Block *block = not_below(queue->free, size, 0);
    if (a->settings.expandable) {
        for (Block *next; block != NULL && (next = following(queue, block)) != NULL; block = next) {
            a->num_looked_at++;
            if (block->range == NULL || could_grow_to(next) >= could_grow_to(block)) {
                break;
            }
        }
    }
    else {
        while (block != NULL && block->range != NULL) {
            a->num_looked_at++;
            block = following(queue, block);
        }
    }
    if (block == NULL) {
        return NULL;
    }
    int64_t largest = a->settings.max_split;
    if (largest != NO_LIMIT) {
        if (size < largest && largest <= block->size) {
            return NULL;
        }
        if (size >= largest && block->size >= size + a->settings.max_rounding) {
            return NULL;
        }
    }
    take_out(a, block);
    return block;
}

static Block *
without_fit(Allocator *a, int queue, int64_t size)
{
    if (collects(&a->settings) && a->settings.limit >= 0) {
        collect(a, (double)a->reserved - a->settings.threshold * (double)a->settings.limit);
    }
    Block *block = new_segment(a, queue, size);
    if (block == NULL && !a->failed && release_oversized(a, queue, size)) {
        block = new_segment(a, queue, size);
    }
    if (block == NULL && !a->failed) {
        give_back(a, 0);
        a->num_retries++;
        block = new_segment(a, queue, size);
    }
    return block;
}

static int
is_split(const Allocator *a, const Block *block, int64_t size)
{
    int64_t rest = block->size - size;
    if (a->pools[a->queues[block->queue].pool].is_small || a->settings.expandable) {
        return rest >= MIN_BLOCK;
    }
    return size < a->settings.max_split && rest > SMALL_SIZE;
}

static Block *
allocate(Allocator *a, int64_t asked, int64_t stream, int64_t pool)
{
    int64_t size = rounded(&a->settings, asked);
    int queue = queue_of(a, pool_number(a, pool, size <= SMALL_SIZE), stream);
    if (a->failed) {
        return NULL;
    }
    Block *block = best_fit(a, queue, size);
    if (block == NULL) {
        block = without_fit(a, queue, size);
    }
    if (block == NULL || a->failed) {
        a->num_out_of_memory++;
        return NULL;
    }
    if (is_split(a, block, size)) {
        Block *rest = new_block(a, block->address + size, block->size - size, block->queue, block->range);
        rest->before = block;
        rest->after = block->after;
        if (rest->after != NULL) {
            rest->after->before = rest;
        }
        block->after = rest;
        block->size = size;
        put_in(a, rest);
    }
    block->in_use = 1;
    block->requested = asked;
    a->active += block->size;
    a->requested += asked;
    return block;
}

static void
free_block(Allocator *a, Block *block)
{
    a->active -= block->size;
    a->requested -= block->requested;
    block->in_use = 0;
    block->requested = 0;
    merge(a, block);
    put_in(a, block);
}

#endif
