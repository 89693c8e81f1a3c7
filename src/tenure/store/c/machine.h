/* Part of _snapshot_columns.c: the small machine that plays the pickle's opcodes. */
#ifndef TENURE_SNAPSHOT_MACHINE_H
#define TENURE_SNAPSHOT_MACHINE_H

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

#endif
