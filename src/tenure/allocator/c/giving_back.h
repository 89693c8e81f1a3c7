/* Part of _simulator.c: what is free goes back to the device: when asked, at a retry, or by age. */
#ifndef TENURE_SIMULATOR_GIVING_BACK_H
#define TENURE_SIMULATOR_GIVING_BACK_H

/* Blocks of a treap in its order, into the scratch from place `count` on; gives back how many there are then. */
static size_t
in_order(Allocator *a, Block *tree, size_t count)
{
    while (tree != NULL && !a->failed) {
        count = in_order(a, tree->left, count);
        if (count == a->scratch_room) {
            size_t room = a->scratch_room ? a->scratch_room * 2 : 256;
            Block **moved = realloc(a->scratch, room * sizeof(*moved));
            if (moved == NULL) {
                a->failed = 1;
                return 0;
            }
            a->scratch = moved;
            a->scratch_room = room;
        }
        a->scratch[count++] = tree;
        tree = tree->right;
    }
    return count;
}

/* All free blocks of a pool: by stream, size and address. */
static size_t
free_blocks(Allocator *a, int pool)
{
    int queues[MOST_QUEUES], num = 0;
    for (int number = 0; number < a->num_queues; number++) {
        if (a->queues[number].pool == pool) {
            int place = num++;
            for (; place > 0 && a->queues[queues[place - 1]].stream > a->queues[number].stream; place--) {
                queues[place] = queues[place - 1];
            }
            queues[place] = number;
        }
    }
    size_t count = 0;
    for (int place = 0; place < num; place++) {
        count = in_order(a, a->queues[queues[place]].free, count);
    }
    return count;
}

static void
release_whole(Allocator *a, int pool)
{
    size_t count = free_blocks(a, pool), num_growing = 0;
    for (size_t place = 0; place < count; place++) {
        Block *block = a->scratch[place];
        if (block->range != NULL) {
            a->scratch[num_growing++] = block;
        }
        else if (is_whole(block)) {
            release(a, block);
        }
    }
    for (size_t place = 0; place < num_growing; place++) {
        Block *block = a->scratch[place];
        int64_t base = block->range->address, page = block->range->page;
        int64_t start = base + (block->address - base + page - 1) / page * page;
        int64_t end = base + (block->address + block->size - base) / page * page;
        if (start < end) {
            unmap(a, block, start, end);
        }
    }
}

static void
give_back(Allocator *a, int64_t pool)
{
    for (int turn = 0; turn < 2; turn++) {
        release_whole(a, pool_number(a, pool, pool == 0 ? turn : !turn));
    }
}

static int
release_oversized(Allocator *a, int queue, int64_t size)
{
    int64_t largest = a->settings.max_split;
    if (largest == NO_LIMIT) {
        return 0;
    }
    int64_t wanted = size > largest ? size : largest;
    size_t count = in_order(a, a->queues[queue].free, 0), num = 0;
    for (size_t place = 0; place < count; place++) {
        Block *block = a->scratch[place];
        if (block->size >= largest && is_whole(block) && block->range == NULL) {
            a->scratch[num++] = block;
            if (block->size >= wanted) {
                release(a, block);
                return 1;
            }
        }
    }
    int64_t freed = 0;
    while (num > 0 && freed < wanted) {
        Block *block = a->scratch[--num];
        freed += block->size;
        release(a, block);
    }
    return freed >= wanted;
}

static void
collect(Allocator *a, double wanted)
{
    int pool = pool_number(a, 0, 0);
    size_t count = free_blocks(a, pool), num = 0;
    for (size_t place = 0; place < count; place++) {
        if (is_whole(a->scratch[place]) && a->scratch[place]->range == NULL) {
            a->scratch[num++] = a->scratch[place];
        }
    }
    double reclaimed = 0;
    while (reclaimed < wanted && num > 0) {
        double oldest = 0;
        for (size_t place = 0; place < num; place++) {
            oldest += (double)(a->pools[pool].calls - a->scratch[place]->seen_calls);
        }
        oldest /= (double)num;
        size_t left = 0;
        for (size_t place = 0; place < num; place++) {
            Block *block = a->scratch[place];
            if ((double)(a->pools[pool].calls - block->seen_calls) >= oldest) {
                reclaimed += (double)block->size;
                release(a, block);
            }
            else {
                a->scratch[left++] = block;
            }
        }
        if (left == num) {
            return;
        }
        num = left;
    }
}

#endif
