/* The heap walk in C: which objects can reach a target, and every reference between them.
 *
 * CPython headers only. The plain-Python twin in heapwalk.py says what the result is; this file says it faster.
 *
 * How it stays cheap. Addresses are looked up per page, not per object: a page of 256 granules has one bitmap,
 * and an object's number is the page's first number plus the set bits before it. The table of a million objects
 * is then about a megabyte and stays in the cache, where a hash of addresses would miss on every reference.
 * One tp_traverse pass writes the references down as 32-bit numbers; all that follows works on those.
 *
 * Roots have no bit in their page, so references into them end as "not found" and are never written.
 */
#define PY_SSIZE_T_CLEAN
#include "patchlevel.h"
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030F0000
#define INTERNAL_HEADERS 1 /* layouts are known up to 3.14; later versions go without */
#define Py_BUILD_CORE_MODULE 1
#endif
#include "Python.h"

#ifdef Py_GIL_DISABLED

static struct PyModuleDef heapwalk_module = {PyModuleDef_HEAD_INIT, .m_name = "_heapwalk"};

PyMODINIT_FUNC
PyInit__heapwalk(void)
{
    (void)heapwalk_module;
    PyErr_SetString(PyExc_ImportError, "the native heap walk needs the GIL; the plain-Python walk is used");
    return NULL;
}

#else

#include <stdint.h>
#include <string.h>

#include "frameobject.h"
#include "structmember.h"

#ifdef INTERNAL_HEADERS
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
#include "internal/pycore_dict.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#if PY_VERSION_HEX < 0x030C0000
#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"
#endif
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

#if defined(__linux__)
#include <pthread.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#define HAVE_MMAP 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(p) __builtin_prefetch((const void *)(p))
#define POPCOUNT(x) ((unsigned)__builtin_popcountll(x))
#define LOWEST_BIT(x) ((unsigned)__builtin_ctzll(x))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define PREFETCH(p) ((void)(p))
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
static unsigned
POPCOUNT(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555ULL;
    x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return (unsigned)((x * 0x0101010101010101ULL) >> 56);
}
#define LOWEST_BIT(x) POPCOUNT(((x) & (0 - (x))) - 1)
#endif

enum { NORMAL = 0, TARGET = 1, ROOT = 2, IGNORE = 3, ARRAY = 4, NUM_CATEGORIES = 5, PENDING = 6 };

#define NOT_FOUND UINT32_MAX
#define MAX_OBJECTS ((Py_ssize_t)INT32_MAX - 1)

#include "c/memory.h"
#include "c/maps.h"
#include "c/pages.h"
#include "c/walk.h"
#include "c/listing.h"
#include "c/host.h"
#include "c/references.h"
#include "c/reaching.h"
#include "c/results.h"
#include "c/frames.h"
#include "c/threads.h"
#include "c/instances.h"

/* ---- what the interpreter itself holds --------------------------------------------------------------------- */

PyDoc_STRVAR(atexit_handlers_doc,
             "atexit_handlers() -> [(function, args, kwargs or None)] as registered, or None where they cannot be read");

static PyObject *
heapwalk_atexit_handlers(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
#if defined(INTERNAL_HEADERS) && PY_VERSION_HEX < 0x030E0000
    const struct atexit_state *state = &PyInterpreterState_Get()->atexit;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < state->ncallbacks; i++) {
        if (state->callbacks[i] == NULL) {
            continue; /* unregistered */
        }
        PyObject *kwargs = state->callbacks[i]->kwargs;
        PyObject *entry = PyTuple_Pack(3, state->callbacks[i]->func, state->callbacks[i]->args,
                                       kwargs == NULL ? Py_None : kwargs);
        if (entry == NULL || PyList_Append(list, entry) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(entry);
    }
    return list;
#else
    Py_RETURN_NONE;
#endif
}

PyDoc_STRVAR(is_filled_doc, "is_filled(sequence) -> whether no place of a tuple or list is still empty");

static PyObject *
heapwalk_is_filled(PyObject *Py_UNUSED(module), PyObject *sequence)
{
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
        PyErr_SetString(PyExc_TypeError, "is_filled takes a tuple or a list");
        return NULL;
    }
    PyObject **items = PySequence_Fast_ITEMS(sequence);
    for (Py_ssize_t i = PySequence_Fast_GET_SIZE(sequence); i-- > 0;) {
        if (items[i] == NULL) {
            Py_RETURN_FALSE;
        }
    }
    Py_RETURN_TRUE;
}

static PyMethodDef heapwalk_methods[] = {
    {"atexit_handlers", heapwalk_atexit_handlers, METH_NOARGS, atexit_handlers_doc},
    {"walk", heapwalk_walk, METH_VARARGS, walk_doc},
    {"frame_locals", heapwalk_frame_locals, METH_O, frame_locals_doc},
    {"frame_values", heapwalk_frame_values, METH_VARARGS, frame_values_doc},
    {"thread_stack_bytes", heapwalk_thread_stack_bytes, METH_O, thread_stack_bytes_doc},
    {"instance_values", heapwalk_instance_values, METH_O, instance_values_doc},
    {"is_filled", heapwalk_is_filled, METH_O, is_filled_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef heapwalk_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_heapwalk",
    .m_size = 0,
    .m_methods = heapwalk_methods,
};

PyMODINIT_FUNC
PyInit__heapwalk(void)
{
    return PyModuleDef_Init(&heapwalk_module);
}

#endif
