/* Part of _heapwalk.c: first pass: every listed object gets its category and its bit. */
#ifndef TENURE_HEAPWALK_LISTING_H
#define TENURE_HEAPWALK_LISTING_H

static int
append_position(Block *block, uint32_t *count, Py_ssize_t position)
{
    if (block_reserve(block, (size_t)*count + 1, sizeof(uint32_t)) < 0) {
        return -1;
    }
    ((uint32_t *)block->start)[(*count)++] = (uint32_t)position;
    return 0;
}

/* Takes an array into the walk and returns its number among the arrays, or NOT_FOUND where memory is short. */
static uint32_t
add_array(Walk *walk, PyObject *object, Py_ssize_t position, int has_contents)
{
    uint32_t known = map_get(&walk->array_numbers, (uintptr_t)object);
    if (known != NOT_FOUND) {
        return known;
    }
    if (walk->num_arrays >= (uint32_t)MAX_OBJECTS ||
        block_reserve(&walk->arrays, (size_t)walk->num_arrays + 1, sizeof(Array)) < 0 ||
        map_put(&walk->array_numbers, (uintptr_t)object, walk->num_arrays) < 0) {
        return NOT_FOUND;
    }
    Array *array = (Array *)walk->arrays.start + walk->num_arrays;
    Py_INCREF(object);
    array->object = object;
    array->position = position;
    array->has_contents = has_contents;
    array->start = array->end = array->bytes = array->weight = 0;
    return walk->num_arrays++;
}

static int
add_plain(Walk *walk, uintptr_t address, Page **last)
{
    uint64_t key = PAGE_KEY(address);
    if (*last == NULL || (*last)->key != key) {
        *last = walk->pages.count == 0 ? NULL : page_find(&walk->pages, key);
        if (*last == NULL && (*last = page_add(&walk->pages, key)) == NULL) {
            return -1;
        }
    }
    unsigned granule = GRANULE(address);
    (*last)->bits[granule >> 6] |= (uint64_t)1 << (granule & 63);
    return 0;
}

static int
sort_objects(Walk *walk)
{
    Page *last = NULL;
    PyTypeObject *last_type = NULL;
    uint32_t last_category = IGNORE;
    for (Py_ssize_t i = 0; i < walk->num_objects; i++) {
        PyObject *object = object_at(walk, i);
        if (i + 16 < walk->num_objects) {
            PREFETCH(object_at(walk, i + 16));
        }
        if (Py_TYPE(object) != last_type) {
            last_type = Py_TYPE(object);
            last_category = map_get(&walk->categories, (uintptr_t)last_type);
            if (last_category == NOT_FOUND) {
                int answer = classify_type(walk, last_type);
                if (answer < 0) {
                    return -1;
                }
                last_category = (uint32_t)answer;
            }
        }
        uint32_t category = last_category;
        (void)is_overridden(walk, (uintptr_t)object, &category);
        int failed = 0;
        if (category == ROOT) {
            failed = append_position(&walk->roots, &walk->num_roots, i);
        }
        else if (category == ARRAY) {
            failed = add_array(walk, object, i, 1) == NOT_FOUND ? -1 : 0;
        }
        else if (category != IGNORE) {
            if (IS_ODD((uintptr_t)object)) {
                failed = add_array(walk, object, i, 0) == NOT_FOUND ? -1 : 0;
            }
            else {
                failed = add_plain(walk, (uintptr_t)object, &last);
            }
            if (category == TARGET && failed == 0) {
                failed = append_position(&walk->targets, &walk->num_targets, i);
            }
        }
        if (failed < 0) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static void
number_pages(Walk *walk)
{
    Page *pages = walk->pages.pages.start;
    uint32_t base = 0;
    for (size_t i = 0; i < walk->pages.count; i++) {
        unsigned before = 0;
        pages[i].base = base;
        for (int word = 0; word < 4; word++) {
            pages[i].before[word] = (uint8_t)before;
            before += POPCOUNT(pages[i].bits[word]);
        }
        base += before;
    }
    walk->num_plain = base;
}

#endif
