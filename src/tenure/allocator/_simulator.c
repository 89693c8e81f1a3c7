/* Torch's CUDA caching allocator without a device, in C: what simulator.py, laid_out.py and the loops of replay.py and
 * what_if.py do, sooner.
 *
 * CPython headers only. The twins in Python say what the rules are and where they come from. `replay` plays a recorded
 * trace and gives up without a word at the first difference: the twin then plays it again and says where it was.
 * `play` plays requests on a device that is not there, without the interpreter's lock, so that several settings can be
 * tried at once. Free blocks of a pool and stream stand in a treap by size and address.
 */
#define PY_SSIZE_T_CLEAN
#include "Python.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
#define MIN_BLOCK 512
#define SMALL_SIZE MIB
#define SMALL_SEGMENT (2 * MIB)
#define MIN_LARGE_ALLOC (10 * MIB)
#define ROUND_LARGE (2 * MIB)
#define NO_LIMIT INT64_MAX
#define INTERVALS 16
#define FIRST_INTERVAL 20
#define GRANULE (2 * MIB)
#define FIRST_ADDRESS (INT64_C(1) << 32)
#define ENDLESS_DEVICE (INT64_C(1) << 42)
#define ENDLESS (INT64_C(1) << 44)
#define HIGHEST (INT64_C(1) << 61)
#define LARGEST_SETTING (INT64_C(1) << 45)
#define MOST_POOLS 1025
#define MOST_QUEUES 256
#define MOST_LOOKED_AT (INT64_C(1) << 27)
#define BLOCKS_AT_ONCE 1024

enum { ALLOC = 1, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP };
enum { ALLOCATE, FREE, GIVE_BACK, OUT_OF_MEMORY };

/* ---- blocks, and the queues in which free ones wait ------------------------------------------------------------ */

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

/* ---- blocks by address, of a recorded trace ------------------------------------------------------------------------ */

