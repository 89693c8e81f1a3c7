/* The plain part of a step's cut in C: tensors behind names, and in dicts and lists that a name alone holds.
 *
 * CPython headers only. The Python twin in plain_cut.py says what the result is; this file says it sooner, for a
 * step's end runs code that the step itself has driven out of the processor's caches.
 */
#define PY_SSIZE_T_CLEAN
#include "Python.h"

#ifdef Py_GIL_DISABLED

static struct PyModuleDef plaincut_module = {PyModuleDef_HEAD_INIT, .m_name = "_plaincut"};

PyMODINIT_FUNC
PyInit__plaincut(void)
{
    (void)plaincut_module;
    PyErr_SetString(PyExc_ImportError, "the native cut needs the GIL; the plain-Python cut is used");
    return NULL;
}

#else

#define MOST_PLACES 64
#define MOST_LOOKED_AT 1000
#define LARGEST_NUMBER 16
#define MOST_UNUSED 2

/* ---- what was handed over once by `tools` ------------------------------------------------------------------ */

static PyObject *tensor_type;   /* torch.Tensor */
static PyObject *kinds;         /* {type: kind}; 0 is "not entered" */
static PyObject *without_graph; /* (tensor, bytes) -> a new tensor */
static PyObject *shown_bytes;   /* (tensor) -> bytes of one that has no nbytes */
static PyObject *cut_in_python; /* (values, holders) -> what cut_plain gives back, for any number of tensors */

/* Descriptors of torch.Tensor, asked directly: a look-up by name costs as much again as the answer. */
static PyObject *requires_grad, *is_leaf, *nbytes, *use_count, *is_view, *detach, *untyped_storage;
static PyObject *text_nbytes, *text_tensor, *text_dict, *text_list;

/* ---- a tensor with a graph, and where it stands ------------------------------------------------------------ */

typedef struct {
    PyObject *name;      /* owned, as all of these are; the tensor's reference counts as ours */
    PyObject *container; /* NULL: the name's own value */
    PyObject *key;       /* of a dict */
    Py_ssize_t index;    /* of a list */
    PyObject *tensor;
    PyObject *fresh; /* the tensor itself where it was cut in place */
} Place;

typedef struct {
    Place places[MOST_PLACES];
    Py_ssize_t num_places;
    int overflown;
} Found;

static void
forget(Found *found, Py_ssize_t from)
{
    while (found->num_places > from) {
        Place *place = &found->places[--found->num_places];
        Py_CLEAR(place->name);
        Py_CLEAR(place->container);
        Py_CLEAR(place->key);
        Py_CLEAR(place->tensor);
        Py_CLEAR(place->fresh);
    }
}

static void
note(Found *found, PyObject *name, PyObject *container, PyObject *key, Py_ssize_t index, PyObject *tensor)
{
    if (found->num_places == MOST_PLACES) {
        found->overflown = 1;
        return;
    }
    Place *place = &found->places[found->num_places++];
    place->name = Py_NewRef(name);
    place->container = Py_XNewRef(container);
    place->key = Py_XNewRef(key);
    place->index = index;
    place->tensor = Py_NewRef(tensor);
    place->fresh = NULL;
}

/* ---- questions: 1, 0, or -1 with an error ------------------------------------------------------------------ */

static PyObject *
get(PyObject *tensor, PyObject *descriptor)
{
    return Py_TYPE(descriptor)->tp_descr_get(descriptor, tensor, tensor_type);
}

