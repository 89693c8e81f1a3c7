/* Part of _simulator.c: blocks are made, cut and merged. */
#ifndef TENURE_SIMULATOR_BLOCKS_H
#define TENURE_SIMULATOR_BLOCKS_H

/* A block; where there is no memory one that is of no use, and `failed` is set. */
static Block *
new_block(Allocator *a, int64_t address, int64_t size, int queue, Range *range)
{
    static Block none;
    Block *made = a->unused;
    if (made != NULL) {
        a->unused = made->after;
    }
    else {
        if (a->chunks == NULL || a->num_used == BLOCKS_AT_ONCE) {
            Chunk *chunk = malloc(sizeof(*chunk));
            if (chunk == NULL) {
                a->failed = 1;
                return &none;
            }
            chunk->next = a->chunks;
            a->chunks = chunk;
            a->num_used = 0;
        }
        made = &a->chunks->blocks[a->num_used++];
    }
    a->random ^= a->random << 13;
    a->random ^= a->random >> 17;
    a->random ^= a->random << 5;
    memset(made, 0, sizeof(*made));
    made->address = address;
    made->size = size;
    made->queue = queue;
    made->range = range;
    made->is_mapped = made->is_there = 1;
    made->weight = a->random;
    note_address(a, made);
    return made;
}

static void
drop_block(Allocator *a, Block *block)
{
    forget_address(a, block);
    block->is_there = 0;
    block->after = a->unused;
    a->unused = block;
}

static void
move_block(Allocator *a, Block *block, int64_t address)
{
    forget_address(a, block);
    block->address = address;
    note_address(a, block);
}

static inline int
is_whole(const Block *block)
{
    return block->before == NULL && block->after == NULL;
}

static inline Pool *
pool_of(Allocator *a, const Block *block)
{
    return &a->pools[a->queues[block->queue].pool];
}

static void
put_in(Allocator *a, Block *block)
{
    Queue *queue = &a->queues[block->queue];
    if (!block->is_mapped) {
        block->key = 0;
        put_into_tree(&queue->unmapped, block);
        return;
    }
    block->key = block->size;
    put_into_tree(&queue->free, block);
    block->seen_calls = a->pools[queue->pool].calls;
}

static void
take_out(Allocator *a, Block *block)
{
    Queue *queue = &a->queues[block->queue];
    if (!take_from_tree(block->is_mapped ? &queue->free : &queue->unmapped, block)) {
        a->failed = 1;
    }
}

/* The first `size` bytes of a block, as a block before it; neither stands in a queue afterwards. */
static Block *
cut_off(Allocator *a, Block *block, int64_t size)
{
    int64_t address = block->address;
    move_block(a, block, address + size);
    block->size -= size;
    Block *first = new_block(a, address, size, block->queue, block->range);
    first->is_mapped = block->is_mapped;
    first->before = block->before;
    first->after = block;
    if (first->before != NULL) {
        first->before->after = first;
    }
    block->before = first;
    return first;
}

static void
merge(Allocator *a, Block *block)
{
    Block *before = block->before, *after = block->after;
    if (before != NULL && !before->in_use && before->is_mapped == block->is_mapped) {
        int64_t address = before->address;
        take_out(a, before);
        block->size += before->size;
        block->before = before->before;
        if (block->before != NULL) {
            block->before->after = block;
        }
        drop_block(a, before);
        move_block(a, block, address);
    }
    if (after != NULL && !after->in_use && after->is_mapped == block->is_mapped) {
        take_out(a, after);
        block->size += after->size;
        block->after = after->after;
        if (block->after != NULL) {
            block->after->before = block;
        }
        drop_block(a, after);
    }
}

#endif
