/* Part of _heapwalk.c: host memory: what the collector does not track. */
#ifndef TENURE_HEAPWALK_HOST_H
#define TENURE_HEAPWALK_HOST_H

/* `sys.getsizeof` of text, bytes and numbers of exactly these types; 0 for anything else. */
static uint64_t
leaf_bytes(PyObject *object, PyTypeObject *type)
{
    if (type == &PyUnicode_Type) {
        if (!PyUnicode_IS_COMPACT(object)) {
            return 0;
        }
        uint64_t length = (uint64_t)PyUnicode_GET_LENGTH(object) + 1;
        if (PyUnicode_IS_ASCII(object)) {
            return sizeof(PyASCIIObject) + length;
        }
        PyCompactUnicodeObject *text = (PyCompactUnicodeObject *)object;
        uint64_t encoded = text->utf8 == NULL ? 0 : (uint64_t)text->utf8_length + 1;
        return sizeof(PyCompactUnicodeObject) + length * (uint64_t)PyUnicode_KIND(object) + encoded;
    }
    if (type == &PyBytes_Type) {
        return (uint64_t)type->tp_basicsize + (uint64_t)PyBytes_GET_SIZE(object);
    }
    if (type == &PyByteArray_Type) {
        return (uint64_t)type->tp_basicsize + (uint64_t)((PyByteArrayObject *)object)->ob_alloc;
    }
    return type == &PyFloat_Type || type == &PyLong_Type ? 4 * sizeof(void *) : 0;
}

/* What the entries of a builtin container take, without spare room. */
static inline uint64_t
table_bytes(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyList_Type || type == &PyTuple_Type) {
        return (uint64_t)Py_SIZE(object) * sizeof(void *);
    }
    if (type == &PyDict_Type) {
        return (uint64_t)PyDict_GET_SIZE(object) * 3 * sizeof(void *);
    }
    return type == &PySet_Type ? (uint64_t)PySet_GET_SIZE(object) * 2 * sizeof(void *) : 0;
}

static int note_pending(Walk *walk, PyTypeObject *type);

static inline int
is_plain_table(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return (type == &PyDict_Type || type == &PyTuple_Type) && !PyObject_GC_IsTracked(object);
}

/* Own bytes of an array inside a container that the collector does not track; one that holds objects has none, and
 * says so in `leads_on`. Runs `contents`. */
static uint64_t
bytes_of_inner_array(Walk *walk, PyObject *object)
{
    uint32_t category = map_get(&walk->categories, (uintptr_t)Py_TYPE(object));
    if (category == NOT_FOUND) {
        walk->failed |= note_pending(walk, Py_TYPE(object)) < 0;
    }
    if (category != ARRAY || walk->failed) {
        return 0;
    }
    PyObject *contents = PyObject_CallFunctionObjArgs(walk->contents, object, NULL);
    unsigned long long bytes = 0;
    if (contents != NULL && PyLong_CheckExact(contents)) {
        bytes = PyLong_AsUnsignedLongLong(contents);
    }
    else if (contents != NULL && PyList_Check(contents)) {
        walk->leads_on |= PyList_GET_SIZE(contents) > 0;
    }
    Py_XDECREF(contents);
    walk->failed |= PyErr_Occurred() != NULL;
    return walk->failed ? 0 : bytes;
}

/* Looks for arrays that hold objects, in tables within tables, which weigh nothing here. */
static int
look_deeper(PyObject *object, void *arg)
{
    Walk *walk = arg;
    if (object == NULL || walk->failed || walk->leads_on || leaf_bytes(object, Py_TYPE(object)) != 0) {
        return 0;
    }
    if (!is_plain_table(object)) {
        (void)bytes_of_inner_array(walk, object);
    }
    else if (walk->depth < MOST_NESTED) {
        walk->depth++;
        Py_TYPE(object)->tp_traverse(object, look_deeper, walk);
        walk->depth--;
    }
    return 0;
}

static int
weigh_inner(PyObject *object, void *arg)
{
    Walk *walk = arg;
    if (object == NULL || walk->failed) {
        return 0;
    }
    uint64_t bytes = leaf_bytes(object, Py_TYPE(object));
    if (bytes == 0 && is_plain_table(object)) {
        return look_deeper(object, arg);
    }
    bytes = bytes != 0 ? bytes : bytes_of_inner_array(walk, object);
    walk->weight += Py_REFCNT(object) == 1 ? bytes : 0;
    return 0;
}

/* Dicts and tuples of nothing but text, numbers and arrays are mostly not tracked. One that is heavy, or has an array
 * that holds objects (a view of a tensor's memory), becomes an array of the walk; a light one counts as its owner's,
 * if it has only one. */
static uint32_t
untracked_number(Walk *walk, PyObject *object)
{
    uint32_t category = NORMAL, number = map_get(&walk->array_numbers, (uintptr_t)object);
    if (number != NOT_FOUND) {
        return num_fixed(walk) + number;
    }
    if (is_overridden(walk, (uintptr_t)object, &category)) {
        return NOT_FOUND;
    }
    uint64_t before = walk->weight;
    walk->weight = table_bytes(object);
    walk->leads_on = walk->depth = 0;
    Py_TYPE(object)->tp_traverse(object, weigh_inner, walk);
    uint64_t own = walk->weight;
    walk->weight = before;
    if ((own >= walk->least || walk->leads_on) && !walk->failed) {
        number = add_array(walk, object, -1, 0);
        walk->failed |= number == NOT_FOUND;
        return number == NOT_FOUND ? NOT_FOUND : num_fixed(walk) + number;
    }
    walk->weight += Py_REFCNT(object) == 1 ? own : 0;
    return NOT_FOUND;
}

static inline int
is_untracked(const Walk *walk, PyObject *object)
{
    return walk->least != 0 && is_plain_table(object);
}

/* The references of the object at `next_bound - 1` have all been looked at. */
static inline void
close_weight(Walk *walk)
{
    if (walk->least != 0 && walk->next_bound > 0) {
        uint64_t total = walk->weight + walk->tables[walk->next_bound - 1];
        uint32_t number = walk->first_number + walk->next_bound - 1;
        if (total != 0 && number < walk->num_plain) {
            ((uint64_t *)walk->weights.start)[number] = total;
        }
        walk->weight = 0;
    }
}

#endif