static int
truth_of(PyObject *answer)
{
    if (answer == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return truth;
}

/* A view that does not tell, because its base was written to, counts as one that carries a graph. */
static int
carries_graph(PyObject *tensor)
{
    int truth = truth_of(get(tensor, requires_grad));
    if (truth > 0) {
        truth = truth_of(get(tensor, is_leaf));
        truth = truth < 0 ? truth : !truth;
    }
    if (truth < 0 && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        PyErr_Clear();
        return 1;
    }
    return truth;
}

static int
is_never_entered(PyTypeObject *type)
{
    PyObject *kind = PyDict_GetItemWithError(kinds, (PyObject *)type);
    if (kind == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    return PyLong_AsLong(kind) == 0;
}

static int
is_plain(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return value == Py_None || type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type ||
           type == &PyBool_Type || type == &PyComplex_Type || type == &PyBytes_Type;
}

static int
holds_plain_values(PyObject *value)
{
    if (PyDict_CheckExact(value)) {
        Py_ssize_t position = 0;
        PyObject *key, *item;
        while (PyDict_Next(value, &position, &key, &item)) {
            if (!is_plain(item)) {
                return 0;
            }
        }
        return 1;
    }
    if (PyList_CheckExact(value)) {
        for (Py_ssize_t index = 0; index < PyList_GET_SIZE(value); index++) {
            if (!is_plain(PyList_GET_ITEM(value, index))) {
                return 0;
            }
        }
        return 1;
    }
    return 0;
}

/* ---- finding ----------------------------------------------------------------------------------------------- */

/* 1: leads to nothing that has to be searched, and is noted where it carries a graph. */
static int
look_at_item(Found *found, PyObject *name, PyObject *container, PyObject *key, Py_ssize_t index, PyObject *item)
{
    if ((PyObject *)Py_TYPE(item) == tensor_type) {
        Py_INCREF(item);
        int carries = carries_graph(item);
        if (carries > 0) {
            note(found, name, container, key, index, item);
        }
        Py_DECREF(item);
        return carries < 0 ? -1 : 1;
    }
    int known = is_never_entered(Py_TYPE(item));
    return known ? known : holds_plain_values(item);
}

/* 1: all that it leads to was noted; 0: it has to be searched. */
static int
look_into(Found *found, PyObject *name, PyObject *value, Py_ssize_t holders)
{
    Py_ssize_t before = found->num_places;
    int plain = 0;
    if (PyDict_CheckExact(value) && PyDict_GET_SIZE(value) <= MOST_LOOKED_AT) {
        Py_ssize_t position = 0, size = PyDict_GET_SIZE(value);
        PyObject *key, *item;
        plain = 1;
        while (plain > 0 && PyDict_Next(value, &position, &key, &item)) {
            Py_INCREF(key); /* a mode's code may run meanwhile */
            plain = look_at_item(found, name, value, key, 0, item);
            Py_DECREF(key);
            if (plain > 0 && PyDict_GET_SIZE(value) != size) {
                plain = 0; /* it was changed by it */
            }
        }
    }
    else if (PyList_CheckExact(value) && PyList_GET_SIZE(value) <= MOST_LOOKED_AT) {
        plain = 1;
        for (Py_ssize_t index = 0; plain > 0 && index < PyList_GET_SIZE(value); index++) {
            plain = look_at_item(found, name, value, NULL, index, PyList_GET_ITEM(value, index));
        }
    }
    Py_ssize_t ours = found->num_places - before;
    if (plain > 0 && ours && Py_REFCNT(value) > holders + ours) {
        plain = 0;
    }
    if (plain <= 0 || found->overflown) {
        forget(found, before);
    }
    return plain;
}

static int
look_behind(Found *found, PyObject *name, PyObject *value, Py_ssize_t holders, PyObject *nested)
{
    if ((PyObject *)Py_TYPE(value) == tensor_type) {
        int carries = carries_graph(value);
        if (carries > 0) {
            note(found, name, NULL, NULL, 0, value);
        }
        return carries < 0 ? -1 : 0;
    }
    int settled = is_never_entered(Py_TYPE(value));
    if (settled == 0) {
        settled = look_into(found, name, value, holders);
    }
    if (settled < 0) {
        return -1;
    }
    return settled ? 0 : PyList_Append(nested, name);
}

/* ---- cutting ----------------------------------------------------------------------------------------------- */

static Py_ssize_t
bytes_of(PyObject *tensor)
{
    PyObject *answer = get(tensor, nbytes);
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RuntimeError)) { /* sparse */
        PyErr_Clear();
        answer = PyObject_CallOneArg(shown_bytes, tensor);
    }
    if (answer == NULL) {
        return -1;
    }
    Py_ssize_t bytes = PyLong_AsSsize_t(answer);
    Py_DECREF(answer);
    return bytes;
}

static int
is_in_larger_memory(PyObject *tensor, Py_ssize_t bytes)
{
    if (bytes > LARGEST_NUMBER) {
        return 0;
    }
    PyObject *storage = PyObject_CallOneArg(untyped_storage, tensor);
    PyObject *answer = storage == NULL ? NULL : PyObject_CallMethodNoArgs(storage, text_nbytes);
    Py_XDECREF(storage);
    if (answer == NULL) {
        return -1;
    }
    Py_ssize_t stored = PyLong_AsSsize_t(answer);
    Py_DECREF(answer);
    return stored < 0 ? -1 : stored > MOST_UNUSED * bytes;
}

static int
has_one_user(PyObject *tensor)
{
    PyObject *count = PyObject_CallOneArg(use_count, tensor);
    if (count == NULL) {
        return -1;
    }
    long users = PyLong_AsLong(count);
    Py_DECREF(count);
    if (users != 1) {
        return users < 0 ? -1 : 0;
    }
    int truth = truth_of(PyObject_CallOneArg(is_view, tensor));
    return truth < 0 ? -1 : !truth;
}

