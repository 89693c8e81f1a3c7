/* Part of _simulator.c: sizes are rounded; segments are made, grown and released. */
#ifndef TENURE_SIMULATOR_SEGMENTS_H
#define TENURE_SIMULATOR_SEGMENTS_H

static int64_t
rounded(const Settings *settings, int64_t asked)
{
    if (asked < MIN_BLOCK) {
        return MIN_BLOCK;
    }
    int bits = 63 - __builtin_clzll((unsigned long long)asked);
    int interval = bits - FIRST_INTERVAL;
    interval = interval < 0 ? 0 : interval >= INTERVALS ? INTERVALS - 1 : interval;
    int64_t parts = settings->divisions[interval];
    if (parts > 1 && asked > MIN_BLOCK * parts) {
        int64_t lower = INT64_C(1) << bits;
        if (asked == lower) {
            return asked;
        }
        int64_t step = lower / parts;
        return step == 0 ? 2 * lower : (asked + step - 1) / step * step;
    }
    return (asked + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
}

static int64_t
segment_bytes(const Settings *settings, int64_t size)
{
    if (size <= SMALL_SIZE) {
        return SMALL_SEGMENT;
    }
    if (size < MIN_LARGE_ALLOC) {
        return settings->large_segment;
    }
    return (size + ROUND_LARGE - 1) / ROUND_LARGE * ROUND_LARGE;
}

static inline int
collects(const Settings *settings)
{
    return settings->threshold > 0 && settings->fraction < 1;
}

static int
pool_number(Allocator *a, int64_t pool, int is_small)
{
    if (pool < 0 || pool >= MOST_POOLS) {
        a->failed = 1;
        return 0;
    }
    int number = (int)(2 * pool + is_small);
    if (!a->pools[number].is_made) {
        a->pools[number] = (Pool){(int)pool, is_small, 1, 0};
    }
    return number;
}

static int
queue_of(Allocator *a, int pool, int64_t stream)
{
    const Queue *last = &a->queues[a->last_queue];
    if (a->num_queues && last->pool == pool && last->stream == stream) {
        return a->last_queue;
    }
    for (int number = 0; number < a->num_queues; number++) {
        if (a->queues[number].pool == pool && a->queues[number].stream == stream) {
            return a->last_queue = number;
        }
    }
    if (a->num_queues == MOST_QUEUES) {
        a->failed = 1;
        return 0;
    }
    a->queues[a->num_queues] = (Queue){pool, stream, NULL, NULL};
    return a->last_queue = a->num_queues++;
}

static Block *
map_memory(Allocator *a, Block *block, int64_t size)
{
    take_out(a, block);
    if (size < block->size) {
        Block *rest = block;
        block = cut_off(a, rest, size);
        put_in(a, rest);
    }
    block->is_mapped = 1;
    merge(a, block);
    put_in(a, block);
    a->reserved += size;
    return block;
}

/* The free block that came of it; NULL where the device has no more. */
static Block *
map_pages(Allocator *a, Block *block, int64_t size)
{
    int64_t page = block->range->page;
    size = (size + page - 1) / page * page;
    size = size < block->size ? size : block->size;
    if (!device_puts_behind(a, block->address, size)) {
        return NULL;
    }
    a->num_device_allocations++;
    return map_memory(a, block, size);
}

static void
unmap(Allocator *a, Block *block, int64_t start, int64_t end)
{
    take_out(a, block);
    if (block->address < start) {
        put_in(a, cut_off(a, block, start - block->address));
    }
    if (end < block->address + block->size) {
        Block *tail = block;
        block = cut_off(a, tail, end - block->address);
        put_in(a, tail);
    }
    block->is_mapped = 0;
    merge(a, block);
    a->reserved -= end - start;
    a->given -= end - start;
    if (is_whole(block)) {
        drop_block(a, block);
    }
    else {
        put_in(a, block);
    }
}

static void
release(Allocator *a, Block *block)
{
    take_out(a, block);
    a->reserved -= block->size;
    a->given -= block->size;
    if (!a->is_recorded) {
        driver_takes_back(a, block->address, block->size);
    }
    drop_block(a, block);
}

static Block *
room_for(Allocator *a, int queue, int64_t size)
{
    for (Block *start = not_below(a->queues[queue].unmapped, 0, INT64_MIN); start != NULL;) {
        Block *next = not_below(a->queues[queue].unmapped, 0, start->address + 1);
        Block *first = start->before != NULL && !start->before->in_use ? start->before : start;
        int64_t room = 0;
        for (const Block *block = first; room < size && block != NULL && !block->in_use; block = block->after) {
            room += block->size;
            a->num_looked_at++;
        }
        if (room >= size) {
            return first;
        }
        start = next;
    }
    return NULL;
}

/* A free block of at least `size` bytes that an expandable segment was grown for; it stands in no queue. */
static Block *
grown(Allocator *a, int queue, int64_t size)
{
    Block *block = room_for(a, queue, size);
    if (block == NULL) {
        int64_t page = a->pools[a->queues[queue].pool].is_small ? SMALL_SEGMENT : a->settings.large_segment;
        Range *range = device_reserves(a, page);
        if (range == NULL || a->failed) {
            return NULL;
        }
        block = new_block(a, range->address, range->size, queue, range);
        block->is_mapped = 0;
        put_in(a, block);
    }
    if (!block->is_mapped) {
        block = map_pages(a, block, size < block->size ? size : block->size);
    }
    while (block != NULL && !a->failed && block->size < size) {
        Block *rest = block->after;
        int64_t more = size - block->size;
        block = rest == NULL ? NULL : map_pages(a, rest, more < rest->size ? more : rest->size);
    }
    if (block == NULL || a->failed) {
        return NULL;
    }
    take_out(a, block);
    return block;
}

static Block *
new_segment(Allocator *a, int queue, int64_t size)
{
    int64_t wanted = segment_bytes(&a->settings, size), address;
    if (a->settings.limit >= 0 && a->reserved + wanted > a->settings.limit) {
        return NULL;
    }
    if (a->settings.expandable) {
        return grown(a, queue, size);
    }
    if (!device_gives(a, wanted, &address)) {
        return NULL;
    }
    a->reserved += wanted;
    a->num_device_allocations++;
    return new_block(a, address, wanted, queue, NULL);
}

#endif
