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

/* ---- memory that is given back whole ---------------------------------------------------------------------- */

/* Fresh memory reads as zero. With mmap, growth moves page tables instead of bytes, and freeing returns pages. */
typedef struct {
    void *start;
    size_t bytes;
} Block;

static int
block_grow(Block *block, size_t bytes)
{
    if (bytes <= block->bytes) {
        return 0;
    }
    if (bytes > (size_t)PY_SSIZE_T_MAX - 65536) {
        return -1;
    }
#ifdef HAVE_MMAP
    bytes = (bytes + 65535) & ~(size_t)65535;
#if defined(__linux__)
    if (block->start != NULL) {
        void *moved = mremap(block->start, block->bytes, bytes, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED) {
            return -1;
        }
        block->start = moved;
        block->bytes = bytes;
        return 0;
    }
#endif
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (fresh == MAP_FAILED) {
        return -1;
    }
    if (block->start != NULL) {
        memcpy(fresh, block->start, block->bytes);
        munmap(block->start, block->bytes);
    }
#else
    void *fresh = PyMem_RawRealloc(block->start, bytes);
    if (fresh == NULL) {
        return -1;
    }
    memset((char *)fresh + block->bytes, 0, bytes - block->bytes);
#endif
    block->start = fresh;
    block->bytes = bytes;
    return 0;
}

/* Room for `count` items of `size` bytes, growing by half so that appends stay cheap. */
static inline int
block_reserve(Block *block, size_t count, size_t size)
{
    if (LIKELY(count <= block->bytes / size)) {
        return 0;
    }
    if (count > (size_t)PY_SSIZE_T_MAX / 2 / size) {
        return -1;
    }
    return block_grow(block, count * size + count * size / 2);
}

static void
block_free(Block *block)
{
    if (block->start != NULL) {
#ifdef HAVE_MMAP
        munmap(block->start, block->bytes);
#else
        PyMem_RawFree(block->start);
#endif
    }
    block->start = NULL;
    block->bytes = 0;
}

/* ---- small maps from an address to a number --------------------------------------------------------------- */

typedef struct {
    uintptr_t key;
    uint32_t value;
} Entry;

typedef struct {
    Entry *entries;
    size_t mask;
    size_t used;
} AddressMap;

static inline size_t
address_hash(uintptr_t address)
{
    return (size_t)((((uint64_t)address >> 4) * 0x9E3779B97F4A7C15ULL) >> 20);
}

static inline uint32_t
map_get(const AddressMap *map, uintptr_t key)
{
    if (map->used == 0) {
        return NOT_FOUND;
    }
    for (size_t i = address_hash(key) & map->mask;; i = (i + 1) & map->mask) {
        if (map->entries[i].key == key) {
            return map->entries[i].value;
        }
        if (map->entries[i].key == 0) {
            return NOT_FOUND;
        }
    }
}

static void
map_put_unchecked(AddressMap *map, uintptr_t key, uint32_t value)
{
    size_t i = address_hash(key) & map->mask;
    while (map->entries[i].key != 0 && map->entries[i].key != key) {
        i = (i + 1) & map->mask;
    }
    map->used += map->entries[i].key == 0;
    map->entries[i].key = key;
    map->entries[i].value = value;
}

static int
map_put(AddressMap *map, uintptr_t key, uint32_t value)
{
    if (map->entries == NULL || (map->used + 1) * 2 > map->mask + 1) {
        size_t capacity = map->entries == NULL ? 256 : (map->mask + 1) * 2;
        AddressMap larger = {PyMem_RawCalloc(capacity, sizeof(Entry)), capacity - 1, 0};
        if (larger.entries == NULL) {
            return -1;
        }
        for (size_t i = 0; map->entries != NULL && i <= map->mask; i++) {
            if (map->entries[i].key != 0) {
                map_put_unchecked(&larger, map->entries[i].key, map->entries[i].value);
            }
        }
        PyMem_RawFree(map->entries);
        *map = larger;
    }
    map_put_unchecked(map, key, value);
    return 0;
}

/* ---- pages: from an object's address to its number -------------------------------------------------------- */

/* Two objects never start in the same granule: an object is at least a granule long. */
#define GRANULE_SHIFT (sizeof(void *) == 8 ? 4 : 3)
#define PAGE_SHIFT (GRANULE_SHIFT + 8)
#define PAGE_KEY(address) ((uint64_t)(address) >> PAGE_SHIFT)
#define GRANULE(address) ((unsigned)((address) >> GRANULE_SHIFT) & 255)
#define IS_ODD(address) ((address) & (((uintptr_t)1 << GRANULE_SHIFT) - 1))

typedef struct {
    uint64_t key;
    uint64_t bits[4];
    uint32_t base;
    uint8_t before[4];
} Page;

typedef struct {
    Block pages;
    uint64_t *slots; /* low half of the page key << 32 | position in `pages` + 1 */
    int slot_bits;
    size_t count;
} PageTable;

static inline size_t
page_slot(const PageTable *table, uint64_t key)
{
    return (size_t)((key * 0x9E3779B97F4A7C15ULL) >> (64 - table->slot_bits));
}

static inline Page *
page_find(const PageTable *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->slot_bits) - 1;
    for (size_t i = page_slot(table, key);; i = (i + 1) & mask) {
        uint64_t slot = table->slots[i];
        if (slot == 0) {
            return NULL;
        }
        if ((uint32_t)(slot >> 32) == (uint32_t)key) {
            Page *page = (Page *)table->pages.start + ((uint32_t)slot - 1);
            if (LIKELY(page->key == key)) {
                return page;
            }
        }
    }
}

