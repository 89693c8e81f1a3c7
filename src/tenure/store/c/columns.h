/* Part of _snapshot_columns.c: columns of numbers out of containers. */
#ifndef TENURE_SNAPSHOT_COLUMNS_H
#define TENURE_SNAPSHOT_COLUMNS_H

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

#endif
