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

/* ---- the window -------------------------------------------------------------------------------------------- */

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

/* ---- rows of words that are kept once ------------------------------------------------------------------------ */

static inline uint64_t
mixed(uint64_t hash, Word word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint32_t
hash_of(const Reader *r, const Word *words, size_t count)
{
    uint64_t one = r->seed ^ count, two = ~r->seed, three = r->seed + 1, four = r->seed - 1; /* side by side */
    size_t place = 0;
    for (; place + 4 <= count; place += 4) {
        one = mixed(one, words[place]);
        two = mixed(two, words[place + 1]);
        three = mixed(three, words[place + 2]);
        four = mixed(four, words[place + 3]);
    }
    for (; place < count; place++) {
        one = mixed(one, words[place]);
    }
    return (uint32_t)(mixed(mixed(mixed(one, two), three), four) >> 20);
}

static int
put_rows_anew(Reader *r)
{
    size_t room = r->table_room ? r->table_room * 2 : 4096;
    uint32_t *table = malloc(room * sizeof(*table));
    if (table == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    memset(table, 0xff, room * sizeof(*table));
    for (size_t number = 0; number < r->num_rows; number++) {
        size_t place = r->rows[number].hash & (room - 1);
        for (int probe = 0; probe < MOST_PROBES && table[place] != NO_ID; probe++) {
            place = (place + 1) & (room - 1);
        }
        if (table[place] == NO_ID) {
            table[place] = (uint32_t)number; /* else it is not found again: its words are kept twice */
        }
    }
    free(r->table);
    r->table = table;
    r->table_room = room;
    return 1;
}

static int
keep_words(Reader *r, const Word *words, size_t count, uint64_t *place)
{
    if (!GROW(r, arena, used, arena_room, count)) {
        return 0;
    }
    if (count) {
        memcpy(r->arena + r->used, words, count * sizeof(*words));
    }
    *place = r->used;
    r->used += count;
    return 1;
}

/* The number of the row of these words (outside of the arena), made where there is none; `is_old` says which. */
static int
intern(Reader *r, const Word *words, size_t count, uint32_t *found, int *is_old)
{
    if (r->num_rows * 2 >= r->table_room && !put_rows_anew(r)) {
        return 0;
    }
    uint32_t hash = hash_of(r, words, count);
    size_t place = hash & (r->table_room - 1);
    int probe = 0;
    for (; probe < MOST_PROBES && r->table[place] != NO_ID; probe++) {
        const Row *row = &r->rows[r->table[place]];
        if (row->hash == hash && row->count == count &&
            memcmp(r->arena + row->place, words, count * sizeof(*words)) == 0) {
            *found = r->table[place];
            *is_old = 1;
            return 1;
        }
        place = (place + 1) & (r->table_room - 1);
    }
    if (probe == MOST_PROBES || r->num_rows >= NO_ID - 1) {
        return 0; /* chosen to collide */
    }
    if (!GROW(r, rows, num_rows, rows_room, 1)) {
        return 0;
    }
    Row *row = &r->rows[r->num_rows];
    if (!keep_words(r, words, count, &row->place)) {
        return 0;
    }
    row->count = (uint32_t)count;
    row->hash = hash;
    row->id = NO_ID;
    r->table[place] = *found = (uint32_t)r->num_rows++;
    *is_old = 0;
    return 1;
}

/* ---- the machine ------------------------------------------------------------------------------------------- */

static inline int
push(Reader *r, Word word)
{
    if (!GROW(r, stack, depth, stack_room, 1)) {
        return 0;
    }
    r->stack[r->depth++] = word;
    return 1;
}

static inline size_t
fence(const Reader *r)
{
    return r->num_marks ? r->marks[r->num_marks - 1] : 0;
}

static inline int
push_number(Reader *r, int64_t number)
{
    return number < LARGEST && number > -LARGEST && push(r, WORD(INT, number));
}

static int
push_container(Reader *r, int kind, const Word *words, size_t count)
{
    if ((int64_t)r->num_containers > FREE_CONTAINERS + (r->before + r->at) / LEAST_PER_CONTAINER ||
        r->num_containers >= NO_ID || !GROW(r, containers, num_containers, containers_room, 1)) {
        return 0;
    }
    Container *made = &r->containers[r->num_containers];
    memset(made, 0, sizeof(*made));
    made->kind = (uint8_t)kind;
    made->row = NO_ID;
    made->count = (uint32_t)count;
    if (count && !keep_words(r, words, count, &made->place)) {
        return 0;
    }
    return push(r, WORD(CONTAINER, r->num_containers++));
}

static int
push_tuple(Reader *r, size_t count)
{
    if (r->depth < fence(r) + count) {
        return 0;
    }
    Word words[3];
    r->depth -= count;
    memcpy(words, r->stack + r->depth, count * sizeof(*words));
    for (size_t place = 0; place < count; place++) {
        if (KIND(words[place]) != INT) {
            return 0;
        }
    }
    return push_container(r, TUPLE, words, count);
}

static int
number_of_text(Reader *r, const char *bytes, Py_ssize_t size, Py_ssize_t *number)
{
    PyObject *text = PyUnicode_DecodeUTF8(bytes, size, "surrogatepass");
    if (text == NULL) {
        PyErr_Clear();
        return 0;
    }
    PyObject *known = PyDict_GetItemWithError(r->text_number, text);
    if (known != NULL) {
        *number = PyLong_AsSsize_t(known);
        Py_DECREF(text);
        return 1;
    }
    *number = PyList_GET_SIZE(r->texts);
    PyObject *new_number = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(*number);
    int kept = new_number != NULL && PyDict_SetItem(r->text_number, text, new_number) == 0 &&
               PyList_Append(r->texts, text) == 0;
    Py_XDECREF(new_number);
    Py_DECREF(text);
    return kept;
}

static int
push_text(Reader *r, uint64_t size)
{
    Py_ssize_t number;
    if (size > (uint64_t)LONGEST_TEXT || !need(r, (Py_ssize_t)size) ||
        !number_of_text(r, (const char *)r->window + r->at, (Py_ssize_t)size, &number)) {
        return 0;
    }
    r->at += (Py_ssize_t)size;
    return push(r, WORD(TEXT, number));
}

static int
memoize(Reader *r, size_t place)
{
    if (place > r->num_memo || r->depth <= fence(r)) {
        return 0;
    }
    if (place == r->num_memo) {
        if (!GROW(r, memo, num_memo, memo_room, 1)) {
            return 0;
        }
        r->num_memo++;
    }
    r->memo[place] = r->stack[r->depth - 1];
    return 1;
}

static inline int
recall(Reader *r, size_t place)
{
    return place < r->num_memo && push(r, r->memo[place]);
}

static Container *
container(Reader *r, Word word, int kind)
{
    if (KIND(word) != CONTAINER) {
        return NULL;
    }
    Container *found = &r->containers[VALUE(word)];
    return found->kind == kind ? found : NULL;
}

static int
all_containers(const Word *words, size_t count)
{
    for (size_t place = 0; place < count; place++) {
        if (KIND(words[place]) != CONTAINER) {
            return 0;
        }
    }
    return 1;
}

/* The topmost `count` words go to the list below them. */
static int
append(Reader *r, size_t count)
{
    if (r->depth < fence(r) + count + 1) {
        return 0;
    }
    const Word *words = r->stack + r->depth - count;
    Container *list = container(r, words[-1], LIST);
    if (list == NULL || (uint64_t)list->count + count >= UINT32_MAX / 2) {
        return 0;
    }
    r->depth -= count;
    if (count == 0) {
        return 1;
    }
    if (list->count == 0 && count < MOST_PAIRS && all_containers(words, count)) { /* a list of frames, most likely */
        int is_old;
        uint32_t row;
        if (!intern(r, words, count, &row, &is_old)) {
            return 0;
        }
        list->place = r->rows[row].place;
        list->count = (uint32_t)count;
        list->room = 0;
        list->row = row;
        return 1;
    }
    if (list->count + count > list->room) {
        size_t room = list->count + count;
        room = room < 8 ? 8 : room * 2;
        if (!GROW(r, arena, used, arena_room, room)) {
            return 0;
        }
        memcpy(r->arena + r->used, r->arena + list->place, list->count * sizeof(Word));
        list->place = r->used;
        list->room = (uint32_t)(room > UINT32_MAX ? UINT32_MAX : room);
        list->row = NO_ID;
        r->used += room;
    }
    memcpy(r->arena + list->place + list->count, words, count * sizeof(Word));
    list->count += (uint32_t)count;
    return 1;
}

/* The topmost `count` words, keys and values in turn, go to the empty dict below them. */
static int
set_items(Reader *r, size_t count)
{
    if (count % 2 || count > 2 * MOST_PAIRS || r->depth < fence(r) + count + 1) {
        return 0;
    }
    const Word *words = r->stack + r->depth - count;
    Container *dict = container(r, words[-1], DICT);
    if (dict == NULL || dict->count) {
        return 0;
    }
    r->depth -= count;
    size_t num_pairs = count / 2;
    if (num_pairs == 0) {
        return 1;
    }
    Word keys[MOST_PAIRS], values[MOST_PAIRS];
    for (size_t pair = 0; pair < num_pairs; pair++) {
        keys[pair] = words[2 * pair];
        values[pair] = words[2 * pair + 1];
        if (KIND(keys[pair]) != TEXT) {
            return 0;
        }
    }
    int is_old;
    dict->count = (uint32_t)num_pairs;
    return intern(r, keys, num_pairs, &dict->room, &is_old) && keep_words(r, values, num_pairs, &dict->place);
}

static int
to_mark(Reader *r, size_t *count)
{
    if (r->num_marks == 0) {
        return 0;
    }
    *count = r->depth - fence(r);
    r->num_marks--;
    return 1;
}

#define MOST_RECALLED 4096

/* Most of a snapshot are frames, each a reference to one that was told before: a run of these, as far as the window
 * and the room on the stack go. */
static int
recall_run(Reader *r)
{
    if (!GROW(r, stack, depth, stack_room, MOST_RECALLED)) {
        return 0;
    }
    const unsigned char *at = r->window + r->at, *last = r->window + r->end - 5;
    Word *top = r->stack + r->depth, *full = top + MOST_RECALLED;
    while (at <= last && top < full) {
        size_t place, width;
        if (*at == 'h') {
            place = at[1];
            width = 2;
        }
        else if (*at == 'j') {
            place = (size_t)at[1] | (size_t)at[2] << 8 | (size_t)at[3] << 16 | (size_t)at[4] << 24;
            width = 5;
        }
        else {
            break;
        }
        if (place >= r->num_memo) {
            return 0;
        }
        *top++ = r->memo[place];
        at += width;
    }
    r->at = at - r->window;
    r->depth = (size_t)(top - r->stack);
    return 1;
}

/* Plays the pickle to its end; its value is left on the stack alone. */
static int
play(Reader *r)
{
    size_t count;
    for (;;) {
        if (r->end - r->at >= 5 && (r->window[r->at] == 'h' || r->window[r->at] == 'j') && !recall_run(r)) {
            return 0;
        }
        if (!need(r, 1)) {
            return 0;
        }
        unsigned char code = r->window[r->at++];
        int done = 0;
        int width = 0;
        switch (code) { /* how many bytes follow */
        case 0x80: case 'h': case 'q': case 'K': case 0x8c: case 0x8a: width = 1; break;
        case 'M': width = 2; break;
        case 'J': case 'j': case 'r': case 'X': width = 4; break;
        case 'G': case 0x95: width = 8; break;
        default: break;
        }
        if (width && !need(r, width)) {
            return 0;
        }
        uint64_t told = width ? little(r->window + r->at, width) : 0;
        const unsigned char *bytes = r->window + r->at;
        r->at += width;
        switch (code) {
        case 'h':
        case 'j':
            done = recall(r, (size_t)told);
            break;
        case 0x94:
            done = memoize(r, r->num_memo);
            break;
        case 'q':
        case 'r':
            done = memoize(r, (size_t)told);
            break;
        case 'K':
        case 'M':
            done = push_number(r, (int64_t)told);
            break;
        case 'J':
            done = push_number(r, (int32_t)(uint32_t)told);
            break;
        case 0x8a: {
            int size = (int)told;
            if (size > 8 || !need(r, size)) {
                return 0;
            }
            uint64_t number = little(r->window + r->at, size);
            if (size && size < 8 && (number >> (8 * size - 1))) {
                number |= UINT64_MAX << (8 * size);
            }
            r->at += size;
            done = push_number(r, (int64_t)number);
            break;
        }
        case 0x8c:
        case 'X':
            done = push_text(r, told);
            break;
        case '}':
            done = push_container(r, DICT, NULL, 0);
            break;
        case ']':
            done = push_container(r, LIST, NULL, 0);
            break;
        case ')':
            done = push_container(r, TUPLE, NULL, 0);
            break;
        case '(':
            done = GROW(r, marks, num_marks, marks_room, 1);
            if (done) {
                r->marks[r->num_marks++] = r->depth;
            }
            break;
        case 'e':
            done = to_mark(r, &count) && append(r, count);
            break;
        case 'a':
            done = append(r, 1);
            break;
        case 'u':
            done = to_mark(r, &count) && set_items(r, count);
            break;
        case 's':
            done = set_items(r, 2);
            break;
        case 't':
            done = to_mark(r, &count) && count <= 3 && push_tuple(r, count);
            break;
        case 0x85:
        case 0x86:
        case 0x87:
            done = push_tuple(r, (size_t)(code - 0x84));
            break;
        case 'N':
            done = push(r, NONE);
            break;
        case 0x88:
            done = push(r, TRUE_WORD);
            break;
        case 0x89:
            done = push(r, FALSE_WORD);
            break;
        case 'G': {
            uint64_t place, raw = 0;
            for (int byte = 0; byte < 8; byte++) {
                raw = raw << 8 | bytes[byte];
            }
            done = keep_words(r, &raw, 1, &place) && push(r, WORD(REAL, place));
            break;
        }
        case 0x80:
            done = told <= 5;
            break;
        case 0x95:
            done = told < (UINT64_C(1) << 50);
            r->frame_end = done ? r->before + r->at + (int64_t)told : 0;
            break;
        case '.':
            return r->depth == 1 && r->num_marks == 0 && r->frame_end <= r->before + r->at;
        default:
            break;
        }
        if (!done) {
            return 0;
        }
    }
}

/* ---- what was read ------------------------------------------------------------------------------------------- */

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

/* ---- columns ----------------------------------------------------------------------------------------------- */

#define MOST_COLUMNS 8

/* `num` columns of `rows` numbers each; their memory in `columns`. */
static PyObject *
new_columns(int num, size_t rows, int64_t **columns)
{
    PyObject *made = PyTuple_New(num);
    for (int number = 0; made != NULL && number < num; number++) {
        PyObject *column = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * sizeof(int64_t)));
        if (column == NULL) {
            Py_CLEAR(made);
            break;
        }
        columns[number] = (int64_t *)PyByteArray_AS_STRING(column);
        PyTuple_SET_ITEM(made, number, column);
    }
    return made;
}

