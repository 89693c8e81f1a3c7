/* Part of _simulator.c: a recorded trace is played. */
#ifndef TENURE_SIMULATOR_TRACE_H
#define TENURE_SIMULATOR_TRACE_H

static void
offer(Allocator *a, int64_t address, int64_t size, int is_mapped)
{
    if (a->num_offers == a->offers_room) {
        size_t room = a->offers_room ? a->offers_room * 2 : 64;
        Offer *moved = realloc(a->offers, room * sizeof(*moved));
        if (moved == NULL) {
            a->failed = 1;
            return;
        }
        a->offers = moved;
        a->offers_room = room;
    }
    a->offers[a->num_offers++] = (Offer){address, size, is_mapped};
}

static Block *
free_block_with(Allocator *a, int64_t address)
{
    Block *found = at_address(a, address);
    if (found != NULL) {
        return found->in_use || !found->is_mapped ? NULL : found;
    }
    for (int number = 0; number < a->num_queues && found == NULL; number++) {
        size_t count = in_order(a, a->queues[number].free, 0);
        a->num_looked_at += (int64_t)count;
        for (size_t place = 0; place < count && found == NULL; place++) {
            const Block *each = a->scratch[place];
            if (each->address <= address && address < each->address + each->size) {
                found = a->scratch[place];
            }
        }
    }
    return found;
}

static void
play_event(Allocator *a, int64_t action, int64_t address, int64_t size, int64_t stream, int64_t pool)
{
    Block *block;
    switch (action) {
    case ALLOC:
        block = allocate(a, size, stream, pool);
        a->failed |= block == NULL || block->address != address;
        break;
    case FREE_COMPLETED:
        block = at_address(a, address);
        if (block == NULL || !block->in_use) {
            a->failed = 1;
        }
        else {
            free_block(a, block);
        }
        break;
    case SEGMENT_ALLOC:
        a->failed |= a->num_offers > a->first_offer;
        offer(a, address, size, 0);
        break;
    case SEGMENT_MAP:
        offer(a, address, size, 1);
        break;
    case SEGMENT_FREE:
        block = free_block_with(a, address);
        if (a->num_offers > a->first_offer || block == NULL || !is_whole(block) || block->address != address ||
            block->size != size) {
            a->failed = 1;
        }
        else {
            release(a, block);
        }
        break;
    case SEGMENT_UNMAP:
        block = free_block_with(a, address);
        if (a->num_offers > a->first_offer || block == NULL || block->range == NULL ||
            address + size > block->address + block->size) {
            a->failed = 1;
        }
        else {
            unmap(a, block, address, address + size);
        }
        break;
    default:
        break;
    }
}

#endif
