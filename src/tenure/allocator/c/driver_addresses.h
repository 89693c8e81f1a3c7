/* Part of _simulator.c: where the driver lays segments, as driver_addresses.py says. */
#ifndef TENURE_SIMULATOR_DRIVER_ADDRESSES_H
#define TENURE_SIMULATOR_DRIVER_ADDRESSES_H

static int64_t
up_to(int64_t size, int64_t step)
{
    return (size + step - 1) / step * step;
}

static void
drop_stretches(Stretch *first)
{
    while (first != NULL) {
        Stretch *next = first->next;
        free(first);
        first = next;
    }
}

static void
drop_driver(Driver *driver)
{
    for (size_t place = 0; place < driver->num_regions; place++) {
        drop_stretches(driver->regions[place].free);
    }
    drop_stretches(driver->gaps);
    free(driver->regions);
}

static void
add_stretch(Allocator *a, Stretch **first, int64_t start, int64_t end)
{
    Stretch *made = malloc(sizeof(*made));
    if (made == NULL) {
        a->failed = 1;
        return;
    }
    *made = (Stretch){start, end, *first};
    *first = made;
}

static void
cut_out(Allocator *a, Stretch **place, int64_t start, int64_t end)
{
    while (*place != NULL && (*place)->end <= start) {
        place = &(*place)->next;
    }
    Stretch *found = *place;
    if (found == NULL || found->start > start || found->end < end) {
        return;
    }
    if (end < found->end) {
        add_stretch(a, &found->next, end, found->end);
    }
    found->end = start;
    if (found->start == start) {
        *place = found->next;
        free(found);
    }
}

static void
put_stretch(Allocator *a, Stretch **place, int64_t start, int64_t end)
{
    while (*place != NULL && (*place)->end < start) {
        place = &(*place)->next;
    }
    if (*place == NULL || (*place)->start > end) {
        add_stretch(a, place, start, end);
        return;
    }
    Stretch *found = *place;
    found->start = start < found->start ? start : found->start;
    found->end = end > found->end ? end : found->end;
    if (found->next != NULL && found->next->start == found->end) {
        Stretch *next = found->next;
        found->end = next->end;
        found->next = next->next;
        free(next);
    }
}

static void
add_region(Allocator *a, int64_t start, int64_t end)
{
    Driver *driver = &a->driver;
    if (driver->num_regions == driver->regions_room) {
        size_t room = driver->regions_room ? driver->regions_room * 2 : 64;
        Region *moved = realloc(driver->regions, room * sizeof(*moved));
        if (moved == NULL) {
            a->failed = 1;
            return;
        }
        driver->regions = moved;
        driver->regions_room = room;
    }
    Region *made = &driver->regions[driver->num_regions++];
    *made = (Region){start, end, NULL};
    add_stretch(a, &made->free, start, end);
}

static Region *
region_around(Allocator *a, int64_t address)
{
    for (size_t place = 0; place < a->driver.num_regions; place++) {
        Region *region = &a->driver.regions[place];
        if (region->start <= address && address < region->end) {
            return region;
        }
    }
    return NULL;
}

static int64_t
begin_region(Allocator *a, int64_t size)
{
    Driver *driver = &a->driver;
    const Stretch *highest = NULL;
    for (const Stretch *gap = driver->gaps; gap != NULL; gap = gap->next) {
        highest = gap->end - gap->start >= size + REGION ? gap : highest;
    }
    int64_t address;
    if (highest != NULL) {
        address = highest->end - size;
        cut_out(a, &driver->gaps, address, address + size);
    }
    else {
        address = driver->lowest -= size;
        a->failed |= address < driver->floor;
    }
    add_region(a, address, address + size);
    return address;
}

static int64_t
driver_takes(Allocator *a, int64_t size)
{
    if (size > LARGEST_SETTING) {
        a->failed = 1;
        return 0;
    }
    size = up_to(size, GRANULE);
    Region *region = NULL;
    const Stretch *best = NULL;
    for (size_t place = a->driver.num_regions; place > 0 && best == NULL; place--) {
        region = &a->driver.regions[place - 1];
        for (const Stretch *each = region->free; each != NULL; each = each->next) {
            int64_t room = each->end - each->start;
            if (room >= size && (best == NULL || room < best->end - best->start)) {
                best = each;
            }
        }
    }
    int64_t address = best != NULL ? best->start : begin_region(a, up_to(size, REGION));
    if (best == NULL) {
        region = a->failed ? NULL : &a->driver.regions[a->driver.num_regions - 1];
    }
    if (region != NULL) {
        cut_out(a, &region->free, address, address + size);
    }
    return address;
}

static void
driver_has(Allocator *a, int64_t address, int64_t size)
{
    Region *region = region_around(a, address);
    if (region != NULL) {
        cut_out(a, &region->free, address, address + up_to(size, GRANULE));
    }
}

static void
driver_takes_back(Allocator *a, int64_t address, int64_t size)
{
    Driver *driver = &a->driver;
    Region *region = region_around(a, address);
    if (region == NULL) {
        return;
    }
    int64_t end = address + up_to(size, GRANULE);
    put_stretch(a, &region->free, address, end < region->end ? end : region->end);
    Region gone = *region;
    if (a->failed || gone.start % REGION || gone.free->start != gone.start || gone.free->end != gone.end) {
        return;
    }
    drop_stretches(gone.free);
    size_t place = (size_t)(region - driver->regions);
    driver->num_regions--;
    memmove(region, region + 1, (driver->num_regions - place) * sizeof(*region));
    put_stretch(a, &driver->gaps, gone.start, gone.end);
    if (!a->failed && driver->gaps->start == driver->lowest) {
        Stretch *first = driver->gaps;
        driver->lowest = first->end;
        driver->gaps = first->next;
        free(first);
    }
}

#endif
