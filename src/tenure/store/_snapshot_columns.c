/* A pickled memory snapshot of torch's as columns of numbers, without an object for anything in it.
 *
 * CPython headers only. What pickles of torch's snapshots hold is played on a small machine: numbers, texts, lists,
 * dicts by text, tuples of numbers. The file is read a window at a time; each container is a few words in an arena,
 * keys of dicts and lists of frames that were there before are kept once. Whatever is not as torch writes it ends the
 * reading with None, without a word: the reader in Python looks at such a file again, and says what is wrong or reads
 * it after all. So this file can only be faster, never more lenient; memory is bounded by the bytes that were read.
 */
#define PY_SSIZE_T_CLEAN
#include "Python.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Word;

enum { INT, TEXT, CONTAINER, REAL, OTHER };
#define KIND(word) ((int)((word) & 7))
#define VALUE(word) ((word) >> 3)
#define WORD(kind, value) (((Word)(value) << 3) | (kind))
#define NUMBER(word) ((int64_t)(word) >> 3)
#define NONE WORD(OTHER, 0)
#define FALSE_WORD WORD(OTHER, 1)
#define TRUE_WORD WORD(OTHER, 2)
#define MISSING WORD(OTHER, 3)

#define LARGEST (INT64_C(1) << 59)
#define WINDOW ((Py_ssize_t)1 << 20)
#define LONGEST_TEXT ((Py_ssize_t)1 << 19)
#define MOST_PAIRS 1000
#define MOST_PROBES 32
#define MOST_POOLS 1024
#define MOST_DEPTH 50
#define FREE_CONTAINERS 10000
#define LEAST_PER_CONTAINER 6 /* bytes of the file, as in pickle_scan.py */
#define NO_ID UINT32_MAX

enum { LIST, DICT, TUPLE };

typedef struct {
    uint64_t place; /* of its words in the arena; of a dict its values */
    uint32_t count;
    uint32_t room; /* of a list, 0: its words are shared; of a dict the interned row of its keys */
    uint32_t row;  /* of a list with shared words the interned row; of a frame its number */
    uint8_t kind;
} Container;

typedef struct {
    uint64_t place;
    uint32_t count;
    uint32_t hash;
    uint32_t id; /* of a frame or a stack its number; of a list of frames its stack's */
} Row;

/* The names of fields that are read; interned first, so that their numbers are those of this list. */
#define FIELDS(each)                                                                                                   \
    each(segments) each(device_traces) each(allocator_settings) each(external_annotations) each(device) each(address)  \
        each(total_size) each(stream) each(segment_type) each(is_expandable) each(segment_pool_id) each(blocks)        \
            each(size) each(requested_size) each(real_size) each(state) each(frames) each(name) each(filename)         \
                each(line) each(action) each(addr) each(device_free) each(time_us) each(pool_id) each(user_metadata)
#define AS_NUMBER(name) F_##name,
enum { FIELDS(AS_NUMBER) NUM_FIELDS };

/* Words that are told apart; they follow the fields. An action's number and a state's are those of model/allocator.py. */
static const char *const WORDS[] = {"small",           "alloc",         "free_requested", "free_completed",
                                    "segment_alloc",   "segment_free",  "segment_map",    "segment_unmap",
                                    "snapshot",        "oom",           "inactive",       "active_allocated",
                                    "active_pending_free", "active_awaiting_free"};
#define T_SMALL NUM_FIELDS
#define T_FIRST_ACTION (NUM_FIELDS + 1)
#define NUM_ACTIONS 9
#define T_FIRST_STATE (T_FIRST_ACTION + NUM_ACTIONS)
#define NUM_STATES 4
#define NUM_WORDS (1 + NUM_ACTIONS + NUM_STATES)

typedef struct {
    /* the window */
    PyObject *read;
    unsigned char *window;
    Py_ssize_t at, end, window_room;
    int64_t before, frame_end;
    /* the machine */
    Word *stack;
    size_t depth, stack_room;
    size_t *marks;
    size_t num_marks, marks_room;
    Word *memo;
    size_t num_memo, memo_room;
    Word *arena;
    size_t used, arena_room;
    Container *containers;
    size_t num_containers, containers_room;
    Row *rows;
    size_t num_rows, rows_room;
    uint32_t *table;
    size_t table_room;
    uint64_t seed;
    PyObject *texts;       /* list of str by number */
    PyObject *text_number; /* dict of the same, turned round */
    /* what is found */
    PyObject *frames, *stacks, *labels, *unknown, *made;
    uint32_t *label_of_text;
    int64_t pools[MOST_POOLS][2];
    int num_pools;
} Reader;

