/* Part of _heapwalk.c: the states of threads. */
#ifndef TENURE_HEAPWALK_THREADS_H
#define TENURE_HEAPWALK_THREADS_H

PyDoc_STRVAR(thread_stack_bytes_doc, "thread_stack_bytes(ident) -> bytes of that live thread's C stack, or None");

static PyObject *
heapwalk_thread_stack_bytes(PyObject *Py_UNUSED(module), PyObject *ident)
{
    unsigned long wanted = PyLong_AsUnsignedLong(ident);
    if (wanted == (unsigned long)-1 && PyErr_Occurred()) {
        return NULL;
    }
#if defined(__linux__)
    /* pthread functions may be asked about live threads only. */
    PyThreadState *state = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    while (state != NULL && state->thread_id != wanted) {
        state = PyThreadState_Next(state);
    }
    pthread_attr_t attributes;
    if (state != NULL && wanted != 0 && pthread_getattr_np((pthread_t)wanted, &attributes) == 0) {
        size_t bytes = 0;
        int failed = pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
        if (!failed) {
            return PyLong_FromSize_t(bytes);
        }
    }
#endif
    Py_RETURN_NONE;
}

#endif
