/* Part of _heapwalk.c: the result, in the order of the list of objects. */
#ifndef TENURE_HEAPWALK_RESULTS_H
#define TENURE_HEAPWALK_RESULTS_H

typedef struct {
    uint32_t number, position;
} Node;

typedef struct {
    Block order; /* of each node, its number in the walk and its position in the list of objects */
    Block nodes; /* of each number in the walk, its node plus one */
    uint32_t count;
    uint64_t num_edges;
} Ancestry;

static int
add_node(Ancestry *ancestry, uint32_t number, uint32_t position)
{
    uint32_t *node = (uint32_t *)ancestry->nodes.start + number;
    if (*node != 0) {
        return 0;
    }
    if (block_reserve(&ancestry->order, (size_t)ancestry->count + 1, sizeof(Node)) < 0) {
        return -1;
    }
    ((Node *)ancestry->order.start)[ancestry->count++] = (Node){number, position};
    *node = ancestry->count;
    return 0;
}

static int
order_listed(Walk *walk, Ancestry *ancestry)
{
    const uint32_t *roots = walk->roots.start;
    const Array *arrays = walk->arrays.start;
    uint32_t next_root = 0, next_array = 0;
    Page *page = NULL;
    for (Py_ssize_t i = 0; i < walk->num_objects; i++) {
        uint32_t number = NOT_FOUND;
        if (next_root < walk->num_roots && roots[next_root] == i) {
            number = walk->num_plain + next_root++;
        }
        else if (next_array < walk->num_arrays && arrays[next_array].position == i) {
            number = num_fixed(walk) + next_array++;
        }
        else if (walk->pages.count != 0) {
            uintptr_t address = (uintptr_t)object_at(walk, i);
            if (page == NULL || page->key != PAGE_KEY(address)) {
                page = page_find(&walk->pages, PAGE_KEY(address));
            }
            number = page == NULL ? NOT_FOUND : page_number(page, GRANULE(address));
        }
        if (number != NOT_FOUND && is_marked(walk, number) && add_node(ancestry, number, (uint32_t)i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Gives arrays that nodes from `first` on refer to their place behind all others, and counts references. */
static int
order_arrays(Walk *walk, Ancestry *ancestry, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last && i < ancestry->count; i++) {
        Range range = references_of(walk, ((Node *)ancestry->order.start)[i].number);
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            if (is_marked(walk, *edge)) {
                ancestry->num_edges++;
                if (*edge >= num_fixed(walk) && add_node(ancestry, *edge, NOT_FOUND) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

static int
order_nodes(Walk *walk, Ancestry *ancestry, PyObject *extra)
{
    size_t count = (size_t)num_fixed(walk) + walk->num_arrays;
    if (block_grow(&ancestry->nodes, (count + 1) * sizeof(uint32_t)) < 0 || order_listed(walk, ancestry) < 0) {
        return -1;
    }
    /* Arrays that listed objects refer to come before those of `extra`, and both before nested ones. */
    uint32_t listed = ancestry->count;
    if (order_arrays(walk, ancestry, 0, listed) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(extra); i++) {
        uint32_t array = map_get(&walk->array_numbers, (uintptr_t)PySequence_Fast_GET_ITEM(extra, i));
        if (array != NOT_FOUND && is_marked(walk, num_fixed(walk) + array) &&
            add_node(ancestry, num_fixed(walk) + array, NOT_FOUND) < 0) {
            return -1;
        }
    }
    return order_arrays(walk, ancestry, listed, UINT32_MAX);
}

/* An `array.array` of `count` zeros and the memory behind it. */
static PyObject *
new_column(const char *typecode, Py_ssize_t itemsize, Py_ssize_t count, void **memory)
{
    PyObject *module = PyImport_ImportModule("array");
    PyObject *one = module == NULL ? NULL
                                   : PyObject_CallMethod(module, "array", "sy#", typecode, "\0\0\0\0\0\0\0", itemsize);
    PyObject *column = one == NULL ? NULL : PySequence_Repeat(one, count);
    Py_XDECREF(one);
    Py_XDECREF(module);
    if (column == NULL) {
        return NULL;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(column, &view, PyBUF_WRITABLE) < 0) {
        Py_DECREF(column);
        return NULL;
    }
    *memory = view.buf; /* nobody else can resize the new array while we fill it */
    if (view.itemsize != itemsize) {
        PyErr_SetString(PyExc_RuntimeError, "array.array has items of another size here");
        Py_CLEAR(column);
    }
    PyBuffer_Release(&view);
    return column;
}

static inline PyObject *
object_of(const Walk *walk, Node node)
{
    if (node.position != NOT_FOUND) {
        return object_at(walk, node.position);
    }
    return ((const Array *)walk->arrays.start)[node.number - num_fixed(walk)].object;
}

static void
fill_edges(Walk *walk, const Ancestry *ancestry, int32_t *source, int32_t *target)
{
    const Node *order = ancestry->order.start;
    const uint32_t *nodes = ancestry->nodes.start;
    for (uint32_t i = 0; i < ancestry->count; i++) {
        Range range = references_of(walk, order[i].number);
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            uint32_t node = nodes[*edge]; /* 0: no node */
            if (node != 0) {
                *source++ = (int32_t)i;
                *target++ = (int32_t)node - 1;
            }
        }
    }
}

/* Gives up what the walk held on the way, so that it shows in no reference count. */
static void
release_held(Walk *walk)
{
    Array *arrays = walk->arrays.start;
    for (uint32_t i = 0; i < walk->num_arrays; i++) {
        Py_CLEAR(arrays[i].object);
    }
    for (size_t i = 0; walk->categories.entries != NULL && i <= walk->categories.mask; i++) {
        PyObject *type = (PyObject *)walk->categories.entries[i].key;
        walk->categories.entries[i].key = 0;
        Py_XDECREF(type);
    }
    walk->categories.used = 0;
}

static int64_t
references_held(PyObject *object, int64_t ours)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (_Py_IsImmortal(object)) {
        return -1;
    }
#endif
    return (int64_t)Py_REFCNT(object) - ours;
}

static PyObject *
build_result(Walk *walk, Ancestry *ancestry)
{
    void *source = NULL, *target = NULL, *refcounts = NULL, *weights = NULL;
    Py_ssize_t count = ancestry->count, num_edges = (Py_ssize_t)ancestry->num_edges;
    PyObject *nodes = PyList_New(count);
    PyObject *sources = nodes == NULL ? NULL : new_column("i", 4, num_edges, &source);
    PyObject *targets = sources == NULL ? NULL : new_column("i", 4, num_edges, &target);
    PyObject *counts = targets == NULL ? NULL : new_column("q", 8, count, &refcounts);
    PyObject *held = counts == NULL ? NULL : new_column("q", 8, count, &weights);
    PyObject *result = NULL;
    if (held != NULL && check_list(walk) == 0) {
        fill_edges(walk, ancestry, source, target);
        const Node *order = ancestry->order.start;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (i + 12 < count) {
                PREFETCH(object_of(walk, order[i + 12]));
            }
            PyObject *object = object_of(walk, order[i]);
            Py_INCREF(object);
            PyList_SET_ITEM(nodes, i, object);
            ((int64_t *)refcounts)[i] = 1 + (order[i].position != NOT_FOUND);
            ((int64_t *)weights)[i] = (int64_t)weight_of(walk, order[i].number);
        }
        release_held(walk);
        for (Py_ssize_t i = 0; i < count; i++) {
            ((int64_t *)refcounts)[i] = references_held(PyList_GET_ITEM(nodes, i), ((int64_t *)refcounts)[i]);
        }
        result = PyTuple_Pack(5, nodes, sources, targets, counts, held);
    }
    Py_XDECREF(nodes);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    Py_XDECREF(counts);
    Py_XDECREF(held);
    return result;
}

static void
free_walk(Walk *walk)
{
    release_held(walk);
    PyMem_RawFree(walk->categories.entries);
    PyMem_RawFree(walk->overrides.entries);
    PyMem_RawFree(walk->array_numbers.entries);
    PyMem_RawFree(walk->pages.slots);
    PyMem_RawFree(walk->pending);
    block_free(&walk->pages.pages);
    block_free(&walk->targets);
    block_free(&walk->roots);
    block_free(&walk->arrays);
    block_free(&walk->edges);
    block_free(&walk->starts);
    block_free(&walk->marks);
    block_free(&walk->weights);
    PyMem_RawFree(walk);
}

static PyObject *
run_walk(Walk *walk, PyObject *roots, PyObject *ignore, PyObject *extra)
{
    if (add_override(walk, roots, ROOT) < 0 || add_override(walk, ignore, IGNORE) < 0 || sort_objects(walk) < 0) {
        return NULL;
    }
    if (walk->pages.count == 0 && page_add(&walk->pages, 0) == NULL) {
        return PyErr_NoMemory();
    }
    number_pages(walk);
    if (collect_references(walk, extra) < 0) {
        return NULL;
    }
    if (walk->least != 0 && walk->any_bytes) {
        weigh_arrays(walk);
    }
    if (mark_ancestry(walk) < 0) {
        return NULL;
    }
    Ancestry ancestry = {0};
    PyObject *result = NULL;
    if (order_nodes(walk, &ancestry, extra) < 0) {
        PyErr_NoMemory();
    }
    else {
        result = build_result(walk, &ancestry);
    }
    block_free(&ancestry.order);
    block_free(&ancestry.nodes);
    return result;
}

PyDoc_STRVAR(walk_doc, "walk(objects, classify, roots, ignore, extra, contents, least_bytes)"
                       " -> (nodes, source, target, refcounts, host_bytes)");

static PyObject *
heapwalk_walk(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects, *classify, *roots, *ignore, *extra, *contents;
    unsigned long long least = 0;
    if (!PyArg_ParseTuple(args, "O!OOOOOK:walk", &PyList_Type, &objects, &classify, &roots, &ignore, &extra, &contents,
                          &least)) {
        return NULL;
    }
    if (PyList_GET_SIZE(objects) > MAX_OBJECTS) {
        PyErr_SetString(PyExc_OverflowError, "more objects than a walk can number");
        return NULL;
    }
    if (!PyList_Check(extra) && !PyTuple_Check(extra)) {
        PyErr_SetString(PyExc_TypeError, "extra must be a list or a tuple"); /* a copy would hold what it counts */
        return NULL;
    }
    Walk *walk = PyMem_RawCalloc(1, sizeof(Walk));
    if (walk == NULL) {
        return PyErr_NoMemory();
    }
    walk->objects = objects;
    walk->classify = classify;
    walk->contents = contents;
    walk->least = least;
    walk->num_objects = PyList_GET_SIZE(objects);
    PyObject *result = run_walk(walk, roots, ignore, extra);
    free_walk(walk);
    return result;
}

#endif
