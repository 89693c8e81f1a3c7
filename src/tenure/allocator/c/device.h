/* Part of _simulator.c: what a device has to give, and what of it is given. */
#ifndef TENURE_SIMULATOR_DEVICE_H
#define TENURE_SIMULATOR_DEVICE_H

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
    a->given += size;
    *address = driver_takes(a, size);
    return !a->failed;
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

#endif
