/* Part of _simulator.c: blocks by address, of a recorded trace. */
#ifndef TENURE_SIMULATOR_ADDRESSES_H
#define TENURE_SIMULATOR_ADDRESSES_H

static inline size_t
home(const Allocator *a, int64_t address)
{
    return (size_t)(((uint64_t)address * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (a->table_room - 1);
}

/* The block that has memory there. Where an expandable segment ends is not recorded: what it has without memory may
   begin where another segment does, and is passed over. */
static Block *
at_address(const Allocator *a, int64_t address)
{
    if (a->table_room == 0) {
        return NULL;
    }
    size_t place = home(a, address);
    while (a->table[place] != NULL && (a->table[place]->address != address || !a->table[place]->is_mapped)) {
        place = (place + 1) & (a->table_room - 1);
    }
    return a->table[place];
}

static void
note_address(Allocator *a, Block *block)
{
    if (!a->is_recorded || a->failed) {
        return;
    }
    if (a->table_count * 2 >= a->table_room) {
        size_t room = a->table_room ? a->table_room * 2 : 1024;
        Block **table = calloc(room, sizeof(*table)), **old = a->table;
        if (table == NULL) {
            a->failed = 1;
            return;
        }
        size_t old_room = a->table_room;
        a->table = table;
        a->table_room = room;
        for (size_t place = 0; place < old_room; place++) {
            if (old[place] != NULL) {
                size_t now = home(a, old[place]->address);
                while (table[now] != NULL) {
                    now = (now + 1) & (room - 1);
                }
                table[now] = old[place];
            }
        }
        free(old);
    }
    size_t place = home(a, block->address);
    while (a->table[place] != NULL) {
        const Block *there = a->table[place];
        int both = there->address == block->address && there->is_mapped && block->is_mapped;
        if (both || ++a->num_looked_at > MOST_LOOKED_AT) {
            a->failed = 1; /* two at one address: no allocator's trace */
            return;
        }
        place = (place + 1) & (a->table_room - 1);
    }
    a->table[place] = block;
    a->table_count++;
}

static void
forget_address(Allocator *a, const Block *block)
{
    if (!a->is_recorded || a->failed) {
        return;
    }
    size_t mask = a->table_room - 1, place = home(a, block->address);
    while (a->table[place] != block) {
        if (a->table[place] == NULL || ++a->num_looked_at > MOST_LOOKED_AT) {
            a->failed = 1;
            return;
        }
        place = (place + 1) & mask;
    }
    a->table_count--;
    for (size_t next = (place + 1) & mask; a->table[next] != NULL; next = (next + 1) & mask) {
        size_t wanted = home(a, a->table[next]->address);
        if (((next - wanted) & mask) >= ((next - place) & mask)) {
            a->table[place] = a->table[next];
            place = next;
        }
    }
    a->table[place] = NULL;
}

#endif
