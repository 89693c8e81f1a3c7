/* Torch's CUDA caching allocator without a device, in C: what simulator.py, laid_out.py and the loops of replay.py and
 * what_if.py do, sooner.
 *
 * CPython headers only. The twins in Python say what the rules are and where they come from. `replay` plays a recorded
 * trace and gives up without a word at the first difference: the twin then plays it again and says where it was.
 * `play` plays requests on a device that is not there, without the interpreter's lock, so that several settings can be
 * tried at once. Free blocks of a pool and stream stand in a treap by size and address.
 */
#define PY_SSIZE_T_CLEAN
#include "Python.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
#define MIN_BLOCK 512
#define SMALL_SIZE MIB
#define SMALL_SEGMENT (2 * MIB)
#define MIN_LARGE_ALLOC (10 * MIB)
#define ROUND_LARGE (2 * MIB)
#define NO_LIMIT INT64_MAX
#define INTERVALS 16
#define FIRST_INTERVAL 20
#define GRANULE (2 * MIB)
#define ENDLESS_DEVICE (INT64_C(1) << 42)
#define ENDLESS (INT64_C(1) << 44)
#define REGION (32 * MIB)
#define HIGHEST (INT64_C(1) << 55)
#define LARGEST_SETTING (INT64_C(1) << 45)
#define MOST_POOLS 1025
#define MOST_QUEUES 256
#define MOST_LOOKED_AT (INT64_C(1) << 27)
#define BLOCKS_AT_ONCE 1024

enum { ALLOC = 1, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP };
enum { ALLOCATE, FREE, GIVE_BACK, OUT_OF_MEMORY, RETRY, COLLECT, OVERSIZED };

#include "c/queues.h"
#include "c/addresses.h"
#include "c/blocks.h"
#include "c/driver_addresses.h"
#include "c/device.h"
#include "c/segments.h"
#include "c/giving_back.h"
#include "c/allocation.h"
#include "c/first_state.h"
#include "c/trace.h"

/* ---- between Python and this -------------------------------------------------------------------------------------------- */

static void
close_table(Table *table)
{
    for (int number = 0; number < table->num_buffers; number++) {
        PyBuffer_Release(&table->buffers[number]);
    }
}

/* A tuple of as many columns of 64-bit numbers. */
static int
open_table(PyObject *told, int num_columns, Table *table)
{
    memset(table, 0, sizeof(*table));
    if (!PyTuple_Check(told) || PyTuple_GET_SIZE(told) != num_columns) {
        PyErr_SetString(PyExc_ValueError, "another number of columns was expected");
        return 0;
    }
    for (int number = 0; number < num_columns; number++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(told, number), &table->buffers[number], PyBUF_C_CONTIGUOUS) < 0) {
            return 0;
        }
        table->num_buffers++;
        table->columns[number] = table->buffers[number].buf;
        Py_ssize_t rows = table->buffers[number].len / (Py_ssize_t)sizeof(int64_t);
        if (number && rows != table->rows) {
            PyErr_SetString(PyExc_ValueError, "columns of different lengths");
            return 0;
        }
        table->rows = rows;
    }
    return 1;
}

static int
read_settings(PyObject *told, Settings *settings)
{
    PyObject *divisions;
    memset(settings, 0, sizeof(*settings));
    if (!PyArg_ParseTuple(told, "LLO!dpLdL", (long long *)&settings->max_split, (long long *)&settings->max_rounding,
                          &PyTuple_Type, &divisions, &settings->threshold, &settings->expandable,
                          (long long *)&settings->large_segment, &settings->fraction, (long long *)&settings->limit)) {
        return 0;
    }
    if (PyTuple_GET_SIZE(divisions) != INTERVALS) {
        PyErr_SetString(PyExc_ValueError, "a number of parts for each of 16 intervals was expected");
        return 0;
    }
    for (int interval = 0; interval < INTERVALS; interval++) {
        settings->divisions[interval] = PyLong_AsLongLong(PyTuple_GET_ITEM(divisions, interval));
        if (settings->divisions[interval] > LARGEST_SETTING) {
            PyErr_SetString(PyExc_OverflowError, "more parts than there are bytes");
        }
    }
    if (settings->large_segment > LARGEST_SETTING) {
        PyErr_SetString(PyExc_OverflowError, "segments larger than any device");
    }
    return !PyErr_Occurred();
}

