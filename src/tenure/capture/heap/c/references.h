/* Part of _heapwalk.c: second pass: references. */
#ifndef TENURE_HEAPWALK_REFERENCES_H
#define TENURE_HEAPWALK_REFERENCES_H

static int
note_pending(Walk *walk, PyTypeObject *type)
{
    if (walk->num_pending == walk->max_pending) {
        size_t larger = walk->max_pending == 0 ? 64 : walk->max_pending * 2;
        PyTypeObject **grown = PyMem_RawRealloc(walk->pending, larger * sizeof(PyTypeObject *));
        if (grown == NULL) {
            return -1;
        }
        walk->pending = grown;
        walk->max_pending = larger;
    }
    if (map_put(&walk->categories, (uintptr_t)type, PENDING) < 0) {
        return -1;
    }
    Py_INCREF(type);
    walk->pending[walk->num_pending++] = type;
    return 0;
}

/* The number of something that has no bit: an array, or nothing of ours. */
static uint32_t
unlisted_number(Walk *walk, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    /* What a single reference holds dies with its owner; what is shared (interned, small numbers) is nobody's. */
    if (Py_REFCNT(object) == 1 && walk->least != 0) {
        walk->weight += leaf_bytes(object, type);
    }
    if (UNLIKELY(is_untracked(walk, object))) {
        return untracked_number(walk, object);
    }
    if (UNLIKELY(IS_ODD((uintptr_t)object))) {
        uint32_t number = map_get(&walk->array_numbers, (uintptr_t)object);
        if (number != NOT_FOUND) {
            return num_fixed(walk) + number;
        }
    }
    if (LIKELY(type == walk->dull_type)) {
        return NOT_FOUND;
    }
    uint32_t category = map_get(&walk->categories, (uintptr_t)type);
    if (UNLIKELY(category == NOT_FOUND)) {
        walk->failed |= note_pending(walk, type) < 0;
        return NOT_FOUND;
    }
    if (category == ARRAY) {
        (void)is_overridden(walk, (uintptr_t)object, &category);
        if (category != ARRAY) {
            return NOT_FOUND;
        }
        uint32_t number = add_array(walk, object, -1, 1);
        walk->failed |= number == NOT_FOUND;
        return number == NOT_FOUND ? NOT_FOUND : num_fixed(walk) + number;
    }
    if (category != PENDING) {
        walk->dull_type = type;
    }
    return NOT_FOUND;
}

static inline void
pass_bounds(Walk *walk, unsigned buffered)
{
    while (walk->next_bound < walk->num_bounds && walk->bounds[walk->next_bound] == buffered) {
        close_weight(walk);
        ((uint64_t *)walk->starts.start)[walk->first_number + walk->next_bound++] = walk->num_edges;
    }
}

/* Turns the buffered addresses into numbers. Each step of a look-up is prefetched a few references ahead. */
static void
flush(Walk *walk)
{
    const PageTable *table = &walk->pages;
    unsigned count = walk->num_buffered;
    if (block_reserve(&walk->edges, walk->num_edges + count, sizeof(uint32_t)) < 0) {
        walk->failed = 1;
    }
    for (unsigned i = 0; i < count && !walk->failed; i++) {
        if (i + 12 < count) {
            PREFETCH(&table->slots[page_slot(table, PAGE_KEY((uintptr_t)walk->buffer[i + 12]))]);
        }
        if (i + 6 < count) {
            uintptr_t ahead = (uintptr_t)walk->buffer[i + 6];
            uint64_t slot = table->slots[page_slot(table, PAGE_KEY(ahead))];
            if ((uint32_t)(slot >> 32) == (uint32_t)PAGE_KEY(ahead) && slot != 0) {
                PREFETCH((Page *)table->pages.start + ((uint32_t)slot - 1));
            }
            else {
                PREFETCH(ahead);
            }
        }
        pass_bounds(walk, i);
        PyObject *object = walk->buffer[i];
        uint32_t number = number_at(table, (uintptr_t)object);
        if (number == NOT_FOUND) {
            number = unlisted_number(walk, object);
            if (number == NOT_FOUND) {
                continue;
            }
        }
        ((uint32_t *)walk->edges.start)[walk->num_edges++] = number;
    }
    pass_bounds(walk, count);
    /* What is left of `bounds` lies at this end of the buffer or later, so nothing shifts but the start. */
    walk->num_buffered = 0;
}