/* A new reference: the tensor itself, cut in place, or another. */
static PyObject *
cut(PyObject *tensor, Py_ssize_t met, Py_ssize_t bytes)
{
    int alone = Py_REFCNT(tensor) <= met ? has_one_user(tensor) : 0;
    if (alone < 0) {
        return NULL;
    }
    if (alone) {
        int larger = is_in_larger_memory(tensor, bytes);
        PyObject *same = larger == 0 ? PyObject_CallOneArg(detach, tensor) : NULL;
        if (same != NULL) {
            return same;
        }
        if (larger <= 0) {
            if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) {
                return NULL;
            }
            PyErr_Clear(); /* sparse, opaque */
        }
    }
    PyObject *size = PyLong_FromSsize_t(bytes);
    if (size == NULL) {
        return NULL;
    }
    PyObject *fresh = PyObject_CallFunctionObjArgs(without_graph, tensor, size, NULL);
    Py_DECREF(size);
    return fresh;
}

/* References to one tensor that are known: those behind the names, and ours. */
static Py_ssize_t
met_of(const Found *found, PyObject *tensor, Py_ssize_t holders)
{
    Py_ssize_t met = 0;
    for (Py_ssize_t index = 0; index < found->num_places; index++) {
        if (found->places[index].tensor == tensor) {
            met += 1 + (found->places[index].container == NULL ? holders : 1);
        }
    }
    return met;
}

static PyObject *
known_fresh(const Found *found, Py_ssize_t before, PyObject *tensor)
{
    for (Py_ssize_t index = 0; index < before; index++) {
        if (found->places[index].tensor == tensor) {
            return Py_NewRef(found->places[index].fresh);
        }
    }
    return NULL;
}

static int
put(Place *place, PyObject *anew)
{
    if (place->container == NULL) {
        return PyDict_SetItem(anew, place->name, place->fresh);
    }
    if (place->key != NULL) {
        return PyDict_SetItem(place->container, place->key, place->fresh);
    }
    return PyList_SetItem(place->container, place->index, Py_NewRef(place->fresh));
}

static int
cut_at(Found *found, Py_ssize_t index, Py_ssize_t holders, PyObject *notes, PyObject *anew)
{
    Place *place = &found->places[index];
    PyObject *tensor = place->tensor;
    Py_ssize_t bytes = bytes_of(tensor);
    if (bytes < 0) {
        return -1;
    }
    place->fresh = known_fresh(found, index, tensor);
    if (place->fresh == NULL) {
        place->fresh = cut(tensor, met_of(found, tensor, holders), bytes);
    }
    if (place->fresh == NULL) {
        return -1;
    }
    PyObject *other = place->fresh == tensor ? Py_NewRef(Py_None) : PyWeakref_NewRef(tensor, NULL);
    if (other == NULL) {
        return -1;
    }
    PyObject *kind = place->container == NULL ? text_tensor : place->key != NULL ? text_dict : text_list;
    PyObject *number = PyLong_FromVoidPtr(tensor), *size = PyLong_FromSsize_t(bytes), *told = NULL;
    if (number != NULL && size != NULL) {
        told = PyTuple_Pack(5, place->name, kind, number, size, other);
    }
    int failed = told == NULL || PyList_Append(notes, told) < 0;
    Py_XDECREF(told);
    Py_XDECREF(size);
    Py_XDECREF(number);
    Py_DECREF(other);
    return failed ? -1 : place->fresh == tensor ? 0 : put(place, anew);
}

/* ---- the functions ----------------------------------------------------------------------------------------- */