static Allocator *
new_allocator(void)
{
    Allocator *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    a->random = 2463534242U;
    a->total = -1;
    return a;
}

static void
drop_allocator(Allocator *a)
{
    while (a->chunks != NULL) {
        Chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    for (size_t number = 0; number < a->num_ranges; number++) {
        free(a->ranges[number]);
    }
    drop_driver(&a->driver);
    free(a->ranges);
    free(a->offers);
    free(a->table);
    free(a->scratch);
    free(a);
}

enum { L_ADDRESS, L_SIZE, L_IN_USE, L_STREAM, L_POOL, L_SMALL, L_EXPANDABLE, L_IS_FIRST, NUM_LEFT_COLUMNS };

/* Writes all blocks with memory, in no order, where `columns` is not NULL; gives back how many there are. */
static size_t
each_block(const Allocator *a, int64_t **columns)
{
    size_t row = 0;
    for (const Chunk *chunk = a->chunks; chunk != NULL; chunk = chunk->next) {
        size_t num = chunk == a->chunks ? a->num_used : BLOCKS_AT_ONCE;
        for (size_t place = 0; place < num; place++) {
            const Block *block = &chunk->blocks[place];
            if (!block->is_there || !block->is_mapped) {
                continue;
            }
            if (columns != NULL) {
                const Queue *queue = &a->queues[block->queue];
                const Pool *pool = &a->pools[queue->pool];
                columns[L_ADDRESS][row] = block->address;
                columns[L_SIZE][row] = block->size;
                columns[L_IN_USE][row] = block->in_use;
                columns[L_STREAM][row] = queue->stream;
                columns[L_POOL][row] = pool->pool;
                columns[L_SMALL][row] = pool->is_small;
                columns[L_EXPANDABLE][row] = block->range != NULL;
                columns[L_IS_FIRST][row] = block->before == NULL || !block->before->is_mapped;
            }
            row++;
        }
    }
    return row;
}

static PyObject *
blocks_left(const Allocator *a)
{
    int64_t *columns[NUM_LEFT_COLUMNS];
    size_t count = each_block(a, NULL);
    PyObject *made = PyTuple_New(NUM_LEFT_COLUMNS);
    for (int number = 0; made != NULL && number < NUM_LEFT_COLUMNS; number++) {
        PyObject *column = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(int64_t)));
        if (column == NULL) {
            Py_CLEAR(made);
            break;
        }
        columns[number] = (int64_t *)PyByteArray_AS_STRING(column);
        PyTuple_SET_ITEM(made, number, column);
    }
    if (made != NULL) {
        each_block(a, columns);
    }
    return made;
}