/* Never answers with anything but 0: a traversal that is cut short is not what foreign types are tested with. */
static int
visit(PyObject *object, void *arg)
{
    Walk *walk = arg;
    if (object == NULL || object == Py_None || (PyTypeObject *)object == walk->own_type) {
        return 0;
    }
    if (UNLIKELY(walk->num_buffered == BUFFER)) {
        flush(walk);
    }
    walk->buffer[walk->num_buffered++] = object;
    return 0;
}

static inline void
traverse(Walk *walk, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!PyType_IS_GC(type) || type->tp_traverse == NULL || (type->tp_is_gc != NULL && !type->tp_is_gc(object))) {
        return;
    }
    type->tp_traverse(object, visit, walk);
}

/* Unless `contents` has said something else. */
static void
say_no_memory(void)
{
    if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
}

/* Asks for the categories of types met for the first time. 1 when one of them is to be looked into. */
static int
classify_pending(Walk *walk)
{
    int found = 0;
    while (walk->num_pending > 0) {
        PyTypeObject *type = walk->pending[--walk->num_pending];
        int category = classify_type(walk, type); /* `pending` gave its reference to `categories` */
        if (category < 0) {
            return -1;
        }
        found |= category == ARRAY;
    }
    return found;
}

/* Most objects refer to their class first of all, and most classes are roots. */
static int
is_never_node(const Walk *walk, PyTypeObject *type)
{
    uint32_t category = map_get(&walk->categories, (uintptr_t)Py_TYPE(type));
    return category == ROOT || category == IGNORE;
}

static int
traverse_batch(Walk *walk, PyObject **objects, unsigned count, uint32_t first_number)
{
    uint64_t rewind = walk->num_edges;
    PyTypeObject *type = NULL;
    for (;;) {
        walk->num_edges = rewind;
        walk->num_buffered = walk->num_bounds = walk->next_bound = 0;
        walk->first_number = first_number;
        walk->weight = 0;
        for (unsigned i = 0; i < count; i++) {
            if (i + 6 < count) {
                PREFETCH(objects[i + 6]);
            }
            if (walk->num_buffered > BUFFER / 2) {
                flush(walk);
            }
            walk->tables[walk->num_bounds] = walk->least == 0 ? 0 : table_bytes(objects[i]);
            walk->bounds[walk->num_bounds++] = walk->num_buffered;
            if (Py_TYPE(objects[i]) != type) {
                type = Py_TYPE(objects[i]);
                walk->own_type = is_never_node(walk, type) ? type : NULL;
            }
            traverse(walk, objects[i]);
        }
        flush(walk);
        close_weight(walk);
        if (walk->failed) {
            say_no_memory();
            return -1;
        }
        int again = walk->num_pending == 0 ? 0 : classify_pending(walk);
        if (again <= 0) {
            return again;
        }
    }
}

