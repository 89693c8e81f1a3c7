/* Part of _snapshot_columns.c: rows of words that are kept once. */
#ifndef TENURE_SNAPSHOT_ROWS_H
#define TENURE_SNAPSHOT_ROWS_H

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

#endif
