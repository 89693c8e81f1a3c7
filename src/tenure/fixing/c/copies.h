/* A link in the mirror becomes a file or folder of the mirror's own before the program changes what it leads to. */

enum mode { LOOKS, NAMES, FILLS, CHANGES };
/* LOOKS: nothing is changed. NAMES: the entry in its folder is. FILLS: what the file holds is thrown away.
 * CHANGES: a part of what it holds is changed, or something is added. */

static int refuse(const char *path, int error)
{
    char line[ROOM + 128];
    int length = snprintf(line, sizeof line, "%s: %s\n", path, strerror(error));
    int number = (int)syscall(SYS_openat, AT_FDCWD, guard_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (number >= 0) {
        if (syscall(SYS_write, number, line, (size_t)length) < 0)
            error = EIO;
        syscall(SYS_close, number);
    }
    errno = error;
    return -1;
}

static int copy_bytes(int from, int to)
{
    static const size_t PART = 1 << 30;
    char part[1 << 14];
    long count;
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    while ((count = syscall(SYS_copy_file_range, from, NULL, to, NULL, PART, 0)) > 0)
        ;
    if (count == 0)
        return 0;
    while ((count = syscall(SYS_read, from, part, sizeof part)) > 0)
        for (long done = 0, now; done < count; done += now)
            if ((now = syscall(SYS_write, to, part + done, (size_t)(count - done))) < 0)
                return -1;
    return count < 0 ? -1 : 0;
}

static int beside(const char *path, char *out)
{
    char end[64];
    snprintf(end, sizeof end, ".tenure-%ld", (long)syscall(SYS_gettid));
    return join_paths(out, path, end, "");
}

/* Put a copy of the file in the place of the link to it, in one step. */
static int copy_file(const char *path, const char *target, const struct stat *found, int empty)
{
    char fresh[ROOM];
    int from = -1, failed = 1, to = -1;
    if (beside(path, fresh) != 0)
        return -1;
    if (!empty && (from = (int)syscall(SYS_openat, AT_FDCWD, target, O_RDONLY | O_CLOEXEC, 0)) < 0)
        return refuse(target, errno);
    to = (int)syscall(SYS_openat, AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to >= 0 && (empty || copy_bytes(from, to) == 0)) {
        struct timespec times[2] = {found->st_atim, found->st_mtim};
        syscall(SYS_fchmod, to, found->st_mode & 07777);
        syscall(SYS_utimensat, to, NULL, times, 0);
        failed = syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, path, 0) != 0;
    }
    int error = errno;
    if (to >= 0)
        syscall(SYS_close, to);
    if (from >= 0)
        syscall(SYS_close, from);
    if (!failed)
        return 0;
    syscall(SYS_unlinkat, AT_FDCWD, fresh, 0);
    return refuse(target, error);
}

/* Put a folder of links in the place of the link to a folder. */
static int copy_folder(const char *path, const char *target, const struct stat *found)
{
    static const unsigned SWAPS = 2;
    struct { ino64_t inode; off64_t offset; unsigned short length; unsigned char type; char name[]; } *entry;
    char fresh[ROOM], link[ROOM], leads[ROOM], part[1 << 15] __attribute__((aligned(8)));
    long count = -1;
    if (beside(path, fresh) != 0)
        return -1;
    int from = (int)syscall(SYS_openat, AT_FDCWD, target, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (from < 0 || syscall(SYS_mkdirat, AT_FDCWD, fresh, 0700) != 0)
        return refuse(target, errno);
    while ((count = syscall(SYS_getdents64, from, part, sizeof part)) > 0)
        for (long at = 0; at < count; at += entry->length) {
            entry = (void *)(part + at);
            if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
                continue;
            if (join_paths(link, fresh, "/", entry->name) == 0 && join_paths(leads, target, "/", entry->name) == 0)
                syscall(SYS_symlinkat, leads, AT_FDCWD, link);
        }
    syscall(SYS_close, from);
    syscall(SYS_fchmodat, AT_FDCWD, fresh, (found->st_mode & 07777) | 0700);
    if (count < 0)
        return refuse(target, errno);
    if (syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, path, SWAPS) == 0)
        return (int)syscall(SYS_unlinkat, AT_FDCWD, fresh, 0);
    syscall(SYS_unlinkat, AT_FDCWD, path, 0); /* some file systems do not swap */
    return syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, path, 0) == 0 ? 0 : refuse(target, errno);
}

/* Put a copy in the place of a link; what is neither file nor folder stays one. */
static int copy(const char *path, const char *target, enum mode mode, int is_last)
{
    struct stat found;
    int number = (int)syscall(SYS_openat, AT_FDCWD, target, O_PATH | O_CLOEXEC, 0);
    if (number < 0) /* it leads nowhere: there is nothing to copy, and what is made in its place is the mirror's */
        return is_last && mode != NAMES ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0) : 0;
    long failed = syscall(SYS_fstat, number, &found);
    syscall(SYS_close, number);
    if (failed)
        return refuse(target, errno);
    if (S_ISDIR(found.st_mode))
        return copy_folder(path, target, &found);
    if (S_ISREG(found.st_mode) && is_last && mode != NAMES)
        return copy_file(path, target, &found, mode == FILLS);
    return 0;
}

/* Make everything on the way to a path of the mirror its own; the path becomes the one where its links lead. */
static int settle(char *path, enum mode mode)
{
    char target[ROOM], whole[ROOM];
    size_t at = strlen(guard_base) + 1;
    for (int hops = 0; at < strlen(path);) {
        char *end = strchr(path + at, '/'), *rest = end ? end : path + strlen(path), kept = *rest;
        *rest = 0;
        int is_link = raw_readlink(path, target) > 0, failed = 0;
        int is_ours = is_link && target[0] == '/' && !is_below(target, guard_base);
        if (is_ours) {
            failed = copy(path, target, mode, end == NULL);
        } else if (is_link && (end || mode != NAMES)) {
            char *name = strrchr(path, '/');
            *name = 0;
            failed = join_paths(whole, target[0] == '/' ? "" : path, target[0] == '/' ? "" : "/", target);
            *name = '/';
            *rest = kept;
            if (failed || ++hops > MOST_LINKS || strlen(whole) + strlen(rest) >= ROOM)
                return -1;
            strcpy(path, strcat(whole, rest));
            make_plain(path);
            if (!is_below(path, guard_base))
                return 0;
            at = strlen(guard_base) + 1;
            continue;
        }
        *rest = kept;
        if (failed)
            return -1;
        at = (size_t)(rest - path) + 1;
    }
    return 0;
}