static PyObject *
replay(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *told_settings, *told_segments, *told_blocks, *told_events, *found = NULL;
    Py_buffer levels[2] = {{0}, {0}};
    if (!PyArg_ParseTuple(args, "O!OOOw*w*", &PyTuple_Type, &told_settings, &told_segments, &told_blocks, &told_events,
                          &levels[0], &levels[1])) {
        return NULL;
    }
    Table segments = {0}, blocks = {0}, events = {0};
    Allocator *a = new_allocator();
    if (a == NULL) {
        PyBuffer_Release(&levels[0]);
        PyBuffer_Release(&levels[1]);
        return NULL;
    }
    Block **placed = NULL;
    if (!read_settings(told_settings, &a->settings) || !open_table(told_segments, NUM_SEGMENT_COLUMNS, &segments) ||
        !open_table(told_blocks, NUM_BLOCK_COLUMNS, &blocks) || !open_table(told_events, 5, &events)) {
        goto done;
    }
    placed = calloc((size_t)blocks.rows + 1, sizeof(*placed));
    if (placed == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int64_t peak_active, peak_active_at = -1, peak_reserved, peak_reserved_at = -1, num_equal = 0;
    int64_t *active_after = levels[0].buf, *reserved_after = levels[1].buf;
    Py_ssize_t num_levels = levels[0].len < levels[1].len ? levels[0].len : levels[1].len;
    num_levels /= (Py_ssize_t)sizeof(int64_t);
    a->is_recorded = 1;
    Py_BEGIN_ALLOW_THREADS
    lay_out(a, &segments, &blocks, placed);
    peak_active = a->active;
    peak_reserved = a->reserved;
    for (Py_ssize_t row = 0; row < events.rows && !a->failed; row++) {
        int64_t action = events.columns[0][row];
        play_event(a, action, events.columns[1][row], events.columns[2][row], events.columns[3][row],
                   events.columns[4][row]);
        num_equal += action == ALLOC;
        if (row < num_levels) {
            active_after[row] = a->active;
            reserved_after[row] = a->reserved;
        }
        if (a->active > peak_active) {
            peak_active = a->active;
            peak_active_at = row;
        }
        if (a->reserved > peak_reserved) {
            peak_reserved = a->reserved;
            peak_reserved_at = row;
        }
        a->failed |= a->num_looked_at > MOST_LOOKED_AT;
    }
    Py_END_ALLOW_THREADS
    if (a->failed) {
        found = Py_NewRef(Py_None);
        goto done;
    }
    PyObject *left = blocks_left(a);
    if (left != NULL) {
        found = Py_BuildValue("(LLLLLLN)", (long long)num_equal, (long long)a->num_taken, (long long)peak_active,
                              (long long)peak_active_at, (long long)peak_reserved, (long long)peak_reserved_at, left);
    }
done:
    free(placed);
    PyBuffer_Release(&levels[0]);
    PyBuffer_Release(&levels[1]);
    close_table(&segments);
    close_table(&blocks);
    close_table(&events);
    drop_allocator(a);
    return found;
}

/* What the recorded allocator gave back by itself: so too where the device's memory is not known, else by its rules. */
static void
give_back_as_recorded(Allocator *a, int64_t kind, int64_t size, int64_t stream, int64_t pool)
{
    int is_limited = a->settings.limit >= 0, is_bounded = is_limited || a->total >= 0;
    if (kind == RETRY && !is_bounded) {
        give_back(a, pool);
    }
    else if (kind == COLLECT && !is_limited && a->settings.threshold > 0) {
        collect(a, (double)size);
    }
    else if (kind == OVERSIZED && !is_bounded) {
        size = rounded(&a->settings, size);
        release_oversized(a, queue_of(a, pool_number(a, pool, size <= SMALL_SIZE), stream), size);
    }
}

static PyObject *
play(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *told_settings, *told_segments, *told_blocks, *told_rows, *told_regions, *found = NULL;
    long long total, given, next, lowest, floor, num_numbers, begin, error;
    if (!PyArg_ParseTuple(args, "O!OOOOLLLLLLLL", &PyTuple_Type, &told_settings, &told_segments, &told_blocks,
                          &told_rows, &told_regions, &total, &given, &next, &lowest, &floor, &num_numbers, &begin,
                          &error)) {
        return NULL;
    }
    Table segments = {0}, blocks = {0}, rows = {0}, regions = {0};
    Allocator *a = new_allocator();
    if (a == NULL) {
        return NULL;
    }
    Block **held = NULL, **placed = NULL;
    if (!read_settings(told_settings, &a->settings) || !open_table(told_segments, NUM_SEGMENT_COLUMNS, &segments) ||
        !open_table(told_blocks, NUM_BLOCK_COLUMNS, &blocks) || !open_table(told_rows, 5, &rows) ||
        !open_table(told_regions, 2, &regions)) {
        goto done;
    }
    held = num_numbers < 0 ? NULL : calloc((size_t)num_numbers + 1, sizeof(*held));
    placed = calloc((size_t)blocks.rows + 1, sizeof(*placed));
    if (held == NULL || placed == NULL || begin < 0) {
        PyErr_NoMemory();
        goto done;
    }
    a->total = total;
    a->given = given;
    a->next = next;
    a->driver.lowest = lowest;
    a->driver.floor = floor;
    int64_t peak_active, peak_reserved, num_errors = 0;
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < regions.rows; row++) {
        add_region(a, regions.columns[0][row], regions.columns[1][row]);
    }
    lay_out(a, &segments, &blocks, placed);
    for (Py_ssize_t row = 0; row < begin && row < blocks.rows && row < rows.rows; row++) {
        int64_t number = rows.columns[1][row];
        if (number >= 0 && number < num_numbers) {
            held[number] = placed[row];
        }
    }
    peak_active = a->active;
    peak_reserved = a->reserved;
    for (Py_ssize_t row = (Py_ssize_t)begin; row < rows.rows && !a->failed; row++) {
        int64_t kind = rows.columns[0][row], number = rows.columns[1][row];
        int is_number = number >= 0 && number < num_numbers;
        if (kind == ALLOCATE) {
            Block *block = allocate(a, rows.columns[2][row], rows.columns[3][row], rows.columns[4][row]);
            fits &= block != NULL;
            peak_reserved = a->reserved > peak_reserved ? a->reserved : peak_reserved;
            peak_active = a->active > peak_active ? a->active : peak_active;
            if (block != NULL && is_number) {
                held[number] = block;
            }
        }
        else if (kind == FREE && is_number && held[number] != NULL) {
            free_block(a, held[number]);
            held[number] = NULL;
        }
        else if (kind == GIVE_BACK) {
            give_back(a, rows.columns[4][row]);
        }
        else if (kind > OUT_OF_MEMORY) {
            give_back_as_recorded(a, kind, rows.columns[2][row], rows.columns[3][row], rows.columns[4][row]);
        }
        else if (kind == OUT_OF_MEMORY && ++num_errors == error) {
            fits &= allocate(a, rows.columns[2][row], rows.columns[3][row], rows.columns[4][row]) != NULL;
            peak_reserved = a->reserved > peak_reserved ? a->reserved : peak_reserved;
            break;
        }
    }
    Py_END_ALLOW_THREADS
    found = a->failed ? Py_NewRef(Py_None)
                      : Py_BuildValue("(LLOLLL)", (long long)peak_reserved, (long long)peak_active,
                                      fits ? Py_True : Py_False, (long long)a->num_device_allocations,
                                      (long long)a->num_retries, (long long)a->num_out_of_memory);
done:
    free(held);
    free(placed);
    close_table(&segments);
    close_table(&blocks);
    close_table(&rows);
    close_table(&regions);
    drop_allocator(a);
    return found;
}

static PyMethodDef methods[] = {
    {"replay", replay, METH_VARARGS,
     "replay(settings, segments, blocks, events, active, reserved) -> (equal allocations, segments taken, peak of "
     "active bytes, its event, peak of reserved bytes, its event, columns of the blocks left); None at the first "
     "difference. The bytes after each event go into `active` and `reserved`, as far as they reach."},
    {"play", play, METH_VARARGS,
     "play(settings, segments, blocks, rows, regions, total, given, next range, below, floor, numbers, first row, error) -> (peak of "
     "reserved bytes, of active bytes, whether all were served, device allocations, retries, refusals); None: not here."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_simulator", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC
PyInit__simulator(void)
{
#ifdef Py_GIL_DISABLED
    PyErr_SetString(PyExc_ImportError, "the native simulator needs the GIL; the one in plain Python is used");
    return NULL;
#else
    return PyModule_Create(&module);
#endif
}
