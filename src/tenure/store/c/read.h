/* Part of _snapshot_columns.c: segments, blocks, events and frames out of what was read. */
#ifndef TENURE_SNAPSHOT_READ_H
#define TENURE_SNAPSHOT_READ_H

/* Where the fields stand in dicts of one row of keys; the last of two that are alike counts. */
typedef struct {
    uint32_t row;
    int32_t place[NUM_FIELDS];
} Shape;

static void
learn(const Reader *r, Shape *shape, uint32_t row)
{
    memset(shape->place, 0xff, sizeof(shape->place));
    shape->row = row;
    const Word *keys = r->arena + r->rows[row].place;
    for (uint32_t place = 0; place < r->rows[row].count; place++) {
        if (VALUE(keys[place]) < NUM_FIELDS) {
            shape->place[VALUE(keys[place])] = (int32_t)place;
        }
    }
}

static inline Word
field(const Reader *r, Shape *shape, const Container *dict, int name)
{
    if (dict->count == 0) {
        return MISSING;
    }
    if (shape->row != dict->room) {
        learn(r, shape, dict->room);
    }
    return shape->place[name] < 0 ? MISSING : r->arena[dict->place + (uint64_t)shape->place[name]];
}

static inline int
as_number(Word word, int has_default, int64_t missing, int64_t *number)
{
    if (KIND(word) == INT) {
        *number = NUMBER(word);
        return 1;
    }
    *number = missing;
    return has_default && word == MISSING;
}

/* The items of a list or tuple; none of what is missing or None. */
static int
items_of(Reader *r, Word word, int may_miss, const Word **items, size_t *count)
{
    *count = 0;
    *items = NULL;
    if (may_miss && (word == MISSING || word == NONE)) {
        return 1;
    }
    if (KIND(word) != CONTAINER || r->containers[VALUE(word)].kind == DICT) {
        return 0;
    }
    const Container *found = &r->containers[VALUE(word)];
    *items = r->arena + found->place;
    *count = found->count;
    return 1;
}

static int
text_or_empty(Reader *r, Word word, Word *text)
{
    if (word == MISSING) {
        Py_ssize_t number;
        if (!number_of_text(r, "", 0, &number)) {
            return 0;
        }
        *text = WORD(TEXT, number);
        return 1;
    }
    *text = word;
    return KIND(word) == TEXT;
}

static int
frame_number(Reader *r, Shape *shape, Word word, uint32_t *number)
{
    Container *frame = container(r, word, DICT);
    if (frame == NULL) {
        return 0;
    }
    if (frame->row != NO_ID) {
        *number = frame->row;
        return 1;
    }
    Word told[3];
    int64_t line;
    if (!text_or_empty(r, field(r, shape, frame, F_name), &told[0]) ||
        !text_or_empty(r, field(r, shape, frame, F_filename), &told[1]) ||
        !as_number(field(r, shape, frame, F_line), 1, 0, &line)) {
        return 0;
    }
    told[2] = WORD(INT, line);
    uint32_t row;
    int is_old;
    if (!intern(r, told, 3, &row, &is_old)) {
        return 0;
    }
    if (r->rows[row].id == NO_ID) {
        PyObject *made = Py_BuildValue("(OOL)", PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(told[0])),
                                       PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(told[1])), (long long)line);
        r->rows[row].id = (uint32_t)PyList_GET_SIZE(r->frames);
        int kept = made != NULL && PyList_Append(r->frames, made) == 0;
        Py_XDECREF(made);
        if (!kept) {
            return 0;
        }
    }
    *number = frame->row = r->rows[row].id;
    return 1;
}

static int
stack_number(Reader *r, Shape *shape, Word word, int64_t *number)
{
    const Word *items;
    size_t count;
    *number = -1;
    if (!items_of(r, word, 1, &items, &count)) {
        return 0;
    }
    if (count == 0) {
        return 1;
    }
    uint32_t shared = r->containers[VALUE(word)].row;
    if (shared == NO_ID || count >= MOST_PAIRS) {
        return 0;
    }
    if (r->rows[shared].id != NO_ID) {
        *number = r->rows[shared].id;
        return 1;
    }
    Word numbers[MOST_PAIRS];
    uint64_t from = r->containers[VALUE(word)].place;
    for (size_t place = 0; place < count; place++) {
        uint32_t frame;
        if (!frame_number(r, shape, r->arena[from + place], &frame)) {
            return 0;
        }
        numbers[place] = WORD(INT, frame);
    }
    uint32_t row;
    int is_old;
    if (!intern(r, numbers, count, &row, &is_old)) {
        return 0;
    }
    if (r->rows[row].id == NO_ID) {
        PyObject *stack = PyTuple_New((Py_ssize_t)count);
        for (size_t place = 0; stack != NULL && place < count; place++) {
            PyObject *each = PyLong_FromLongLong(NUMBER(numbers[place]));
            if (each == NULL) {
                Py_CLEAR(stack);
                break;
            }
            PyTuple_SET_ITEM(stack, (Py_ssize_t)place, each);
        }
        r->rows[row].id = (uint32_t)PyList_GET_SIZE(r->stacks);
        int kept = stack != NULL && PyList_Append(r->stacks, stack) == 0;
        Py_XDECREF(stack);
        if (!kept) {
            return 0;
        }
    }
    *number = r->rows[shared].id = r->rows[row].id;
    return 1;
}

