/* Part of _heapwalk.c: the walk's state. */
#ifndef TENURE_HEAPWALK_WALK_H
#define TENURE_HEAPWALK_WALK_H

#define BUFFER 2048
#define BATCH 256
#define BLOOM_BITS 65536
#define MOST_NESTED 4

/* An object that the collector does not track, or a tracked one whose contents must be looked into.
 * Also an object that starts in the middle of a granule (statically allocated ones do): it has no contents. */
typedef struct {
    PyObject *object;  /* strong while the walk runs */
    int64_t position;  /* in the list of objects, -1 when found by reference */
    int has_contents;
    uint64_t start, end;
    uint64_t bytes;  /* of its own memory, as `contents` says */
    uint64_t weight; /* of what it alone holds */
} Array;

/* Numbers: first the objects by address (`num_plain`), then the roots, then arrays as they are found. */
typedef struct {
    PyObject *objects, *classify, *contents;
    Py_ssize_t num_objects;
    AddressMap categories; /* of types; each type is held */
    AddressMap overrides;  /* of single objects */
    uint64_t bloom[BLOOM_BITS / 64];
    PageTable pages;
    Block targets, roots;  /* positions in the list of objects, uint32 */
    uint32_t num_plain, num_targets, num_roots;
    Block arrays;
    AddressMap array_numbers;
    uint32_t num_arrays;
    Block edges;  /* uint32 */
    Block starts; /* uint64, one more than plain objects and roots */
    uint64_t num_edges;
    PyTypeObject **pending;
    size_t num_pending, max_pending;
    Block marks;
    uint64_t least;  /* bytes from which an object that holds host memory is a target; 0: none is */
    Block weights;   /* uint64 by number of plain object: host memory that it alone holds */
    int any_bytes;   /* of an array */
    /* one batch of tp_traverse calls */
    PyTypeObject *own_type; /* of the object being traversed, when it is known not to be a node */
    PyTypeObject *dull_type; /* a type last seen not to be looked into */
    int failed;
    unsigned num_buffered, num_bounds, next_bound;
    uint32_t first_number;
    unsigned bounds[BATCH + 1];
    uint64_t tables[BATCH + 1]; /* what the entries of a container take, by object of the batch */
    int leads_on, depth;        /* in a container that is not tracked: an array there holds objects; how deep it lies */
    uint64_t weight;            /* of the object whose references are being looked at */
    PyObject *buffer[BUFFER];
} Walk;

static inline int
is_overridden(const Walk *walk, uintptr_t address, uint32_t *category)
{
    size_t bit = address_hash(address) % BLOOM_BITS;
    if (LIKELY(!((walk->bloom[bit >> 6] >> (bit & 63)) & 1))) {
        return 0;
    }
    uint32_t found = map_get(&walk->overrides, address);
    if (found == NOT_FOUND) {
        return 0;
    }
    *category = found;
    return 1;
}

static inline uint32_t
num_fixed(const Walk *walk)
{
    return walk->num_plain + walk->num_roots;
}

static inline PyObject *
object_at(const Walk *walk, Py_ssize_t position)
{
    return PyList_GET_ITEM(walk->objects, position);
}

static int
check_list(const Walk *walk)
{
    if (PyList_GET_SIZE(walk->objects) != walk->num_objects) {
        PyErr_SetString(PyExc_RuntimeError, "the list of objects changed during the walk");
        return -1;
    }
    return 0;
}

/* Asks `classify`; may run any Python code. */
static int
classify_type(Walk *walk, PyTypeObject *type)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(walk->classify, (PyObject *)type, NULL);
    if (answer == NULL) {
        return -1;
    }
    long category = PyLong_AsLong(answer);
    Py_DECREF(answer);
    if (category == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (category < 0 || category >= NUM_CATEGORIES) {
        PyErr_Format(PyExc_ValueError, "classify(%.200s) returned %ld, which is no Category", type->tp_name, category);
        return -1;
    }
    if (check_list(walk) < 0) {
        return -1;
    }
    uint32_t known = map_get(&walk->categories, (uintptr_t)type);
    if (map_put(&walk->categories, (uintptr_t)type, (uint32_t)category) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    if (known == NOT_FOUND) {
        Py_INCREF(type);
    }
    return (int)category;
}

static int
add_override(Walk *walk, PyObject *ids, uint32_t category)
{
    PyObject *iterator = PyObject_GetIter(ids);
    if (iterator == NULL) {
        return -1;
    }
    PyObject *item;
    while ((item = PyIter_Next(iterator)) != NULL) {
        uintptr_t address = (uintptr_t)PyLong_AsVoidPtr(item);
        Py_DECREF(item);
        if (address == 0 && PyErr_Occurred()) {
            break;
        }
        if (address == 0) {
            continue;
        }
        if (map_put(&walk->overrides, address, category) < 0) {
            PyErr_NoMemory();
            break;
        }
        size_t bit = address_hash(address) % BLOOM_BITS;
        walk->bloom[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

#endif
