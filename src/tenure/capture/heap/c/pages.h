/* Part of _heapwalk.c: from an object's address to its number, by page. */
#ifndef TENURE_HEAPWALK_PAGES_H
#define TENURE_HEAPWALK_PAGES_H

/* Two objects never start in the same granule: an object is at least a granule long. */
#define GRANULE_SHIFT (sizeof(void *) == 8 ? 4 : 3)
#define PAGE_SHIFT (GRANULE_SHIFT + 8)
#define PAGE_KEY(address) ((uint64_t)(address) >> PAGE_SHIFT)
#define GRANULE(address) ((unsigned)((address) >> GRANULE_SHIFT) & 255)
#define IS_ODD(address) ((address) & (((uintptr_t)1 << GRANULE_SHIFT) - 1))

typedef struct {
    uint64_t key;
    uint64_t bits[4];
    uint32_t base;
    uint8_t before[4];
} Page;

typedef struct {
    Block pages;
    uint64_t *slots; /* low half of the page key << 32 | position in `pages` + 1 */
    int slot_bits;
    size_t count;
} PageTable;

static inline size_t
page_slot(const PageTable *table, uint64_t key)
{
    return (size_t)((key * 0x9E3779B97F4A7C15ULL) >> (64 - table->slot_bits));
}

static inline Page *
page_find(const PageTable *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->slot_bits) - 1;
    for (size_t i = page_slot(table, key);; i = (i + 1) & mask) {
        uint64_t slot = table->slots[i];
        if (slot == 0) {
            return NULL;
        }
        if ((uint32_t)(slot >> 32) == (uint32_t)key) {
            Page *page = (Page *)table->pages.start + ((uint32_t)slot - 1);
            if (LIKELY(page->key == key)) {
                return page;
            }
        }
    }
}

static void
page_enter(PageTable *table, uint64_t key, size_t position)
{
    size_t mask = ((size_t)1 << table->slot_bits) - 1;
    size_t i = page_slot(table, key);
    while (table->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    table->slots[i] = (uint64_t)(uint32_t)key << 32 | (uint32_t)(position + 1);
}

static Page *
page_add(PageTable *table, uint64_t key)
{
    if (table->count >= UINT32_MAX - 1 || block_reserve(&table->pages, table->count + 1, sizeof(Page)) < 0) {
        return NULL;
    }
    if (table->slots == NULL || (table->count + 1) * 2 > (size_t)1 << table->slot_bits) {
        int bits = table->slots == NULL ? 10 : table->slot_bits + 1;
        uint64_t *slots = PyMem_RawCalloc((size_t)1 << bits, sizeof(uint64_t));
        if (slots == NULL) {
            return NULL;
        }
        PyMem_RawFree(table->slots);
        table->slots = slots;
        table->slot_bits = bits;
        for (size_t i = 0; i < table->count; i++) {
            page_enter(table, ((Page *)table->pages.start)[i].key, i);
        }
    }
    Page *page = (Page *)table->pages.start + table->count;
    memset(page, 0, sizeof(Page));
    page->key = key;
    page_enter(table, key, table->count++);
    return page;
}

static inline uint32_t
page_number(const Page *page, unsigned granule)
{
    unsigned word = granule >> 6, bit = granule & 63;
    if (!((page->bits[word] >> bit) & 1)) {
        return NOT_FOUND;
    }
    return page->base + page->before[word] + POPCOUNT(page->bits[word] & (((uint64_t)1 << bit) - 1));
}

static inline uint32_t
number_at(const PageTable *table, uintptr_t address)
{
    const Page *page = page_find(table, PAGE_KEY(address));
    return page == NULL ? NOT_FOUND : page_number(page, GRANULE(address));
}

#endif