typedef struct {
    int64_t device, address;
    size_t place;
    Word word;
} Ordered;

static int
by_place(const void *first, const void *second)
{
    const Ordered *one = first, *two = second;
    if (one->device != two->device) {
        return one->device < two->device ? -1 : 1;
    }
    if (one->address != two->address) {
        return one->address < two->address ? -1 : 1;
    }
    return one->place < two->place ? -1 : 1;
}

static int
read_blocks(Reader *r, Shape *frames, Word listed, int64_t number, int64_t place, int64_t **columns, size_t *row)
{
    Shape shape = {.row = NO_ID};
    const Word *blocks;
    size_t count;
    if (!items_of(r, listed, 0, &blocks, &count)) {
        return 0;
    }
    uint64_t from = count ? r->containers[VALUE(listed)].place : 0;
    for (size_t which = 0; which < count; which++) {
        const Container *block = container(r, r->arena[from + which], DICT);
        int64_t size, requested, stack;
        if (block == NULL || !as_number(field(r, &shape, block, F_address), 1, place, &place) ||
            !as_number(field(r, &shape, block, F_size), 0, 0, &size)) {
            return 0;
        }
        Word asked = field(r, &shape, block, F_requested_size);
        asked = asked == MISSING ? field(r, &shape, block, F_real_size) : asked;
        asked = asked == NONE ? MISSING : asked;
        Word state = field(r, &shape, block, F_state);
        if (!as_number(asked, 1, size, &requested) || KIND(state) != TEXT || VALUE(state) < T_FIRST_STATE ||
            VALUE(state) >= T_FIRST_STATE + NUM_STATES ||
            !stack_number(r, frames, field(r, &shape, block, F_frames), &stack)) {
            return 0;
        }
        int64_t state_number = (int64_t)(VALUE(state) - T_FIRST_STATE);
        const int64_t told[] = {number, place, size, requested, state_number > 2 ? 2 : state_number, stack};
        for (int column = 0; column < 6; column++) {
            columns[column][*row] = told[column];
        }
        place += size;
        ++*row;
    }
    return 1;
}