/* Each step gives back 1, or 0: not as torch writes it, or an error of Python's is set. */

#define GROW(reader, array, used_, room_, more)                                                                        \
    ((reader)->used_ + (size_t)(more) <= (reader)->room_ ||                                                            \
     grow((void **)&(reader)->array, &(reader)->room_, (reader)->used_ + (size_t)(more), sizeof(*(reader)->array)))

static int
grow(void **array, size_t *room, size_t wanted, size_t item)
{
    size_t next = *room ? *room * 2 : 1024;
    while (next < wanted) {
        next *= 2;
    }
    void *moved = realloc(*array, next * item);
    if (moved == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    *array = moved;
    *room = next;
    return 1;
}

#include "c/window.h"
#include "c/rows.h"
#include "c/machine.h"
#include "c/read.h"
#include "c/columns.h"

static int
begin(Reader *r)
{
    static const char *const names[] = {
#define AS_TEXT(name) #name,
        FIELDS(AS_TEXT)};
    r->window_room = 2 * WINDOW;
    r->window = malloc((size_t)r->window_room);
    r->texts = PyList_New(0);
    r->text_number = PyDict_New();
    r->frames = PyList_New(0);
    r->stacks = PyList_New(0);
    r->labels = PyList_New(0);
    r->unknown = PyDict_New();
    r->made = PyDict_New();
    r->num_pools = 1; /* the default pool, (0, 0) */
    if (r->window == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    if (!r->texts || !r->text_number || !r->frames || !r->stacks || !r->labels || !r->unknown || !r->made) {
        return 0;
    }
    Py_ssize_t number;
    for (int place = 0; place < NUM_FIELDS + NUM_WORDS; place++) {
        const char *text = place < NUM_FIELDS ? names[place] : WORDS[place - NUM_FIELDS];
        if (!number_of_text(r, text, (Py_ssize_t)strlen(text), &number)) {
            return 0;
        }
    }
    /* differs from process to process, as hashes of texts do */
    r->seed = (uint64_t)PyObject_Hash(PyList_GET_ITEM(r->texts, 0)) * UINT64_C(0x9E3779B97F4A7C15);
    return 1;
}

static void
finish(Reader *r)
{
    free(r->window);
    free(r->stack);
    free(r->marks);
    free(r->memo);
    free(r->arena);
    free(r->containers);
    free(r->rows);
    free(r->table);
    free(r->label_of_text);
    Py_XDECREF(r->texts);
    Py_XDECREF(r->text_number);
    Py_XDECREF(r->frames);
    Py_XDECREF(r->stacks);
    Py_XDECREF(r->labels);
    Py_XDECREF(r->unknown);
    Py_XDECREF(r->made);
}

static PyObject *
columns_of(PyObject *Py_UNUSED(module), PyObject *read)
{
    Reader *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return PyErr_NoMemory();
    }
    r->read = read;
    PyObject *found = begin(r) && play(r) ? collect(r) : NULL;
    finish(r);
    free(r);
    if (found == NULL && !PyErr_Occurred()) {
        return Py_NewRef(Py_None);
    }
    return found;
}

static PyMethodDef methods[] = {
    {"columns_of", columns_of, METH_O,
     "columns_of(read) -> (segments and blocks, traces, stacks, frames, pools, labels, annotations, settings, unknown "
     "actions), columns as bytearrays of 64-bit numbers; None where a pickle is not as torch writes it."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_snapshot_columns", .m_size = -1,
                                    .m_methods = methods};

PyMODINIT_FUNC
PyInit__snapshot_columns(void)
{
#ifdef Py_GIL_DISABLED
    PyErr_SetString(PyExc_ImportError, "the native reader needs the GIL; the one in plain Python is used");
    return NULL;
#else
    return PyModule_Create(&module);
#endif
}