static void
page_enter(PageTable *table, uint64_t key, size_t position)
{
    size_t mask = ((size_t)1 << table->slot_bits) - 1;
    size_t i = page_slot(table, key);
    while (table->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    table->slots[i] = (uint64_t)(uint32_t)key << 32 | (uint32_t)(position + 1);
}

static Page *
page_add(PageTable *table, uint64_t key)
{
    if (table->count >= UINT32_MAX - 1 || block_reserve(&table->pages, table->count + 1, sizeof(Page)) < 0) {
        return NULL;
    }
    if (table->slots == NULL || (table->count + 1) * 2 > (size_t)1 << table->slot_bits) {
        int bits = table->slots == NULL ? 10 : table->slot_bits + 1;
        uint64_t *slots = PyMem_RawCalloc((size_t)1 << bits, sizeof(uint64_t));
        if (slots == NULL) {
            return NULL;
        }
        PyMem_RawFree(table->slots);
        table->slots = slots;
        table->slot_bits = bits;
        for (size_t i = 0; i < table->count; i++) {
            page_enter(table, ((Page *)table->pages.start)[i].key, i);
        }
    }
    Page *page = (Page *)table->pages.start + table->count;
    memset(page, 0, sizeof(Page));
    page->key = key;
    page_enter(table, key, table->count++);
    return page;
}

static inline uint32_t
page_number(const Page *page, unsigned granule)
{
    unsigned word = granule >> 6, bit = granule & 63;
    if (!((page->bits[word] >> bit) & 1)) {
        return NOT_FOUND;
    }
    return page->base + page->before[word] + POPCOUNT(page->bits[word] & (((uint64_t)1 << bit) - 1));
}

static inline uint32_t
number_at(const PageTable *table, uintptr_t address)
{
    const Page *page = page_find(table, PAGE_KEY(address));
    return page == NULL ? NOT_FOUND : page_number(page, GRANULE(address));
}

/* ---- the walk's state ------------------------------------------------------------------------------------- */

#define BUFFER 2048
#define BATCH 256
#define BLOOM_BITS 65536

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

/* ---- first pass: every listed object gets its category and its bit ---------------------------------------- */

static int
append_position(Block *block, uint32_t *count, Py_ssize_t position)
{
    if (block_reserve(block, (size_t)*count + 1, sizeof(uint32_t)) < 0) {
        return -1;
    }
    ((uint32_t *)block->start)[(*count)++] = (uint32_t)position;
    return 0;
}

/* Takes an array into the walk and returns its number among the arrays, or NOT_FOUND where memory is short. */
static uint32_t
add_array(Walk *walk, PyObject *object, Py_ssize_t position, int has_contents)
{
    uint32_t known = map_get(&walk->array_numbers, (uintptr_t)object);
    if (known != NOT_FOUND) {
        return known;
    }
    if (walk->num_arrays >= (uint32_t)MAX_OBJECTS ||
        block_reserve(&walk->arrays, (size_t)walk->num_arrays + 1, sizeof(Array)) < 0 ||
        map_put(&walk->array_numbers, (uintptr_t)object, walk->num_arrays) < 0) {
        return NOT_FOUND;
    }
    Array *array = (Array *)walk->arrays.start + walk->num_arrays;
    Py_INCREF(object);
    array->object = object;
    array->position = position;
    array->has_contents = has_contents;
    array->start = array->end = array->bytes = array->weight = 0;
    return walk->num_arrays++;
}

static int
add_plain(Walk *walk, uintptr_t address, Page **last)
{
    uint64_t key = PAGE_KEY(address);
    if (*last == NULL || (*last)->key != key) {
        *last = walk->pages.count == 0 ? NULL : page_find(&walk->pages, key);
        if (*last == NULL && (*last = page_add(&walk->pages, key)) == NULL) {
            return -1;
        }
    }
    unsigned granule = GRANULE(address);
    (*last)->bits[granule >> 6] |= (uint64_t)1 << (granule & 63);
    return 0;
}

static int
sort_objects(Walk *walk)
{
    Page *last = NULL;
    PyTypeObject *last_type = NULL;
    uint32_t last_category = IGNORE;
    for (Py_ssize_t i = 0; i < walk->num_objects; i++) {
        PyObject *object = object_at(walk, i);
        if (i + 16 < walk->num_objects) {
            PREFETCH(object_at(walk, i + 16));
        }
        if (Py_TYPE(object) != last_type) {
            last_type = Py_TYPE(object);
            last_category = map_get(&walk->categories, (uintptr_t)last_type);
            if (last_category == NOT_FOUND) {
                int answer = classify_type(walk, last_type);
                if (answer < 0) {
                    return -1;
                }
                last_category = (uint32_t)answer;
            }
        }
        uint32_t category = last_category;
        (void)is_overridden(walk, (uintptr_t)object, &category);
        int failed = 0;
        if (category == ROOT) {
            failed = append_position(&walk->roots, &walk->num_roots, i);
        }
        else if (category == ARRAY) {
            failed = add_array(walk, object, i, 1) == NOT_FOUND ? -1 : 0;
        }
        else if (category != IGNORE) {
            if (IS_ODD((uintptr_t)object)) {
                failed = add_array(walk, object, i, 0) == NOT_FOUND ? -1 : 0;
            }
            else {
                failed = add_plain(walk, (uintptr_t)object, &last);
            }
            if (category == TARGET && failed == 0) {
                failed = append_position(&walk->targets, &walk->num_targets, i);
            }
        }
        if (failed < 0) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static void
number_pages(Walk *walk)
{
    Page *pages = walk->pages.pages.start;
    uint32_t base = 0;
    for (size_t i = 0; i < walk->pages.count; i++) {
        unsigned before = 0;
        pages[i].base = base;
        for (int word = 0; word < 4; word++) {
            pages[i].before[word] = (uint8_t)before;
            before += POPCOUNT(pages[i].bits[word]);
        }
        base += before;
    }
    walk->num_plain = base;
}

/* ---- host memory: what the collector does not track ------------------------------------------------------- */

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

/* Own bytes of an array inside a container that the collector does not track. Runs `contents`. */
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
    Py_XDECREF(contents);
    walk->failed |= PyErr_Occurred() != NULL;
    return walk->failed ? 0 : bytes;
}

static int
weigh_inner(PyObject *object, void *arg)
{
    Walk *walk = arg;
    if (object != NULL && Py_REFCNT(object) == 1 && !walk->failed) {
        uint64_t bytes = leaf_bytes(object, Py_TYPE(object));
        walk->weight += bytes != 0 ? bytes : bytes_of_inner_array(walk, object);
    }
    return 0;
}

/* Dicts and tuples of nothing but text, numbers and arrays are mostly not tracked. A heavy one becomes an array of
 * the walk; a light one counts as its owner's, if it has only one. */
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
    Py_TYPE(object)->tp_traverse(object, weigh_inner, walk);
    uint64_t own = walk->weight;
    walk->weight = before;
    if (own >= walk->least && !walk->failed) {
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
    PyTypeObject *type = Py_TYPE(object);
    return walk->least != 0 && (type == &PyDict_Type || type == &PyTuple_Type) && !PyObject_GC_IsTracked(object);
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

/* ---- second pass: references ------------------------------------------------------------------------------ */

static int
note_pending(Walk *walk, PyTypeObject *type)
{
    if (walk->num_pending == walk->max_pending) {
        size_t larger = walk->max_pending == 0 ? 64 : walk->max_pending * 2;
        PyTypeObject **grown = PyMem_RawRealloc(walk->pending, larger * sizeof(PyTypeObject *));
        if (grown == NULL) {
            return -1;
        }
        walk->pending = grown;
        walk->max_pending = larger;
    }
    if (map_put(&walk->categories, (uintptr_t)type, PENDING) < 0) {
        return -1;
    }
    Py_INCREF(type);
    walk->pending[walk->num_pending++] = type;
    return 0;
}

/* The number of something that has no bit: an array, or nothing of ours. */
static uint32_t
unlisted_number(Walk *walk, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    /* What a single reference holds dies with its owner; what is shared (interned, small numbers) is nobody's. */
    if (Py_REFCNT(object) == 1 && walk->least != 0) {
        walk->weight += leaf_bytes(object, type);
    }
    if (UNLIKELY(is_untracked(walk, object))) {
        return untracked_number(walk, object);
    }
    if (UNLIKELY(IS_ODD((uintptr_t)object))) {
        uint32_t number = map_get(&walk->array_numbers, (uintptr_t)object);
        if (number != NOT_FOUND) {
            return num_fixed(walk) + number;
        }
    }
    if (LIKELY(type == walk->dull_type)) {
        return NOT_FOUND;
    }
    uint32_t category = map_get(&walk->categories, (uintptr_t)type);
    if (UNLIKELY(category == NOT_FOUND)) {
        walk->failed |= note_pending(walk, type) < 0;
        return NOT_FOUND;
    }
    if (category == ARRAY) {
        (void)is_overridden(walk, (uintptr_t)object, &category);
        if (category != ARRAY) {
            return NOT_FOUND;
        }
        uint32_t number = add_array(walk, object, -1, 1);
        walk->failed |= number == NOT_FOUND;
        return number == NOT_FOUND ? NOT_FOUND : num_fixed(walk) + number;
    }
    if (category != PENDING) {
        walk->dull_type = type;
    }
    return NOT_FOUND;
}

static inline void
pass_bounds(Walk *walk, unsigned buffered)
{
    while (walk->next_bound < walk->num_bounds && walk->bounds[walk->next_bound] == buffered) {
        close_weight(walk);
        ((uint64_t *)walk->starts.start)[walk->first_number + walk->next_bound++] = walk->num_edges;
    }
}

/* Turns the buffered addresses into numbers. Each step of a look-up is prefetched a few references ahead. */
static void
flush(Walk *walk)
{
    const PageTable *table = &walk->pages;
    unsigned count = walk->num_buffered;
    if (block_reserve(&walk->edges, walk->num_edges + count, sizeof(uint32_t)) < 0) {
        walk->failed = 1;
    }
    for (unsigned i = 0; i < count && !walk->failed; i++) {
        if (i + 12 < count) {
            PREFETCH(&table->slots[page_slot(table, PAGE_KEY((uintptr_t)walk->buffer[i + 12]))]);
        }
        if (i + 6 < count) {
            uintptr_t ahead = (uintptr_t)walk->buffer[i + 6];
            uint64_t slot = table->slots[page_slot(table, PAGE_KEY(ahead))];
            if ((uint32_t)(slot >> 32) == (uint32_t)PAGE_KEY(ahead) && slot != 0) {
                PREFETCH((Page *)table->pages.start + ((uint32_t)slot - 1));
            }
            else {
                PREFETCH(ahead);
            }
        }
        pass_bounds(walk, i);
        PyObject *object = walk->buffer[i];
        uint32_t number = number_at(table, (uintptr_t)object);
        if (number == NOT_FOUND) {
            number = unlisted_number(walk, object);
            if (number == NOT_FOUND) {
                continue;
            }
        }
        ((uint32_t *)walk->edges.start)[walk->num_edges++] = number;
    }
    pass_bounds(walk, count);
    /* What is left of `bounds` lies at this end of the buffer or later, so nothing shifts but the start. */
    walk->num_buffered = 0;
}

/* Never answers with anything but 0: a traversal that is cut short is not what foreign types are tested with. */
static int
visit(PyObject *object, void *arg)
{
    Walk *walk = arg;
    if (object == NULL || object == Py_None || (PyTypeObject *)object == walk->own_type) {
        return 0;
    }
    if (UNLIKELY(walk->num_buffered == BUFFER)) {
        flush(walk);
    }
    walk->buffer[walk->num_buffered++] = object;
    return 0;
}

static inline void
traverse(Walk *walk, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!PyType_IS_GC(type) || type->tp_traverse == NULL || (type->tp_is_gc != NULL && !type->tp_is_gc(object))) {
        return;
    }
    type->tp_traverse(object, visit, walk);
}

/* Unless `contents` has said something else. */
static void
say_no_memory(void)
{
    if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
}

/* Asks for the categories of types met for the first time. 1 when one of them is to be looked into. */
static int
classify_pending(Walk *walk)
{
    int found = 0;
    while (walk->num_pending > 0) {
        PyTypeObject *type = walk->pending[--walk->num_pending];
        int category = classify_type(walk, type); /* `pending` gave its reference to `categories` */
        if (category < 0) {
            return -1;
        }
        found |= category == ARRAY;
    }
    return found;
}

/* Most objects refer to their class first of all, and most classes are roots. */
static int
is_never_node(const Walk *walk, PyTypeObject *type)
{
    uint32_t category = map_get(&walk->categories, (uintptr_t)Py_TYPE(type));
    return category == ROOT || category == IGNORE;
}

static int
traverse_batch(Walk *walk, PyObject **objects, unsigned count, uint32_t first_number)
{
    uint64_t rewind = walk->num_edges;
    PyTypeObject *type = NULL;
    for (;;) {
        walk->num_edges = rewind;
        walk->num_buffered = walk->num_bounds = walk->next_bound = 0;
        walk->first_number = first_number;
        walk->weight = 0;
        for (unsigned i = 0; i < count; i++) {
            if (i + 6 < count) {
                PREFETCH(objects[i + 6]);
            }
            if (walk->num_buffered > BUFFER / 2) {
                flush(walk);
            }
            walk->tables[walk->num_bounds] = walk->least == 0 ? 0 : table_bytes(objects[i]);
            walk->bounds[walk->num_bounds++] = walk->num_buffered;
            if (Py_TYPE(objects[i]) != type) {
                type = Py_TYPE(objects[i]);
                walk->own_type = is_never_node(walk, type) ? type : NULL;
            }
            traverse(walk, objects[i]);
        }
        flush(walk);
        close_weight(walk);
        if (walk->failed) {
            say_no_memory();
            return -1;
        }
        int again = walk->num_pending == 0 ? 0 : classify_pending(walk);
        if (again <= 0) {
            return again;
        }
    }
}

static int
traverse_plain(Walk *walk)
{
    PyObject *batch[BATCH];
    for (size_t i = 0; i < walk->pages.count; i++) {
        const Page *page = (Page *)walk->pages.pages.start + i;
        unsigned count = 0;
        for (unsigned word = 0; word < 4; word++) {
            for (uint64_t bits = page->bits[word]; bits != 0; bits &= bits - 1) {
                uint64_t granule = word * 64 + LOWEST_BIT(bits);
                batch[count++] = (PyObject *)(uintptr_t)((page->key << PAGE_SHIFT) + (granule << GRANULE_SHIFT));
            }
        }
        if (traverse_batch(walk, batch, count, page->base) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
traverse_roots(Walk *walk)
{
    PyObject *batch[BATCH];
    const uint32_t *positions = walk->roots.start;
    for (uint32_t done = 0; done < walk->num_roots;) {
        unsigned count = 0;
        while (count < BATCH && done + count < walk->num_roots) {
            batch[count] = object_at(walk, positions[done + count]);
            count++;
        }
        if (traverse_batch(walk, batch, count, walk->num_plain + done) < 0) {
            return -1;
        }
        done += count;
    }
    ((uint64_t *)walk->starts.start)[num_fixed(walk)] = walk->num_edges;
    return 0;
}

static int
traverse_array(Walk *walk, uint32_t number)
{
    PyObject *object = ((Array *)walk->arrays.start)[number].object;
    int has_contents = ((Array *)walk->arrays.start)[number].has_contents;
    PyObject *contents = has_contents ? PyObject_CallFunctionObjArgs(walk->contents, object, NULL) : PyTuple_New(0);
    if (contents != NULL && PyLong_CheckExact(contents)) {
        unsigned long long bytes = PyLong_AsUnsignedLongLong(contents);
        Py_DECREF(contents);
        contents = bytes == (unsigned long long)-1 && PyErr_Occurred() ? NULL : PyTuple_New(0);
        ((Array *)walk->arrays.start)[number].bytes = contents == NULL ? 0 : bytes;
        walk->any_bytes = 1;
    }
    PyObject *items = contents == NULL ? NULL : PySequence_Fast(contents, "contents must return a list or a number");
    Py_XDECREF(contents);
    if (items == NULL || check_list(walk) < 0) {
        Py_XDECREF(items);
        return -1;
    }
    uint64_t rewind = walk->num_edges;
    int again;
    walk->own_type = NULL;
    do {
        walk->num_edges = rewind;
        walk->num_buffered = walk->num_bounds = walk->next_bound = 0;
        walk->weight = has_contents ? 0 : table_bytes(object);
        traverse(walk, object);
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
            visit(PySequence_Fast_GET_ITEM(items, i), walk);
        }
        flush(walk);
        if (walk->failed) {
            say_no_memory();
            again = -1;
            break;
        }
        again = walk->num_pending == 0 ? 0 : classify_pending(walk);
    } while (again > 0);
    Py_DECREF(items);
    Array *array = (Array *)walk->arrays.start + number;
    array->start = rewind;
    array->end = walk->num_edges;
    array->weight = walk->weight;
    return again;
}

/* Arrays among the further objects; their numbers come after those met on the way. */
static int
add_extra(Walk *walk, PyObject *extra)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(extra); i++) {
        PyObject *object = PySequence_Fast_GET_ITEM(extra, i);
        if (is_untracked(walk, object)) {
            (void)untracked_number(walk, object);
            if (walk->failed) {
                say_no_memory();
                return -1;
            }
            continue;
        }
        uint32_t category = map_get(&walk->categories, (uintptr_t)Py_TYPE(object));
        if (category == NOT_FOUND) {
            Py_INCREF(object);
            int answer = classify_type(walk, Py_TYPE(object));
            Py_DECREF(object);
            if (answer < 0) {
                return -1;
            }
            category = (uint32_t)answer;
        }
        if (category == ARRAY) {
            (void)is_overridden(walk, (uintptr_t)object, &category);
        }
        if (category == ARRAY && add_array(walk, object, -1, 1) == NOT_FOUND) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static int
collect_references(Walk *walk, PyObject *extra)
{
    if (block_grow(&walk->starts, ((size_t)num_fixed(walk) + 1) * sizeof(uint64_t)) < 0 ||
        (walk->least != 0 && block_grow(&walk->weights, ((size_t)walk->num_plain + 1) * sizeof(uint64_t)) < 0)) {
        PyErr_NoMemory();
        return -1;
    }
    if (traverse_plain(walk) < 0 || traverse_roots(walk) < 0) {
        return -1;
    }
    int again;
    do {
        if (add_extra(walk, extra) < 0 || (again = walk->num_pending == 0 ? 0 : classify_pending(walk)) < 0) {
            return -1;
        }
    } while (again > 0);
    for (uint32_t number = 0; number < walk->num_arrays; number++) {
        if (traverse_array(walk, number) < 0) {
            return -1;
        }
    }
    if ((uint64_t)num_fixed(walk) + walk->num_arrays > (uint64_t)MAX_OBJECTS) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* ---- third: mark what can reach a target ------------------------------------------------------------------ */

typedef struct {
    const uint32_t *from, *to;
} Range;

static inline Range
references_of(const Walk *walk, uint32_t number)
{
    const uint32_t *edges = walk->edges.start;
    if (number < num_fixed(walk)) {
        const uint64_t *starts = walk->starts.start;
        return (Range){edges + starts[number], edges + starts[number + 1]};
    }
    const Array *array = (const Array *)walk->arrays.start + (number - num_fixed(walk));
    return (Range){edges + array->start, edges + array->end};
}

/* Adds to each object's weight the arrays that nothing else holds. */
static void
weigh_arrays(Walk *walk)
{
    uint32_t count = num_fixed(walk) + walk->num_arrays;
    Array *arrays = walk->arrays.start;
    for (uint32_t number = 0; number < count; number++) {
        if (number >= walk->num_plain && number < num_fixed(walk)) {
            continue;
        }
        Range range = references_of(walk, number);
        uint64_t *weight = number < walk->num_plain ? (uint64_t *)walk->weights.start + number
                                                    : &arrays[number - num_fixed(walk)].weight;
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            if (*edge >= num_fixed(walk)) {
                const Array *array = arrays + (*edge - num_fixed(walk));
                if (array->bytes != 0 && Py_REFCNT(array->object) == 2 + (array->position >= 0)) {
                    *weight += array->bytes;
                }
            }
        }
    }
}

static uint64_t
weight_of(const Walk *walk, uint32_t number)
{
    if (walk->least == 0 || (number >= walk->num_plain && number < num_fixed(walk))) {
        return 0;
    }
    return number < walk->num_plain ? ((const uint64_t *)walk->weights.start)[number]
                                    : ((const Array *)walk->arrays.start)[number - num_fixed(walk)].weight;
}

static inline int
is_marked(const Walk *walk, uint32_t number)
{
    return (((const uint64_t *)walk->marks.start)[number >> 6] >> (number & 63)) & 1;
}

static inline void
mark(Walk *walk, uint32_t number)
{
    ((uint64_t *)walk->marks.start)[number >> 6] |= (uint64_t)1 << (number & 63);
}

static inline int
mark_by_references(Walk *walk, uint32_t number)
{
    if (is_marked(walk, number)) {
        return 0;
    }
    Range range = references_of(walk, number);
    for (const uint32_t *edge = range.from; edge < range.to; edge++) {
        if (is_marked(walk, *edge)) {
            mark(walk, number);
            return 1;
        }
    }
    return 0;
}

#define SWEEPS 6

/* Newly marked in one sweep over all references. Most of a heap settles in two or three. */
static uint64_t
sweep(Walk *walk, uint32_t count, int backward)
{
    uint64_t news = 0;
    for (uint32_t i = 0; i < count; i++) {
        news += (uint64_t)mark_by_references(walk, backward ? count - 1 - i : i);
    }
    return news;
}

/* What sweeps leave (long chains that jump about in memory): follow references backward, from a table of them. */
static int
mark_by_worklist(Walk *walk, uint32_t count)
{
    Block starts = {0}, sources = {0}, stack = {0};
    int result = -1;
    if (block_grow(&starts, ((size_t)count + 2) * sizeof(uint32_t)) < 0 ||
        block_grow(&stack, ((size_t)count + 1) * sizeof(uint32_t)) < 0) {
        goto done;
    }
    uint32_t *begin = (uint32_t *)starts.start + 1, *todo = stack.start;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_marked(walk, i)) {
            Range range = references_of(walk, i);
            for (const uint32_t *edge = range.from; edge < range.to; edge++) {
                begin[*edge]++;
            }
        }
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t here = begin[i];
        begin[i] = total;
        total += here;
    }
    if (block_grow(&sources, ((size_t)total + 1) * sizeof(uint32_t)) < 0) {
        goto done;
    }
    /* After this loop begin[i] is where the sources of i end, begin[i - 1] where they start. */
    uint32_t *source = sources.start;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_marked(walk, i)) {
            Range range = references_of(walk, i);
            for (const uint32_t *edge = range.from; edge < range.to; edge++) {
                source[begin[*edge]++] = i;
            }
        }
    }
    size_t waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (mark_by_references(walk, i)) {
            todo[waiting++] = i;
        }
        while (waiting > 0) {
            uint32_t number = todo[--waiting];
            for (uint32_t at = begin[(int64_t)number - 1]; at < begin[number]; at++) {
                if (!is_marked(walk, source[at])) {
                    mark(walk, source[at]);
                    todo[waiting++] = source[at];
                }
            }
        }
    }
    result = 0;
