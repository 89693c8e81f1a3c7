/* Part of _heapwalk.c: small maps from an address to a number. */
#ifndef TENURE_HEAPWALK_MAPS_H
#define TENURE_HEAPWALK_MAPS_H

typedef struct {
    uintptr_t key;
    uint32_t value;
} Entry;

typedef struct {
    Entry *entries;
    size_t mask;
    size_t used;
} AddressMap;

static inline size_t
address_hash(uintptr_t address)
{
    return (size_t)((((uint64_t)address >> 4) * 0x9E3779B97F4A7C15ULL) >> 20);
}

static inline uint32_t
map_get(const AddressMap *map, uintptr_t key)
{
    if (map->used == 0) {
        return NOT_FOUND;
    }
    for (size_t i = address_hash(key) & map->mask;; i = (i + 1) & map->mask) {
        if (map->entries[i].key == key) {
            return map->entries[i].value;
        }
        if (map->entries[i].key == 0) {
            return NOT_FOUND;
        }
    }
}

static void
map_put_unchecked(AddressMap *map, uintptr_t key, uint32_t value)
{
    size_t i = address_hash(key) & map->mask;
    while (map->entries[i].key != 0 && map->entries[i].key != key) {
        i = (i + 1) & map->mask;
    }
    map->used += map->entries[i].key == 0;
    map->entries[i].key = key;
    map->entries[i].value = value;
}

static int
map_put(AddressMap *map, uintptr_t key, uint32_t value)
{
    if (map->entries == NULL || (map->used + 1) * 2 > map->mask + 1) {
        size_t capacity = map->entries == NULL ? 256 : (map->mask + 1) * 2;
        AddressMap larger = {PyMem_RawCalloc(capacity, sizeof(Entry)), capacity - 1, 0};
        if (larger.entries == NULL) {
            return -1;
        }
        for (size_t i = 0; map->entries != NULL && i <= map->mask; i++) {
            if (map->entries[i].key != 0) {
                map_put_unchecked(&larger, map->entries[i].key, map->entries[i].value);
            }
        }
        PyMem_RawFree(map->entries);
        *map = larger;
    }
    map_put_unchecked(map, key, value);
    return 0;
}

#endif