/* (columns of segments, columns of blocks), or NULL. */
static PyObject *
read_segments(Reader *r, Shape *frames, Word listed)
{
    Shape shape = {.row = NO_ID};
    const Word *items;
    size_t count, num_blocks = 0, row = 0;
    if (!items_of(r, listed, 0, &items, &count)) {
        return NULL;
    }
    Ordered *order = malloc((count + 1) * sizeof(*order));
    if (order == NULL) {
        return PyErr_NoMemory();
    }
    int64_t *columns[MOST_COLUMNS], *of_blocks[MOST_COLUMNS];
    PyObject *segments = NULL, *blocks = NULL;
    int done = 1;
    for (size_t place = 0; done && place < count; place++) {
        const Container *segment = container(r, items[place], DICT);
        const Word *inside;
        size_t num_inside = 0;
        order[place].place = place;
        order[place].word = items[place];
        done = segment != NULL && as_number(field(r, &shape, segment, F_device), 1, 0, &order[place].device) &&
               as_number(field(r, &shape, segment, F_address), 0, 0, &order[place].address) &&
               items_of(r, field(r, &shape, segment, F_blocks), 0, &inside, &num_inside);
        num_blocks += num_inside;
        done = done && num_blocks <= r->num_containers; /* a list of blocks belongs to one segment */
    }
    if (done) {
        qsort(order, count, sizeof(*order), by_place);
        segments = new_columns(7, count, columns);
        blocks = segments == NULL ? NULL : new_columns(6, num_blocks, of_blocks);
        done = blocks != NULL;
    }
    for (size_t number = 0; done && number < count; number++) {
        const Container *segment = container(r, order[number].word, DICT);
        Word expandable = field(r, &shape, segment, F_is_expandable);
        columns[0][number] = order[number].device;
        columns[1][number] = order[number].address;
        columns[4][number] = field(r, &shape, segment, F_segment_type) == WORD(TEXT, T_SMALL);
        columns[5][number] = KIND(expandable) == INT ? NUMBER(expandable) != 0 : expandable == TRUE_WORD;
        done = (KIND(expandable) == INT || KIND(expandable) == OTHER) &&
               as_number(field(r, &shape, segment, F_total_size), 0, 0, &columns[2][number]) &&
               as_number(field(r, &shape, segment, F_stream), 1, 0, &columns[3][number]) &&
               pool_number(r, field(r, &shape, segment, F_segment_pool_id), &columns[6][number]);
    }
    for (size_t number = 0; done && number < count; number++) {
        const Container *segment = container(r, order[number].word, DICT);
        done = read_blocks(r, frames, field(r, &shape, segment, F_blocks), (int64_t)number, order[number].address,
                           of_blocks, &row);
    }
    free(order);
    PyObject *found = done ? PyTuple_Pack(2, segments, blocks) : NULL;
    Py_XDECREF(segments);
    Py_XDECREF(blocks);
    return found;
}

