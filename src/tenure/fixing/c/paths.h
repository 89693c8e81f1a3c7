/* Where a path leads: out of the program's sight into the mirror, or nowhere else than it says.
 *
 * TENURE_GUARD holds lines: the scratch folder; `=SPELLED` and below it the folder itself for each folder whose mirror
 * lies in `scratch/work`, followed by its own path; `!FOLDER` for each that nobody may write to. All system calls here
 * are made directly, for the functions of the library are those that are guarded. Nothing is allocated.
 */

#define ROOM 4200
#define MOST_FOLDERS 32
#define MOST_LINKS 40

struct folder {
    const char *spelled;
    const char *real;
};

static char guard_text[8 * ROOM];
static char guard_base[ROOM], guard_log[ROOM];
static const char *guard_own;
static struct folder guard_roots[MOST_FOLDERS];
static const char *guard_kept[MOST_FOLDERS];
static int num_roots, num_kept, is_ready;

static int is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int join_paths(char *out, const char *first, const char *middle, const char *last)
{
    int length = snprintf(out, ROOM, "%s%s%s", first, middle, last);
    if (length < 0 || length >= ROOM) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

static ssize_t raw_readlink(const char *path, char *target)
{
    int before = errno;
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, path, target, (size_t)ROOM - 1);
    target[length > 0 ? length : 0] = 0;
    errno = before;
    return length;
}

/* Take out `.`, `..` and doubled slashes of a whole path, as it is written. */
static void make_plain(char *path)
{
    char *out = path;
    for (char *part = path; *part;) {
        while (*part == '/')
            part++;
        size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.') {
            while (out > path && *--out != '/')
                ;
        } else if (length && !(length == 1 && part[0] == '.')) {
            *out++ = '/';
            memmove(out, part, length);
            out += length;
        }
        part += length;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
}

/* The whole path of one that is relative to a folder's descriptor; -1 where that folder is not known. */
static int make_whole(int at, const char *path, char *out)
{
    char folder[ROOM], descriptor[64];
    if (path[0] == '/')
        return join_paths(out, path, "", "");
    if (at == AT_FDCWD) {
        if (syscall(SYS_getcwd, folder, (size_t)ROOM) < 0)
            return -1;
    } else {
        snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", at);
        if (raw_readlink(descriptor, folder) <= 0)
            return -1;
    }
    return join_paths(out, folder, "/", path);
}

/* From a plain path to the one in the mirror, in place: 1 where there is one. */
static int to_mirror(char *path)
{
    char mirrored[ROOM];
    if (is_below(path, guard_base))
        return 1;
    if (is_below(path, guard_own))
        return 0;
    for (int at = 0; at < num_roots; at++) {
        const struct folder *root = &guard_roots[at];
        if (is_below(path, root->spelled) &&
            join_paths(mirrored, guard_base, root->real, path + strlen(root->spelled)) == 0) {
            strcpy(path, mirrored);
            return 1;
        }
    }
    return 0;
}

/* Put the path of the folder, with all links followed, in place of the one that is written; -1 where there is none. */
static int resolve_folder(char *path)
{
    char folder[ROOM], whole[ROOM], descriptor[64], *name = strrchr(path, '/');
    *name = 0;
    int number = (int)syscall(SYS_openat, AT_FDCWD, *path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    *name = '/';
    if (number < 0)
        return -1;
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", number);
    ssize_t length = raw_readlink(descriptor, folder);
    syscall(SYS_close, number);
    if (length <= 0 || join_paths(whole, strcmp(folder, "/") ? folder : "", name, "") != 0)
        return -1;
    strcpy(path, whole);
    return 0;
}

/* The same for a path that leads there by links alone; `follows` where its own name may be one of them. */
static int to_mirror_by_links(char *path, int follows)
{
    char target[ROOM], whole[ROOM];
    for (int hops = 0; hops < MOST_LINKS && resolve_folder(path) == 0; hops++) {
        if (to_mirror(path))
            return 1;
        if (!follows || raw_readlink(path, target) <= 0)
            return 0;
        *strrchr(path, '/') = 0;
        if (join_paths(whole, target[0] == '/' ? "" : path, target[0] == '/' ? "" : "/", target) != 0)
            return 0;
        make_plain(strcpy(path, whole));
        if (to_mirror(path))
            return 1;
    }
    return 0;
}

/* A path in the mirror that is a link of ours: to what it stands for, which the program takes it to be. */
static int is_stand_in(const char *path, char *target)
{
    return raw_readlink(path, target) > 0 && target[0] == '/' && !is_below(target, guard_base);
}

static void read_guard(void)
{
    const char *text = getenv("TENURE_GUARD");
    if (text == NULL || strlen(text) >= sizeof guard_text)
        return;
    char *rest = strcpy(guard_text, text), *line;
    guard_own = strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (line[0] == '=' && num_roots < MOST_FOLDERS) {
            guard_roots[num_roots].spelled = line + 1;
            guard_roots[num_roots].real = strsep(&rest, "\n");
            num_roots += guard_roots[num_roots].real != NULL;
        } else if (line[0] == '!' && num_kept < MOST_FOLDERS) {
            guard_kept[num_kept++] = line + 1;
        }
    }
    is_ready = join_paths(guard_base, guard_own, "/work", "") == 0 && join_paths(guard_log, guard_own, "/refused", "") == 0;
}