static int
pool_number(Reader *r, Word word, int64_t *number)
{
    const Word *items;
    size_t count;
    *number = 0;
    if (word == MISSING || word == NONE) {
        return 1;
    }
    if (!items_of(r, word, 0, &items, &count) || count != 2 || KIND(items[0]) != INT || KIND(items[1]) != INT) {
        return 0;
    }
    int64_t first = NUMBER(items[0]), second = NUMBER(items[1]);
    for (int place = 0; place < r->num_pools; place++) {
        if (r->pools[place][0] == first && r->pools[place][1] == second) {
            *number = place;
            return 1;
        }
    }
    if (r->num_pools == MOST_POOLS) {
        return 0;
    }
    r->pools[r->num_pools][0] = first;
    r->pools[r->num_pools][1] = second;
    *number = r->num_pools++;
    return 1;
}

static int
label_number(Reader *r, Word word, int64_t *number)
{
    *number = -1;
    if (word == MISSING || word == NONE) {
        return 1;
    }
    if (KIND(word) != TEXT) {
        return 0;
    }
    PyObject *text = PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(word));
    if (PyUnicode_GET_LENGTH(text) == 0) {
        return 1;
    }
    uint32_t *label = &r->label_of_text[VALUE(word)];
    if (*label == NO_ID) {
        *label = (uint32_t)PyList_GET_SIZE(r->labels);
        if (PyList_Append(r->labels, text) < 0) {
            return 0;
        }
    }
    *number = *label;
    return 1;
}

static int
count_unknown(Reader *r, PyObject *action)
{
    PyObject *known = PyDict_GetItemWithError(r->unknown, action);
    if (known == NULL && PyErr_Occurred()) {
        return 0;
    }
    PyObject *count = PyLong_FromSsize_t(known == NULL ? 1 : PyLong_AsSsize_t(known) + 1);
    int kept = count != NULL && PyDict_SetItem(r->unknown, action, count) == 0;
    Py_XDECREF(count);
    return kept;
}

/* Any value as Python's, containers once each. */
static PyObject *
as_object(Reader *r, Word word, int depth)
{
    if (depth > MOST_DEPTH) {
        return NULL;
    }
    switch (KIND(word)) {
    case INT:
        return PyLong_FromLongLong(NUMBER(word));
    case TEXT:
        return Py_NewRef(PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(word)));
    case REAL: {
        double real;
        memcpy(&real, &r->arena[VALUE(word)], sizeof(real));
        return PyFloat_FromDouble(real);
    }
    case OTHER:
        return Py_NewRef(word == TRUE_WORD ? Py_True : word == FALSE_WORD ? Py_False : Py_None);
    default:
        break;
    }
    PyObject *number = PyLong_FromUnsignedLongLong(VALUE(word));
    PyObject *known = number == NULL ? NULL : PyDict_GetItemWithError(r->made, number);
    if (known != NULL || number == NULL || PyErr_Occurred()) {
        Py_XDECREF(number);
        return Py_XNewRef(known);
    }
    Container found = r->containers[VALUE(word)];
    if (found.kind == TUPLE) {
        Py_DECREF(number);
        return NULL;
    }
    PyObject *made = found.kind == DICT ? PyDict_New() : PyList_New(0);
    int kept = made != NULL && PyDict_SetItem(r->made, number, made) == 0;
    Py_DECREF(number);
    for (uint32_t place = 0; kept && place < found.count; place++) {
        PyObject *value = as_object(r, r->arena[found.place + place], depth + 1);
        if (value == NULL) {
            kept = 0;
        }
        else if (found.kind == DICT) {
            Word key = r->arena[r->rows[found.room].place + place];
            kept = PyDict_SetItem(made, PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(key)), value) == 0;
        }
        else {
            kept = PyList_Append(made, value) == 0;
        }
        Py_XDECREF(value);
    }
    if (!kept) {
        Py_CLEAR(made);
    }
    return made;
}

#endif