static PyObject *
read_events(Reader *r, Shape *frames, Word listed, size_t *total)
{
    Shape shape = {.row = NO_ID};
    const Word *items;
    size_t count;
    if (!items_of(r, listed, 0, &items, &count) || (*total += count) > r->num_containers) {
        return NULL; /* each event is a dict of its own */
    }
    uint64_t from = count ? r->containers[VALUE(listed)].place : 0;
    int64_t *columns[MOST_COLUMNS];
    PyObject *made = new_columns(8, count, columns);
    int done = made != NULL;
    for (size_t row = 0; done && row < count; row++) {
        const Container *event = container(r, r->arena[from + row], DICT);
        if (event == NULL) {
            done = 0;
            break;
        }
        Word action = field(r, &shape, event, F_action);
        Word address = field(r, &shape, event, F_addr);
        if (KIND(action) != TEXT) {
            done = 0;
            break;
        }
        int is_known = VALUE(action) >= T_FIRST_ACTION && VALUE(action) < T_FIRST_ACTION + NUM_ACTIONS;
        columns[0][row] = is_known ? (int64_t)(VALUE(action) - T_FIRST_ACTION + 1) : 0;
        Word pool = field(r, &shape, event, F_pool_id);
        done = (is_known || count_unknown(r, PyList_GET_ITEM(r->texts, (Py_ssize_t)VALUE(action)))) &&
               as_number(address == MISSING ? field(r, &shape, event, F_device_free) : address, 0, 0,
                         &columns[1][row]) &&
               as_number(field(r, &shape, event, F_size), 1, 0, &columns[2][row]) &&
               as_number(field(r, &shape, event, F_stream), 1, 0, &columns[3][row]) &&
               as_number(field(r, &shape, event, F_time_us), 1, -1, &columns[4][row]) &&
               stack_number(r, frames, field(r, &shape, event, F_frames), &columns[5][row]) &&
               (pool == MISSING || pool_number(r, pool, &columns[6][row])) &&
               label_number(r, field(r, &shape, event, F_user_metadata), &columns[7][row]);
        if (pool == MISSING) {
            columns[6][row] = -1;
        }
    }
    if (!done) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *
pools_found(const Reader *r)
{
    PyObject *made = PyTuple_New(r->num_pools);
    for (int place = 0; made != NULL && place < r->num_pools; place++) {
        PyObject *pool = Py_BuildValue("(LL)", (long long)r->pools[place][0], (long long)r->pools[place][1]);
        if (pool == NULL) {
            Py_CLEAR(made);
            break;
        }
        PyTuple_SET_ITEM(made, place, pool);
    }
    return made;
}

static PyObject *
collect(Reader *r)
{
    Shape shape = {.row = NO_ID}, frames = {.row = NO_ID};
    Word root = r->stack[0], traces_told = MISSING, settings_told = MISSING, annotations_told = MISSING;
    Word segments_told = root;
    const Container *told = container(r, root, DICT);
    if (told != NULL) {
        segments_told = field(r, &shape, told, F_segments);
        traces_told = field(r, &shape, told, F_device_traces);
        settings_told = field(r, &shape, told, F_allocator_settings);
        annotations_told = field(r, &shape, told, F_external_annotations);
    }
    const Word *items;
    size_t num_traces, num_annotations, total = 0;
    size_t num_texts = (size_t)PyList_GET_SIZE(r->texts) + 1;
    r->label_of_text = malloc(num_texts * sizeof(*r->label_of_text));
    if (r->label_of_text == NULL) {
        return PyErr_NoMemory();
    }
    memset(r->label_of_text, 0xff, num_texts * sizeof(*r->label_of_text));
    if (!items_of(r, annotations_told, 1, &items, &num_annotations) ||
        !items_of(r, traces_told, 1, &items, &num_traces)) {
        return NULL;
    }
    uint64_t from = num_traces ? r->containers[VALUE(traces_told)].place : 0;
    PyObject *segments = read_segments(r, &frames, segments_told);
    PyObject *traces = segments == NULL ? NULL : PyTuple_New((Py_ssize_t)num_traces);
    for (size_t device = 0; traces != NULL && device < num_traces; device++) {
        PyObject *events = read_events(r, &frames, r->arena[from + device], &total);
        if (events == NULL) {
            Py_CLEAR(traces);
            break;
        }
        PyTuple_SET_ITEM(traces, (Py_ssize_t)device, events);
    }
    PyObject *settings = traces == NULL ? NULL : as_object(r, settings_told, 0);
    PyObject *annotations = settings == NULL ? NULL : as_object(r, annotations_told, 0);
    PyObject *pools = annotations == NULL ? NULL : pools_found(r);
    PyObject *found = pools == NULL ? NULL
                                    : PyTuple_Pack(9, segments, traces, r->stacks, r->frames, pools, r->labels,
                                                   annotations, settings, r->unknown);
    Py_XDECREF(segments);
    Py_XDECREF(traces);
    Py_XDECREF(settings);
    Py_XDECREF(annotations);
    Py_XDECREF(pools);
    return found;
}

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