done:
    block_free(&starts);
    block_free(&sources);
    block_free(&stack);
    return result;
}

static int
mark_ancestry(Walk *walk)
{
    uint32_t count = num_fixed(walk) + walk->num_arrays;
    if (block_grow(&walk->marks, ((size_t)count / 64 + 1) * sizeof(uint64_t)) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    const uint32_t *positions = walk->targets.start;
    for (uint32_t i = 0; i < walk->num_targets; i++) {
        uintptr_t address = (uintptr_t)object_at(walk, positions[i]);
        if (IS_ODD(address)) {
            mark(walk, num_fixed(walk) + map_get(&walk->array_numbers, address));
        }
        else {
            mark(walk, number_at(&walk->pages, address));
        }
    }
    for (uint32_t number = 0; walk->least != 0 && number < count; number++) {
        if (weight_of(walk, number) >= walk->least) {
            mark(walk, number);
        }
    }
    for (int round = 0;; round++) {
        if (sweep(walk, count, round % 2 == 0) == 0) {
            return 0;
        }
        if (round + 1 >= SWEEPS && walk->num_edges < UINT32_MAX) {
            break;
        }
    }
    if (mark_by_worklist(walk, count) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* ---- last: the result, in the order of the list of objects ------------------------------------------------ */

typedef struct {
    uint32_t number, position;
} Node;

typedef struct {
    Block order; /* of each node, its number in the walk and its position in the list of objects */
    Block nodes; /* of each number in the walk, its node plus one */
    uint32_t count;
    uint64_t num_edges;
} Ancestry;

static int
add_node(Ancestry *ancestry, uint32_t number, uint32_t position)
{
    uint32_t *node = (uint32_t *)ancestry->nodes.start + number;
    if (*node != 0) {
        return 0;
    }
    if (block_reserve(&ancestry->order, (size_t)ancestry->count + 1, sizeof(Node)) < 0) {
        return -1;
    }
    ((Node *)ancestry->order.start)[ancestry->count++] = (Node){number, position};
    *node = ancestry->count;
    return 0;
}

static int
order_listed(Walk *walk, Ancestry *ancestry)
{
    const uint32_t *roots = walk->roots.start;
    const Array *arrays = walk->arrays.start;
    uint32_t next_root = 0, next_array = 0;
    Page *page = NULL;
    for (Py_ssize_t i = 0; i < walk->num_objects; i++) {
        uint32_t number = NOT_FOUND;
        if (next_root < walk->num_roots && roots[next_root] == i) {
            number = walk->num_plain + next_root++;
        }
        else if (next_array < walk->num_arrays && arrays[next_array].position == i) {
            number = num_fixed(walk) + next_array++;
        }
        else if (walk->pages.count != 0) {
            uintptr_t address = (uintptr_t)object_at(walk, i);
            if (page == NULL || page->key != PAGE_KEY(address)) {
                page = page_find(&walk->pages, PAGE_KEY(address));
            }
            number = page == NULL ? NOT_FOUND : page_number(page, GRANULE(address));
        }
        if (number != NOT_FOUND && is_marked(walk, number) && add_node(ancestry, number, (uint32_t)i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Gives arrays that nodes from `first` on refer to their place behind all others, and counts references. */
static int
order_arrays(Walk *walk, Ancestry *ancestry, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last && i < ancestry->count; i++) {
        Range range = references_of(walk, ((Node *)ancestry->order.start)[i].number);
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            if (is_marked(walk, *edge)) {
                ancestry->num_edges++;
                if (*edge >= num_fixed(walk) && add_node(ancestry, *edge, NOT_FOUND) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

static int
order_nodes(Walk *walk, Ancestry *ancestry, PyObject *extra)
{
    size_t count = (size_t)num_fixed(walk) + walk->num_arrays;
    if (block_grow(&ancestry->nodes, (count + 1) * sizeof(uint32_t)) < 0 || order_listed(walk, ancestry) < 0) {
        return -1;
    }
    /* Arrays that listed objects refer to come before those of `extra`, and both before nested ones. */
    uint32_t listed = ancestry->count;
    if (order_arrays(walk, ancestry, 0, listed) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(extra); i++) {
        uint32_t array = map_get(&walk->array_numbers, (uintptr_t)PySequence_Fast_GET_ITEM(extra, i));
        if (array != NOT_FOUND && is_marked(walk, num_fixed(walk) + array) &&
            add_node(ancestry, num_fixed(walk) + array, NOT_FOUND) < 0) {
            return -1;
        }
    }
    return order_arrays(walk, ancestry, listed, UINT32_MAX);
}

/* An `array.array` of `count` zeros and the memory behind it. */
static PyObject *
new_column(const char *typecode, Py_ssize_t itemsize, Py_ssize_t count, void **memory)
{
    PyObject *module = PyImport_ImportModule("array");
    PyObject *one = module == NULL ? NULL
                                   : PyObject_CallMethod(module, "array", "sy#", typecode, "\0\0\0\0\0\0\0", itemsize);
    PyObject *column = one == NULL ? NULL : PySequence_Repeat(one, count);
    Py_XDECREF(one);
    Py_XDECREF(module);
    if (column == NULL) {
        return NULL;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(column, &view, PyBUF_WRITABLE) < 0) {
        Py_DECREF(column);
        return NULL;
    }
    *memory = view.buf; /* nobody else can resize the new array while we fill it */
    if (view.itemsize != itemsize) {
        PyErr_SetString(PyExc_RuntimeError, "array.array has items of another size here");
        Py_CLEAR(column);
    }
    PyBuffer_Release(&view);
    return column;
}

static inline PyObject *
object_of(const Walk *walk, Node node)
{
    if (node.position != NOT_FOUND) {
        return object_at(walk, node.position);
    }
    return ((const Array *)walk->arrays.start)[node.number - num_fixed(walk)].object;
}

static void
fill_edges(Walk *walk, const Ancestry *ancestry, int32_t *source, int32_t *target)
{
    const Node *order = ancestry->order.start;
    const uint32_t *nodes = ancestry->nodes.start;
    for (uint32_t i = 0; i < ancestry->count; i++) {
        Range range = references_of(walk, order[i].number);
        for (const uint32_t *edge = range.from; edge < range.to; edge++) {
            uint32_t node = nodes[*edge]; /* 0: no node */
            if (node != 0) {
                *source++ = (int32_t)i;
                *target++ = (int32_t)node - 1;
            }
        }
    }
}

/* Gives up what the walk held on the way, so that it shows in no reference count. */
static void
release_held(Walk *walk)
{
    Array *arrays = walk->arrays.start;
    for (uint32_t i = 0; i < walk->num_arrays; i++) {
        Py_CLEAR(arrays[i].object);
    }
    for (size_t i = 0; walk->categories.entries != NULL && i <= walk->categories.mask; i++) {
        PyObject *type = (PyObject *)walk->categories.entries[i].key;
        walk->categories.entries[i].key = 0;
        Py_XDECREF(type);
    }
    walk->categories.used = 0;
}

static int64_t
references_held(PyObject *object, int64_t ours)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (_Py_IsImmortal(object)) {
        return -1;
    }
#endif
    return (int64_t)Py_REFCNT(object) - ours;
}

static PyObject *
build_result(Walk *walk, Ancestry *ancestry)
{
    void *source = NULL, *target = NULL, *refcounts = NULL, *weights = NULL;
    Py_ssize_t count = ancestry->count, num_edges = (Py_ssize_t)ancestry->num_edges;
    PyObject *nodes = PyList_New(count);
    PyObject *sources = nodes == NULL ? NULL : new_column("i", 4, num_edges, &source);
    PyObject *targets = sources == NULL ? NULL : new_column("i", 4, num_edges, &target);
    PyObject *counts = targets == NULL ? NULL : new_column("q", 8, count, &refcounts);
    PyObject *held = counts == NULL ? NULL : new_column("q", 8, count, &weights);
    PyObject *result = NULL;
    if (held != NULL && check_list(walk) == 0) {
        fill_edges(walk, ancestry, source, target);
        const Node *order = ancestry->order.start;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (i + 12 < count) {
                PREFETCH(object_of(walk, order[i + 12]));
            }
            PyObject *object = object_of(walk, order[i]);
            Py_INCREF(object);
            PyList_SET_ITEM(nodes, i, object);
            ((int64_t *)refcounts)[i] = 1 + (order[i].position != NOT_FOUND);
            ((int64_t *)weights)[i] = (int64_t)weight_of(walk, order[i].number);
        }
        release_held(walk);
        for (Py_ssize_t i = 0; i < count; i++) {
            ((int64_t *)refcounts)[i] = references_held(PyList_GET_ITEM(nodes, i), ((int64_t *)refcounts)[i]);
        }
        result = PyTuple_Pack(5, nodes, sources, targets, counts, held);
    }
    Py_XDECREF(nodes);
    Py_XDECREF(sources);
    Py_XDECREF(targets);
    Py_XDECREF(counts);
    Py_XDECREF(held);
    return result;
}

static void
free_walk(Walk *walk)
{
    release_held(walk);
    PyMem_RawFree(walk->categories.entries);
    PyMem_RawFree(walk->overrides.entries);
    PyMem_RawFree(walk->array_numbers.entries);
    PyMem_RawFree(walk->pages.slots);
    PyMem_RawFree(walk->pending);
    block_free(&walk->pages.pages);
    block_free(&walk->targets);
    block_free(&walk->roots);
    block_free(&walk->arrays);
    block_free(&walk->edges);
    block_free(&walk->starts);
    block_free(&walk->marks);
    block_free(&walk->weights);
    PyMem_RawFree(walk);
}

static PyObject *
run_walk(Walk *walk, PyObject *roots, PyObject *ignore, PyObject *extra)
{
    if (add_override(walk, roots, ROOT) < 0 || add_override(walk, ignore, IGNORE) < 0 || sort_objects(walk) < 0) {
        return NULL;
    }
    if (walk->pages.count == 0 && page_add(&walk->pages, 0) == NULL) {
        return PyErr_NoMemory();
    }
    number_pages(walk);
    if (collect_references(walk, extra) < 0) {
        return NULL;
    }
    if (walk->least != 0 && walk->any_bytes) {
        weigh_arrays(walk);
    }
    if (mark_ancestry(walk) < 0) {
        return NULL;
    }
    Ancestry ancestry = {0};
    PyObject *result = NULL;
    if (order_nodes(walk, &ancestry, extra) < 0) {
        PyErr_NoMemory();
    }
    else {
        result = build_result(walk, &ancestry);
    }
    block_free(&ancestry.order);
    block_free(&ancestry.nodes);
    return result;
}

PyDoc_STRVAR(walk_doc, "walk(objects, classify, roots, ignore, extra, contents, least_bytes)"
                       " -> (nodes, source, target, refcounts, host_bytes)");

static PyObject *
heapwalk_walk(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects, *classify, *roots, *ignore, *extra, *contents;
    unsigned long long least = 0;
    if (!PyArg_ParseTuple(args, "O!OOOOOK:walk", &PyList_Type, &objects, &classify, &roots, &ignore, &extra, &contents,
                          &least)) {
        return NULL;
    }
    if (PyList_GET_SIZE(objects) > MAX_OBJECTS) {
        PyErr_SetString(PyExc_OverflowError, "more objects than a walk can number");
        return NULL;
    }
    if (!PyList_Check(extra) && !PyTuple_Check(extra)) {
        PyErr_SetString(PyExc_TypeError, "extra must be a list or a tuple"); /* a copy would hold what it counts */
        return NULL;
    }
    Walk *walk = PyMem_RawCalloc(1, sizeof(Walk));
    if (walk == NULL) {
        return PyErr_NoMemory();
    }
    walk->objects = objects;
    walk->classify = classify;
    walk->contents = contents;
    walk->least = least;
    walk->num_objects = PyList_GET_SIZE(objects);
    PyObject *result = run_walk(walk, roots, ignore, extra);
    free_walk(walk);
    return result;
}

/* ---- frames ----------------------------------------------------------------------------------------------- */

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

/* ---- threads ---------------------------------------------------------------------------------------------- */

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

/* ---- instances whose __dict__ was never made -------------------------------------------------------------- */

#ifdef INTERNAL_HEADERS
static PyDictValues *
inline_values(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030D0000
    if (!(type->tp_flags & Py_TPFLAGS_INLINE_VALUES) || _PyObject_GetManagedDict(object) != NULL) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(object);
    return values->valid ? values : NULL;
#else
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030C0000
    PyDictOrValues found = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(found) ? _PyDictOrValues_GetValues(found) : NULL;
#else
    return *_PyObject_ValuesPointer(object);
#endif
#endif
}
#endif

PyDoc_STRVAR(instance_values_doc,
             "instance_values(object) -> [(name, value)] where no __dict__ was made for it yet, else None");

static PyObject *
heapwalk_instance_values(PyObject *Py_UNUSED(module), PyObject *object)
{
#ifdef INTERNAL_HEADERS
    PyDictValues *values = inline_values(object);
    PyDictKeysObject *keys = values == NULL ? NULL : ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
    if (keys != NULL && DK_IS_UNICODE(keys)) {
        PyObject *list = PyList_New(0);
        for (Py_ssize_t i = 0; list != NULL && i < keys->dk_nentries; i++) {
            PyObject *name = DK_UNICODE_ENTRIES(keys)[i].me_key, *value = values->values[i];
            if (name != NULL && value != NULL && append_pair(list, name, value) < 0) {
                Py_CLEAR(list);
            }
        }
        return list;
    }
#else
    (void)object;
#endif
    Py_RETURN_NONE;
}

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