static inline size_t
home(const Allocator *a, int64_t address)
{
    return (size_t)(((uint64_t)address * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (a->table_room - 1);
}

static Block *
at_address(const Allocator *a, int64_t address)
{
    if (a->table_room == 0) {
        return NULL;
    }
    size_t place = home(a, address);
    while (a->table[place] != NULL && a->table[place]->address != address) {
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
        if (a->table[place]->address == block->address || ++a->num_looked_at > MOST_LOOKED_AT) {
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

/* ---- blocks are made, cut and merged ---------------------------------------------------------------------------- */

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

/* ---- the device --------------------------------------------------------------------------------------------------- */

static int
take_offer(Allocator *a, int64_t size, int is_mapped, int64_t *address)
{
    if (a->first_offer == a->num_offers || a->offers[a->first_offer].is_mapped != is_mapped ||
        a->offers[a->first_offer].size != size) {
        a->failed = 1;
        return 0;
    }
    *address = a->offers[a->first_offer++].address;
    if (a->first_offer == a->num_offers) {
        a->first_offer = a->num_offers = 0;
    }
    a->num_taken++;
    return 1;
}

static int
device_gives(Allocator *a, int64_t size, int64_t *address)
{
    if (a->is_recorded) {
        return take_offer(a, size, 0, address);
    }
    if (a->total >= 0 && a->given + size > a->total) {
        return 0;
    }
    *address = a->next;
    a->next += (size + GRANULE - 1) / GRANULE * GRANULE;
    a->given += size;
    if (a->next > HIGHEST) {
        a->failed = 1;
    }
    return 1;
}

static int
device_puts_behind(Allocator *a, int64_t address, int64_t size)
{
    int64_t told;
    if (a->is_recorded) {
        if (!take_offer(a, size, 1, &told)) {
            return 0;
        }
        a->failed |= told != address;
        return !a->failed;
    }
    if (a->total >= 0 && a->given + size > a->total) {
        return 0;
    }
    a->given += size;
    return 1;
}

static Range *
new_range(Allocator *a, int64_t address, int64_t size, int64_t page)
{
    if (a->num_ranges == a->ranges_room) {
        size_t room = a->ranges_room ? a->ranges_room * 2 : 16;
        Range **moved = realloc(a->ranges, room * sizeof(*moved));
        if (moved == NULL) {
            a->failed = 1;
            return NULL;
        }
        a->ranges = moved;
        a->ranges_room = room;
    }
    Range *made = malloc(sizeof(*made));
    if (made == NULL) {
        a->failed = 1;
        return NULL;
    }
    *made = (Range){address, size, page};
    a->ranges[a->num_ranges++] = made;
    return made;
}

static Range *
device_reserves(Allocator *a, int64_t page)
{
    if (a->is_recorded) {
        if (a->first_offer == a->num_offers || !a->offers[a->first_offer].is_mapped) {
            a->failed = 1;
            return NULL;
        }
        return new_range(a, a->offers[a->first_offer].address, ENDLESS, page);
    }
    int64_t size = a->total < 0 ? ENDLESS_DEVICE : a->total / 8 * 9;
    size = (size + page - 1) / page * page;
    int64_t address = a->next;
    a->next += size;
    if (a->next > HIGHEST) {
        a->failed = 1;
    }
    return new_range(a, address, size, page);
}

/* ---- the allocator ------------------------------------------------------------------------------------------------- */

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
    if (collects(&a->settings)) {
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
give_back(Allocator *a, int64_t private_pool)
{
    for (int is_small = 0; is_small < 2; is_small++) {
        release_whole(a, pool_number(a, 0, is_small));
    }
    for (int is_small = 0; private_pool != 0 && is_small < 2; is_small++) {
        release_whole(a, pool_number(a, private_pool, is_small));
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
collect(Allocator *a)
{
    double target = (double)a->reserved - a->settings.threshold * (double)a->settings.limit;
    if (target <= 0) {
        return;
    }
    int pool = pool_number(a, 0, 0);
    size_t count = free_blocks(a, pool), num = 0;
    for (size_t place = 0; place < count; place++) {
        if (is_whole(a->scratch[place]) && a->scratch[place]->range == NULL) {
            a->scratch[num++] = a->scratch[place];
        }
    }
    double reclaimed = 0;
    while (reclaimed < target && num > 0) {
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

static Block *
without_fit(Allocator *a, int queue, int64_t size)
{
    if (collects(&a->settings) && a->settings.limit >= 0) {
        collect(a);
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

/* ---- the state before the first event -------------------------------------------------------------------------------- */

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

/* ---- a recorded trace -------------------------------------------------------------------------------------------------- */

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

/* ---- between Python and this -------------------------------------------------------------------------------------------- */

static void
close_table(Table *table)
{
    for (int number = 0; number < table->num_buffers; number++) {
        PyBuffer_Release(&table->buffers[number]);
    }
}

/* A tuple of as many columns of 64-bit numbers. */
static int
open_table(PyObject *told, int num_columns, Table *table)
{
    memset(table, 0, sizeof(*table));
    if (!PyTuple_Check(told) || PyTuple_GET_SIZE(told) != num_columns) {
        PyErr_SetString(PyExc_ValueError, "another number of columns was expected");
        return 0;
    }
    for (int number = 0; number < num_columns; number++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(told, number), &table->buffers[number], PyBUF_C_CONTIGUOUS) < 0) {
            return 0;
        }
        table->num_buffers++;
        table->columns[number] = table->buffers[number].buf;
        Py_ssize_t rows = table->buffers[number].len / (Py_ssize_t)sizeof(int64_t);
        if (number && rows != table->rows) {
            PyErr_SetString(PyExc_ValueError, "columns of different lengths");
            return 0;
        }
        table->rows = rows;
    }
    return 1;
}

static int
read_settings(PyObject *told, Settings *settings)
{
    PyObject *divisions;
    memset(settings, 0, sizeof(*settings));
    if (!PyArg_ParseTuple(told, "LLO!dpLdL", (long long *)&settings->max_split, (long long *)&settings->max_rounding,
                          &PyTuple_Type, &divisions, &settings->threshold, &settings->expandable,
                          (long long *)&settings->large_segment, &settings->fraction, (long long *)&settings->limit)) {
        return 0;
    }
    if (PyTuple_GET_SIZE(divisions) != INTERVALS) {
        PyErr_SetString(PyExc_ValueError, "a number of parts for each of 16 intervals was expected");
        return 0;
    }
    for (int interval = 0; interval < INTERVALS; interval++) {
        settings->divisions[interval] = PyLong_AsLongLong(PyTuple_GET_ITEM(divisions, interval));
        if (settings->divisions[interval] > LARGEST_SETTING) {
            PyErr_SetString(PyExc_OverflowError, "more parts than there are bytes");
        }
    }
    if (settings->large_segment > LARGEST_SETTING) {
        PyErr_SetString(PyExc_OverflowError, "segments larger than any device");
    }
    return !PyErr_Occurred();
}

static Allocator *
new_allocator(void)
{
    Allocator *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    a->random = 2463534242U;
    a->total = -1;
    a->next = FIRST_ADDRESS;
    return a;
}

static void
drop_allocator(Allocator *a)
{
    while (a->chunks != NULL) {
        Chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    for (size_t number = 0; number < a->num_ranges; number++) {
        free(a->ranges[number]);
    }
    free(a->ranges);
    free(a->offers);
    free(a->table);
    free(a->scratch);
    free(a);
}

enum { L_ADDRESS, L_SIZE, L_IN_USE, L_STREAM, L_POOL, L_SMALL, L_EXPANDABLE, L_IS_FIRST, NUM_LEFT_COLUMNS };

/* Writes all blocks with memory, in no order, where `columns` is not NULL; gives back how many there are. */
static size_t
each_block(const Allocator *a, int64_t **columns)
{
    size_t row = 0;
    for (const Chunk *chunk = a->chunks; chunk != NULL; chunk = chunk->next) {
        size_t num = chunk == a->chunks ? a->num_used : BLOCKS_AT_ONCE;
        for (size_t place = 0; place < num; place++) {
            const Block *block = &chunk->blocks[place];
            if (!block->is_there || !block->is_mapped) {
                continue;
            }
            if (columns != NULL) {
                const Queue *queue = &a->queues[block->queue];
                const Pool *pool = &a->pools[queue->pool];
                columns[L_ADDRESS][row] = block->address;
                columns[L_SIZE][row] = block->size;
                columns[L_IN_USE][row] = block->in_use;
                columns[L_STREAM][row] = queue->stream;
                columns[L_POOL][row] = pool->pool;
                columns[L_SMALL][row] = pool->is_small;
                columns[L_EXPANDABLE][row] = block->range != NULL;
                columns[L_IS_FIRST][row] = block->before == NULL || !block->before->is_mapped;
            }
            row++;
        }
    }
    return row;
}

static PyObject *
blocks_left(const Allocator *a)
{
    int64_t *columns[NUM_LEFT_COLUMNS];
    size_t count = each_block(a, NULL);
    PyObject *made = PyTuple_New(NUM_LEFT_COLUMNS);
    for (int number = 0; made != NULL && number < NUM_LEFT_COLUMNS; number++) {
        PyObject *column = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(int64_t)));
        if (column == NULL) {
            Py_CLEAR(made);
            break;
        }
        columns[number] = (int64_t *)PyByteArray_AS_STRING(column);
        PyTuple_SET_ITEM(made, number, column);
    }
    if (made != NULL) {
        each_block(a, columns);
    }
    return made;
}

static PyObject *
replay(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *told_settings, *told_segments, *told_blocks, *told_events, *found = NULL;
    Py_buffer levels[2] = {{0}, {0}};
    if (!PyArg_ParseTuple(args, "O!OOOw*w*", &PyTuple_Type, &told_settings, &told_segments, &told_blocks, &told_events,
                          &levels[0], &levels[1])) {
        return NULL;
    }
    Table segments = {0}, blocks = {0}, events = {0};
    Allocator *a = new_allocator();
    if (a == NULL) {
        PyBuffer_Release(&levels[0]);
        PyBuffer_Release(&levels[1]);
        return NULL;
    }
    Block **placed = NULL;
    if (!read_settings(told_settings, &a->settings) || !open_table(told_segments, NUM_SEGMENT_COLUMNS, &segments) ||
        !open_table(told_blocks, NUM_BLOCK_COLUMNS, &blocks) || !open_table(told_events, 5, &events)) {
        goto done;
    }
    placed = calloc((size_t)blocks.rows + 1, sizeof(*placed));
    if (placed == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t peak_active, peak_active_at = -1, peak_reserved, peak_reserved_at = -1, num_equal = 0;
    int64_t *active_after = levels[0].buf, *reserved_after = levels[1].buf;
    Py_ssize_t num_levels = levels[0].len < levels[1].len ? levels[0].len : levels[1].len;
    num_levels /= (Py_ssize_t)sizeof(int64_t);
    a->is_recorded = 1;
    Py_BEGIN_ALLOW_THREADS
    lay_out(a, &segments, &blocks, placed);
    peak_active = a->active;
    peak_reserved = a->reserved;
    for (Py_ssize_t row = 0; row < events.rows && !a->failed; row++) {
        int64_t action = events.columns[0][row];
        play_event(a, action, events.columns[1][row], events.columns[2][row], events.columns[3][row],
                   events.columns[4][row]);
        num_equal += action == ALLOC;
        if (row < num_levels) {
            active_after[row] = a->active;
            reserved_after[row] = a->reserved;
        }
        if (a->active > peak_active) {
            peak_active = a->active;
            peak_active_at = row;
        }
        if (a->reserved > peak_reserved) {
            peak_reserved = a->reserved;
            peak_reserved_at = row;
        }
        a->failed |= a->num_looked_at > MOST_LOOKED_AT;
    }
    Py_END_ALLOW_THREADS
    if (a->failed) {
        found = Py_NewRef(Py_None);
        goto done;
    }
    PyObject *left = blocks_left(a);
    if (left != NULL) {
        found = Py_BuildValue("(LLLLLLN)", (long long)num_equal, (long long)a->num_taken, (long long)peak_active,
                              (long long)peak_active_at, (long long)peak_reserved, (long long)peak_reserved_at, left);
    }
done:
    free(placed);
    PyBuffer_Release(&levels[0]);
    PyBuffer_Release(&levels[1]);
    close_table(&segments);
    close_table(&blocks);
    close_table(&events);
    drop_allocator(a);
    return found;
}

static PyObject *
play(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *told_settings, *told_segments, *told_blocks, *told_rows, *found = NULL;
    long long total, given, next, num_numbers, begin, error;
    if (!PyArg_ParseTuple(args, "O!OOOLLLLLL", &PyTuple_Type, &told_settings, &told_segments, &told_blocks, &told_rows,
                          &total, &given, &next, &num_numbers, &begin, &error)) {
        return NULL;
    }
    Table segments = {0}, blocks = {0}, rows = {0};
    Allocator *a = new_allocator();
    if (a == NULL) {
        return NULL;
    }
    Block **held = NULL, **placed = NULL;
    if (!read_settings(told_settings, &a->settings) || !open_table(told_segments, NUM_SEGMENT_COLUMNS, &segments) ||
        !open_table(told_blocks, NUM_BLOCK_COLUMNS, &blocks) || !open_table(told_rows, 5, &rows)) {
        goto done;
    }
    held = num_numbers < 0 ? NULL : calloc((size_t)num_numbers + 1, sizeof(*held));
    placed = calloc((size_t)blocks.rows + 1, sizeof(*placed));
    if (held == NULL || placed == NULL || begin < 0) {
        PyErr_NoMemory();
        goto done;
    }
    a->total = total;
    a->given = given;
    a->next = next;
    int64_t peak_active, peak_reserved, num_errors = 0;
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    lay_out(a, &segments, &blocks, placed);
    for (Py_ssize_t row = 0; row < begin && row < blocks.rows && row < rows.rows; row++) {
        int64_t number = rows.columns[1][row];
        if (number >= 0 && number < num_numbers) {
            held[number] = placed[row];
        }
    }
    peak_active = a->active;
    peak_reserved = a->reserved;
    for (Py_ssize_t row = (Py_ssize_t)begin; row < rows.rows && !a->failed; row++) {
        int64_t kind = rows.columns[0][row], number = rows.columns[1][row];
        int is_number = number >= 0 && number < num_numbers;
        if (kind == ALLOCATE) {
            Block *block = allocate(a, rows.columns[2][row], rows.columns[3][row], rows.columns[4][row]);
            fits &= block != NULL;
            peak_reserved = a->reserved > peak_reserved ? a->reserved : peak_reserved;
            peak_active = a->active > peak_active ? a->active : peak_active;
            if (block != NULL && is_number) {
                held[number] = block;
            }
        }
        else if (kind == FREE && is_number && held[number] != NULL) {
            free_block(a, held[number]);
            held[number] = NULL;
        }
        else if (kind == GIVE_BACK) {
            give_back(a, rows.columns[4][row]);
        }
        else if (kind == OUT_OF_MEMORY && ++num_errors == error) {
            fits &= allocate(a, rows.columns[2][row], rows.columns[3][row], rows.columns[4][row]) != NULL;
            peak_reserved = a->reserved > peak_reserved ? a->reserved : peak_reserved;
            break;
        }
    }
    Py_END_ALLOW_THREADS
    found = a->failed ? Py_NewRef(Py_None)
                      : Py_BuildValue("(LLOLLL)", (long long)peak_reserved, (long long)peak_active,
                                      fits ? Py_True : Py_False, (long long)a->num_device_allocations,
                                      (long long)a->num_retries, (long long)a->num_out_of_memory);
done:
    free(held);
    free(placed);
    close_table(&segments);
    close_table(&blocks);
    close_table(&rows);
    drop_allocator(a);
    return found;
}

static PyMethodDef methods[] = {
    {"replay", replay, METH_VARARGS,
     "replay(settings, segments, blocks, events, active, reserved) -> (equal allocations, segments taken, peak of "
     "active bytes, its event, peak of reserved bytes, its event, columns of the blocks left); None at the first "
     "difference. The bytes after each event go into `active` and `reserved`, as far as they reach."},
    {"play", play, METH_VARARGS,
     "play(settings, segments, blocks, rows, total, given, next address, numbers, first row, error) -> (peak of "
     "reserved bytes, of active bytes, whether all were served, device allocations, retries, refusals); None: not here."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_simulator", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC
PyInit__simulator(void)
{
#ifdef Py_GIL_DISABLED
    PyErr_SetString(PyExc_ImportError, "the native simulator needs the GIL; the one in plain Python is used");
    return NULL;
#else
    return PyModule_Create(&module);
#endif
}