/* {id: what it was replaced by}, and the originals, which keep their ids while that is asked. */
static int
tell_replaced(const Found *found, PyObject *replaced, PyObject *originals)
{
    for (Py_ssize_t index = 0; index < found->num_places; index++) {
        const Place *place = &found->places[index];
        PyObject *number = PyLong_FromVoidPtr(place->tensor);
        int failed = number == NULL || PyDict_SetItem(replaced, number, place->fresh) < 0 ||
                     (place->fresh != place->tensor && PyList_Append(originals, place->tensor) < 0);
        Py_XDECREF(number);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(cut_plain_doc,
             "cut_plain(values, holders) -> (notes, anew, nested, replaced, originals): as plain_cut.py says");

static PyObject *
plaincut_cut_plain(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t num_args)
{
    if (num_args != 2 || !PyDict_CheckExact(args[0]) || tensor_type == NULL) {
        PyErr_SetString(PyExc_TypeError, "cut_plain(values: dict, holders: int), after use_tools(...)");
        return NULL;
    }
    Py_ssize_t holders = PyLong_AsSsize_t(args[1]);
    if (holders == -1 && PyErr_Occurred()) {
        return NULL;
    }
    Found found = {.num_places = 0, .overflown = 0};
    PyObject *notes = PyList_New(0), *anew = PyDict_New(), *nested = PyList_New(0), *replaced = PyDict_New(),
             *originals = PyList_New(0), *result = NULL;
    if (notes == NULL || anew == NULL || nested == NULL || replaced == NULL || originals == NULL) {
        goto done;
    }
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (PyDict_Next(args[0], &position, &name, &value)) {
        if (look_behind(&found, name, value, holders, nested) < 0) {
            goto done;
        }
    }
    if (found.overflown) {
        forget(&found, 0); /* our references would count as somebody's */
        result = PyObject_CallFunctionObjArgs(cut_in_python, args[0], args[1], NULL);
        goto done;
    }
    for (Py_ssize_t index = 0; index < found.num_places; index++) {
        if (cut_at(&found, index, holders, notes, anew) < 0) {
            goto done;
        }
    }
    if (PyList_GET_SIZE(nested) && tell_replaced(&found, replaced, originals) < 0) {
        goto done;
    }
    result = PyTuple_Pack(5, notes, anew, nested, replaced, originals);
done:
    forget(&found, 0);
    Py_XDECREF(notes);
    Py_XDECREF(anew);
    Py_XDECREF(nested);
    Py_XDECREF(replaced);
    Py_XDECREF(originals);
    return result;
}

PyDoc_STRVAR(use_tools_doc, "use_tools(tensor_type, kinds, without_graph, shown_bytes, cut_in_python): what cut_plain works with");

typedef struct {
    PyObject **place;
    const char *name;
} Named;

static int
find_descriptors(PyObject *type)
{
    const Named wanted[] = {
        {&requires_grad, "requires_grad"},
        {&is_leaf, "is_leaf"},
        {&nbytes, "nbytes"},
        {&use_count, "_use_count"},
        {&is_view, "_is_view"},
        {&detach, "detach_"},
        {&untyped_storage, "untyped_storage"},
    };
    for (size_t index = 0; index < sizeof(wanted) / sizeof(wanted[0]); index++) {
        PyObject *found = PyObject_GetAttrString(type, wanted[index].name);
        if (found == NULL) {
            return -1;
        }
        Py_XSETREF(*wanted[index].place, found);
    }
    PyObject *const read[] = {requires_grad, is_leaf, nbytes};
    for (size_t index = 0; index < sizeof(read) / sizeof(read[0]); index++) {
        if (Py_TYPE(read[index])->tp_descr_get == NULL) {
            PyErr_Format(PyExc_TypeError, "%R is no descriptor", read[index]);
            return -1;
        }
    }
    return 0;
}

static PyObject *
plaincut_use_tools(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *type, *known, *cutter, *sizer, *twin;
    if (!PyArg_ParseTuple(args, "OO!OOO", &type, &PyDict_Type, &known, &cutter, &sizer, &twin) ||
        find_descriptors(type) < 0) {
        return NULL;
    }
    Py_XSETREF(tensor_type, Py_NewRef(type));
    Py_XSETREF(kinds, Py_NewRef(known));
    Py_XSETREF(without_graph, Py_NewRef(cutter));
    Py_XSETREF(shown_bytes, Py_NewRef(sizer));
    Py_XSETREF(cut_in_python, Py_NewRef(twin));
    Py_RETURN_NONE;
}

static PyMethodDef plaincut_methods[] = {
    {"cut_plain", (PyCFunction)(void (*)(void))plaincut_cut_plain, METH_FASTCALL, cut_plain_doc},
    {"use_tools", plaincut_use_tools, METH_VARARGS, use_tools_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef plaincut_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_plaincut",
    .m_size = -1,
    .m_methods = plaincut_methods,
};

PyMODINIT_FUNC
PyInit__plaincut(void)
{
    const Named texts[] = {
        {&text_nbytes, "nbytes"}, {&text_tensor, "Tensor"}, {&text_dict, "dict"}, {&text_list, "list"}};
    for (size_t index = 0; index < sizeof(texts) / sizeof(texts[0]); index++) {
        *texts[index].place = PyUnicode_InternFromString(texts[index].name);
        if (*texts[index].place == NULL) {
            return NULL;
        }
    }
    return PyModule_Create(&plaincut_module);
}

#endif
