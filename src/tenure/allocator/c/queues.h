/* Part of _simulator.c: blocks, the allocator's state, and the treaps of free blocks by size and address. */
#ifndef TENURE_SIMULATOR_QUEUES_H
#define TENURE_SIMULATOR_QUEUES_H

typedef struct Block Block;

typedef struct {
    int64_t address, size, page;
} Range;

typedef struct {
    int pool; /* index into the pools of the allocator */
    int64_t stream;
    Block *free, *unmapped; /* treaps: by size and address, and by address */
} Queue;

struct Block {
    int64_t address, size, requested;
    Block *before, *after;
    Range *range; /* of a block in an expandable segment */
    int queue;
    uint8_t in_use, is_mapped, is_there;
    int64_t seen_calls;
    /* its place in a treap */
    Block *left, *right;
    int64_t key;
    uint32_t weight;
};

typedef struct {
    int pool, is_small, is_made;
    int64_t calls;
} Pool;

typedef struct {
    int64_t max_split, max_rounding, large_segment, limit;
    int64_t divisions[INTERVALS];
    double threshold, fraction;
    int expandable;
} Settings;

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *next;
    Block blocks[BLOCKS_AT_ONCE];
};

typedef struct {
    int64_t address, size;
    int is_mapped;
} Offer;

typedef struct Stretch Stretch;
struct Stretch {
    int64_t start, end;
    Stretch *next;
};

typedef struct {
    int64_t start, end;
    Stretch *free; /* by address */
} Region;

typedef struct {
    Region *regions; /* oldest first */
    size_t num_regions, regions_room;
    int64_t lowest, floor; /* new regions lie below the one, and not below the other */
    Stretch *gaps;
} Driver;

typedef struct {
    Settings settings;
    int64_t active, requested, reserved, num_device_allocations, num_retries, num_out_of_memory;
    Pool pools[2 * MOST_POOLS]; /* by number of the pool and size class */
    Queue queues[MOST_QUEUES];
    int num_queues, last_queue;
    Chunk *chunks;
    size_t num_used; /* of the first chunk */
    Block *unused;
    uint32_t random;
    int64_t num_looked_at;
    int failed; /* gives up: a difference, no memory, or more than is worth the trouble */
    /* the device: one that is not there, or what the trace says */
    int is_recorded;
    int64_t total, given, next;
    Driver driver;
    Offer *offers;
    size_t first_offer, num_offers, offers_room;
    int64_t num_taken;
    /* of a recorded one: all blocks by address */
    Block **table;
    size_t table_room, table_count;
    /* ranges, to be freed */
    Range **ranges;
    size_t num_ranges, ranges_room;
    Block **scratch;
    size_t scratch_room;
} Allocator;

static int
less(int64_t key, int64_t address, const Block *than)
{
    return key < than->key || (key == than->key && address < than->address);
}

static void
split_tree(Block *tree, int64_t key, int64_t address, Block **low, Block **high)
{
    if (tree == NULL) {
        *low = *high = NULL;
    }
    else if (less(key, address, tree)) {
        split_tree(tree->left, key, address, low, &tree->left);
        *high = tree;
    }
    else {
        split_tree(tree->right, key, address, &tree->right, high);
        *low = tree;
    }
}

static Block *
join_trees(Block *low, Block *high)
{
    if (low == NULL) {
        return high;
    }
    if (high == NULL) {
        return low;
    }
    if (low->weight > high->weight) {
        low->right = join_trees(low->right, high);
        return low;
    }
    high->left = join_trees(low, high->left);
    return high;
}

static void
put_into_tree(Block **tree, Block *block)
{
    while (*tree != NULL && (*tree)->weight >= block->weight) {
        tree = less(block->key, block->address, *tree) ? &(*tree)->left : &(*tree)->right;
    }
    split_tree(*tree, block->key, block->address, &block->left, &block->right);
    *tree = block;
}

static int
take_from_tree(Block **tree, Block *block)
{
    while (*tree != NULL && *tree != block) {
        tree = less(block->key, block->address, *tree) ? &(*tree)->left : &(*tree)->right;
    }
    if (*tree == NULL) {
        return 0;
    }
    *tree = join_trees(block->left, block->right);
    return 1;
}

/* The first block whose key and address are not below these. */
static Block *
not_below(Block *tree, int64_t key, int64_t address)
{
    Block *found = NULL;
    while (tree != NULL) {
        if (tree->key < key || (tree->key == key && tree->address < address)) {
            tree = tree->right;
        }
        else {
            found = tree;
            tree = tree->left;
        }
    }
    return found;
}

static inline Block *
following(const Queue *queue, const Block *block)
{
    return not_below(queue->free, block->key, block->address + 1);
}

#endif
