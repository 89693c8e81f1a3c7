/* Part of _heapwalk.c: the local variables of frames. */
#ifndef TENURE_HEAPWALK_FRAMES_H
#define TENURE_HEAPWALK_FRAMES_H

static int
append_pair(PyObject *list, PyObject *name, PyObject *value)
{
    PyObject *pair = PyTuple_Pack(2, name, value);
    int result = pair == NULL ? -1 : PyList_Append(list, pair);
    Py_XDECREF(pair);
    return result;
}

/* What is asked for: a list of all variables, or a dict of those named in `only`, but for plain values. */
typedef struct {
    PyObject *list;
    PyObject *by_name;
    PyObject *only;
} Variables;

static int
is_plain_value(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return value == Py_None || type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type ||
           type == &PyBool_Type || type == &PyBytes_Type;
}

static int
append_variable(Variables *found, PyObject *name, PyObject *value)
{
    if (found->by_name != NULL) {
        return is_plain_value(value) ? 0 : PyDict_SetItem(found->by_name, name, value);
    }
    return append_pair(found->list, name, value);
}

/* 1, 0, or -1 with an error. */
static int
is_asked_for(Variables *found, PyObject *name)
{
    return found->only == NULL ? 1 : PySet_Contains(found->only, name);
}

#if PY_VERSION_HEX < 0x030C0000
/* A slot that may hold a cell: the contents are what counts. */
static int
append_slot(Variables *found, PyObject *name, PyObject *value, int is_cell)
{
    int asked_for = is_asked_for(found, name);
    if (asked_for <= 0) {
        return asked_for;
    }
    if (is_cell && value != NULL && PyCell_Check(value)) {
        value = PyCell_GET(value);
    }
    return value == NULL ? 0 : append_variable(found, name, value);
}
#endif

#if PY_VERSION_HEX < 0x030B0000

static int
append_slots(Variables *found, PyObject *names, PyObject **slots, int are_cells)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (append_slot(found, PyTuple_GET_ITEM(names, i), slots[i], are_cells) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
read_locals(PyFrameObject *frame, Variables *found)
{
    PyCodeObject *code = frame->f_code;
    PyObject **slots = frame->f_localsplus;
    Py_ssize_t num_cells = PyTuple_GET_SIZE(code->co_cellvars);
    return append_slots(found, code->co_varnames, slots, 0) < 0 ||
                   append_slots(found, code->co_cellvars, slots + code->co_nlocals, 1) < 0 ||
                   append_slots(found, code->co_freevars, slots + code->co_nlocals + num_cells, 1) < 0
               ? -1
               : 0;
}

#elif PY_VERSION_HEX < 0x030C0000

static int
read_locals(PyFrameObject *frame, Variables *found)
{
    _PyInterpreterFrame *inner = frame->f_frame;
    PyCodeObject *code = inner->f_code;
    int first_free = code->co_nlocalsplus - code->co_nfreevars;
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        PyObject *value = inner->localsplus[i];
        int kind = _PyLocals_GetKind(code->co_localspluskinds, i);
        if (value == NULL && (kind & CO_FAST_FREE) && inner->f_func != NULL && PyFunction_Check(inner->f_func) &&
            inner->f_func->func_closure != NULL && inner->owner != FRAME_OWNED_BY_FRAME_OBJECT) {
            /* Not started yet: the function's cells are copied by its first instruction. */
            value = PyTuple_GET_ITEM(inner->f_func->func_closure, i - first_free);
        }
        int is_cell = (kind & (CO_FAST_CELL | CO_FAST_FREE)) != 0;
        if (append_slot(found, PyTuple_GET_ITEM(code->co_localsplusnames, i), value, is_cell) < 0) {
            return -1;
        }
    }
    return 0;
}

#else

/* Names that are both arguments and cells are listed once. */
static int
append_variables(PyFrameObject *frame, Variables *found, PyObject *names, PyObject *seen)
{
    if (names == NULL) {
        return -1;
    }
    int result = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names) && result == 0; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int asked_for = is_asked_for(found, name);
        int known = asked_for <= 0 ? asked_for : PySet_Contains(seen, name);
        if (asked_for <= 0 || known != 0) {
            result = known < 0 ? -1 : 0;
            continue;
        }
        PyObject *value = PyFrame_GetVar(frame, name);
        if (value == NULL && PyErr_ExceptionMatches(PyExc_NameError)) {
            PyErr_Clear();
            continue;
        }
        result = value == NULL || PySet_Add(seen, name) < 0 ? -1 : append_variable(found, name, value);
        Py_XDECREF(value);
    }
    Py_DECREF(names);
    return result;
}

static int
read_locals(PyFrameObject *frame, Variables *found)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *seen = PySet_New(NULL);
    int result = seen == NULL || append_variables(frame, found, PyCode_GetVarnames(code), seen) < 0 ||
                         append_variables(frame, found, PyCode_GetCellvars(code), seen) < 0 ||
                         append_variables(frame, found, PyCode_GetFreevars(code), seen) < 0
                     ? -1
                     : 0;
    Py_XDECREF(seen);
    Py_DECREF(code);
    return result;
}

#endif

static int
read_frame(PyObject *frame, Variables *found)
{
    if (!PyFrame_Check(frame)) {
        PyErr_Format(PyExc_TypeError, "expected a frame, not %.200s", Py_TYPE(frame)->tp_name);
        return -1;
    }
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    int result = code->co_flags & CO_OPTIMIZED ? read_locals((PyFrameObject *)frame, found) : 0;
    Py_DECREF(code);
    return result;
}

PyDoc_STRVAR(frame_locals_doc,
             "frame_locals(frame) -> [(name, value)]: local, cell and free variables that are bound");

static PyObject *
heapwalk_frame_locals(PyObject *Py_UNUSED(module), PyObject *frame)
{
    Variables found = {.list = PyList_New(0)};
    if (found.list != NULL && read_frame(frame, &found) < 0) {
        Py_CLEAR(found.list);
    }
    return found.list;
}

PyDoc_STRVAR(frame_values_doc,
             "frame_values(frame, names) -> {name: value}: variables of a set of names that are bound, numbers, strings,\n"
             "bytes and None left out");

static PyObject *
heapwalk_frame_values(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *frame, *names;
    if (!PyArg_ParseTuple(args, "OO", &frame, &names)) {
        return NULL;
    }
    if (!PyAnySet_Check(names)) {
        return PyErr_Format(PyExc_TypeError, "expected a set of names, not %.200s", Py_TYPE(names)->tp_name);
    }
    Variables found = {.by_name = PyDict_New(), .only = names};
    if (found.by_name != NULL && read_frame(frame, &found) < 0) {
        Py_CLEAR(found.by_name);
    }
    return found.by_name;
}

#endif