static int
traverse_plain(Walk *walk)
{
    PyObject *batch[BATCH];
    for (size_t i = 0; i < walk->pages.count; i++) {
        const Page *page = (Page *)walk->pages.pages.start + i;
        unsigned count = 0;
        for (unsigned word = 0; word < 4; word++) {
            for (uint64_t bits = page->bits[word]; bits != 0; bits &= bits - 1) {
                uint64_t granule = word * 64 + LOWEST_BIT(bits);
                batch[count++] = (PyObject *)(uintptr_t)((page->key << PAGE_SHIFT) + (granule << GRANULE_SHIFT));
            }
        }
        if (traverse_batch(walk, batch, count, page->base) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
traverse_roots(Walk *walk)
{
    PyObject *batch[BATCH];
    const uint32_t *positions = walk->roots.start;
    for (uint32_t done = 0; done < walk->num_roots;) {
        unsigned count = 0;
        while (count < BATCH && done + count < walk->num_roots) {
            batch[count] = object_at(walk, positions[done + count]);
            count++;
        }
        if (traverse_batch(walk, batch, count, walk->num_plain + done) < 0) {
            return -1;
        }
        done += count;
    }
    ((uint64_t *)walk->starts.start)[num_fixed(walk)] = walk->num_edges;
    return 0;
}

static int
traverse_array(Walk *walk, uint32_t number)
{
    PyObject *object = ((Array *)walk->arrays.start)[number].object;
    int has_contents = ((Array *)walk->arrays.start)[number].has_contents;
    PyObject *contents = has_contents ? PyObject_CallFunctionObjArgs(walk->contents, object, NULL) : PyTuple_New(0);
    if (contents != NULL && PyLong_CheckExact(contents)) {
        unsigned long long bytes = PyLong_AsUnsignedLongLong(contents);
        Py_DECREF(contents);
        contents = bytes == (unsigned long long)-1 && PyErr_Occurred() ? NULL : PyTuple_New(0);
        ((Array *)walk->arrays.start)[number].bytes = contents == NULL ? 0 : bytes;
        walk->any_bytes = 1;
    }
    PyObject *items = contents == NULL ? NULL : PySequence_Fast(contents, "contents must return a list or a number");
    Py_XDECREF(contents);
    if (items == NULL || check_list(walk) < 0) {
        Py_XDECREF(items);
        return -1;
    }
    uint64_t rewind = walk->num_edges;
    int again;
    walk->own_type = NULL;
    do {
        walk->num_edges = rewind;
        walk->num_buffered = walk->num_bounds = walk->next_bound = 0;
        walk->weight = has_contents ? 0 : table_bytes(object);
        traverse(walk, object);
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
            visit(PySequence_Fast_GET_ITEM(items, i), walk);
        }
        flush(walk);
        if (walk->failed) {
            say_no_memory();
            again = -1;
            break;
        }
        again = walk->num_pending == 0 ? 0 : classify_pending(walk);
    } while (again > 0);
    Py_DECREF(items);
    Array *array = (Array *)walk->arrays.start + number;
    array->start = rewind;
    array->end = walk->num_edges;
    array->weight = walk->weight;
    return again;
}

/* Arrays among the further objects; their numbers come after those met on the way. */
static int
add_extra(Walk *walk, PyObject *extra)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(extra); i++) {
        PyObject *object = PySequence_Fast_GET_ITEM(extra, i);
        if (is_untracked(walk, object)) {
            (void)untracked_number(walk, object);
            if (walk->failed) {
                say_no_memory();
                return -1;
            }
            continue;
        }
        uint32_t category = map_get(&walk->categories, (uintptr_t)Py_TYPE(object));
        if (category == NOT_FOUND) {
            Py_INCREF(object);
            int answer = classify_type(walk, Py_TYPE(object));
            Py_DECREF(object);
            if (answer < 0) {
                return -1;
            }
            category = (uint32_t)answer;
        }
        if (category == ARRAY) {
            (void)is_overridden(walk, (uintptr_t)object, &category);
        }
        if (category == ARRAY && add_array(walk, object, -1, 1) == NOT_FOUND) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static int
collect_references(Walk *walk, PyObject *extra)
{
    if (block_grow(&walk->starts, ((size_t)num_fixed(walk) + 1) * sizeof(uint64_t)) < 0 ||
        (walk->least != 0 && block_grow(&walk->weights, ((size_t)walk->num_plain + 1) * sizeof(uint64_t)) < 0)) {
        PyErr_NoMemory();
        return -1;
    }
    if (traverse_plain(walk) < 0 || traverse_roots(walk) < 0) {
        return -1;
    }
    int again;
    do {
        if (add_extra(walk, extra) < 0 || (again = walk->num_pending == 0 ? 0 : classify_pending(walk)) < 0) {
            return -1;
        }
    } while (again > 0);
    for (uint32_t number = 0; number < walk->num_arrays; number++) {
        if (traverse_array(walk, number) < 0) {
            return -1;
        }
    }
    if ((uint64_t)num_fixed(walk) + walk->num_arrays > (uint64_t)MAX_OBJECTS) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

#endif
