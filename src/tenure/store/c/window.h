/* Part of _snapshot_columns.c: the file, a window at a time. */
#ifndef TENURE_SNAPSHOT_WINDOW_H
#define TENURE_SNAPSHOT_WINDOW_H

static int
fill(Reader *r, Py_ssize_t count)
{
    Py_ssize_t rest = r->end - r->at;
    memmove(r->window, r->window + r->at, (size_t)rest);
    r->before += r->at;
    r->at = 0;
    r->end = rest;
    if (PyErr_CheckSignals() < 0) {
        return 0;
    }
    while (r->end < count) {
        PyObject *more = PyObject_CallFunction(r->read, "n", WINDOW);
        if (more == NULL) {
            return 0;
        }
        Py_ssize_t size = PyBytes_Check(more) ? PyBytes_GET_SIZE(more) : 0;
        if (size <= 0 || r->end + size > r->window_room) {
            Py_DECREF(more);
            return 0; /* cut off */
        }
        memcpy(r->window + r->end, PyBytes_AS_STRING(more), (size_t)size);
        r->end += size;
        Py_DECREF(more);
    }
    return 1;
}

static inline int
need(Reader *r, Py_ssize_t count)
{
    return r->end - r->at >= count || fill(r, count);
}

static inline uint64_t
little(const unsigned char *from, int count)
{
    uint64_t value = 0;
    for (int place = 0; place < count; place++) {
        value |= (uint64_t)from[place] << (8 * place);
    }
    return value;
}

#endif
