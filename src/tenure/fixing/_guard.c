/* Keeps a program's writes away from the user's files: what it would write to them lands in their mirror.
 *
 * Loaded before the C library (LD_PRELOAD) into the program and all its children, whatever language wrote the file.
 * A path below the guarded folders becomes the one in the mirror, which holds copies of small files and links that
 * stand for the rest; such a link is replaced by a copy when it is opened for writing, and looks like what it stands
 * for until then. Folders that are kept cannot be written to. What is refused is noted in a file and fails with the
 * system's own error. c/paths.h says where a path leads, c/copies.h makes copies.
 *
 * Not guarded: programs that are linked statically, system calls that a program makes itself, sockets, and what the
 * C library opens inside of itself (mkstemp, dlopen, glob).
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE

#if !defined(__linux__) || !defined(__LP64__)
#error "the guard knows the system calls of Linux with 64 bits alone"
#endif
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "c/paths.h"
#include "c/copies.h"

/* What a call is to be made with: `path` is what was asked, or lies in `room`. */
struct place {
    int at;
    const char *path;
    char room[ROOM];
    int is_mirrored;
};

static int is_kept(const char *path)
{
    for (int at = 0; at < num_kept; at++)
        if (is_below(path, guard_kept[at]))
            return 1;
    return 0;
}

/* Find where a call goes; -1, with the error set, where it is refused. */
static int find(struct place *place, int at, const char *path, enum mode mode)
{
    int before = errno;
    place->at = at;
    place->path = path;
    place->is_mirrored = 0;
    if (!is_ready || path == NULL || *path == 0 || make_whole(at, path, place->room) != 0)
        return 0;
    make_plain(place->room);
    int found = to_mirror(place->room);
    if (!found && mode != LOOKS)
        found = to_mirror_by_links(place->room, mode != NAMES);
    if (!found) {
        errno = before;
        return mode != LOOKS && is_kept(place->room) ? refuse(place->room, EROFS) : 0;
    }
    if (mode != LOOKS && settle(place->room, mode) != 0)
        return -1;
    errno = before;
    place->at = AT_FDCWD;
    place->path = place->room;
    place->is_mirrored = 1;
    return 0;
}

static int stands_in(const struct place *place)
{
    char target[ROOM];
    return place->is_mirrored && is_stand_in(place->path, target);
}

/* The path as the program knows it, in place of one in the mirror. */
static char *as_known(char *path)
{
    size_t length = strlen(guard_base);
    if (path != NULL && is_ready && is_below(path, guard_base) && path[length])
        memmove(path, path + length, strlen(path + length) + 1);
    return path;
}

#define HOOK(result, name, ...)                                        \
    result guarded_##name(__VA_ARGS__) __asm__(#name);                 \
    __attribute__((visibility("default"))) result guarded_##name(__VA_ARGS__)
#define NEXT(result, name, ...)                                        \
    static result (*next)(__VA_ARGS__);                                \
    if (next == NULL)                                                  \
        next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

static enum mode mode_of_open(int flags)
{
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT));
    if (!writes || (flags & O_PATH) == O_PATH)
        return LOOKS;
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return NAMES;
    return flags & O_TRUNC ? FILLS : CHANGES;
}

/* Opening a link's own name: what stands for a file is no link to the program. */
static int find_to_open(struct place *place, int at, const char *path, int *flags)
{
    if (find(place, at, path, mode_of_open(*flags)) != 0)
        return -1;
    if ((*flags & O_NOFOLLOW) && stands_in(place))
        *flags &= ~O_NOFOLLOW;
    return 0;
}

#define OPEN(name)                                                     \
    HOOK(int, name, const char *path, int flags, ...)                  \
    {                                                                  \
        struct place place;                                            \
        va_list more;                                                  \
        va_start(more, flags);                                         \
        unsigned bits = va_arg(more, unsigned);                        \
        va_end(more);                                                  \
        NEXT(int, name, const char *, int, ...)                        \
        return find_to_open(&place, AT_FDCWD, path, &flags) ? -1 : next(place.path, flags, bits); \
    }
#define OPEN_AT(name)                                                  \
    HOOK(int, name, int at, const char *path, int flags, ...)          \
    {                                                                  \
        struct place place;                                            \
        va_list more;                                                  \
        va_start(more, flags);                                         \
        unsigned bits = va_arg(more, unsigned);                        \
        va_end(more);                                                  \
        NEXT(int, name, int, const char *, int, ...)                   \
        return find_to_open(&place, at, path, &flags) ? -1 : next(place.at, place.path, flags, bits); \
    }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN_AT(__openat_2)
OPEN_AT(__openat64_2)

static enum mode mode_of_stream(const char *how)
{
    if (strchr(how, 'x'))
        return NAMES;
    return how[0] == 'w' ? FILLS : how[0] == 'a' || strchr(how, '+') ? CHANGES : LOOKS;
}

#define STREAM(name)                                                   \
    HOOK(FILE *, name, const char *path, const char *how)              \
    {                                                                  \
        struct place place;                                            \
        NEXT(FILE *, name, const char *, const char *)                 \
        return find(&place, AT_FDCWD, path, mode_of_stream(how)) ? NULL : next(place.path, how); \
    }
#define STREAM_AGAIN(name)                                             \
    HOOK(FILE *, name, const char *path, const char *how, FILE *stream) \
    {                                                                  \
        struct place place;                                            \
        NEXT(FILE *, name, const char *, const char *, FILE *)         \
        return find(&place, AT_FDCWD, path, mode_of_stream(how)) ? NULL : next(place.path, how, stream); \
    }
STREAM(fopen)
STREAM(fopen64)
STREAM_AGAIN(freopen)
STREAM_AGAIN(freopen64)

/* Functions of one path and at most two values that are handed on. */
#define PATH(result, failed, name, mode)                               \
    HOOK(result, name, const char *path)                               \
    {                                                                  \
        struct place place;                                            \
        NEXT(result, name, const char *)                               \
        return find(&place, AT_FDCWD, path, mode) ? failed : next(place.path); \
    }
#define PATH_1(name, mode, type)                                       \
    HOOK(int, name, const char *path, type value)                      \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, const char *, type)                            \
        return find(&place, AT_FDCWD, path, mode) ? -1 : next(place.path, value); \
    }
#define PATH_2(name, mode, type, other)                                \
    HOOK(int, name, const char *path, type value, other more)          \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, const char *, type, other)                     \
        return find(&place, AT_FDCWD, path, mode) ? -1 : next(place.path, value, more); \
    }
#define AT_1(name, mode, type)                                         \
    HOOK(int, name, int at, const char *path, type value)              \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, const char *, type)                       \
        return find(&place, at, path, mode) ? -1 : next(place.at, place.path, value); \
    }
#define AT_2(name, mode, type, other)                                  \
    HOOK(int, name, int at, const char *path, type value, other more)  \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, const char *, type, other)                \
        return find(&place, at, path, mode) ? -1 : next(place.at, place.path, value, more); \
    }
PATH(DIR *, NULL, opendir, LOOKS)
PATH(int, -1, chdir, LOOKS)
PATH(int, -1, rmdir, NAMES)
PATH(int, -1, unlink, NAMES)
PATH(int, -1, remove, NAMES)
PATH_1(access, LOOKS, int)
PATH_1(eaccess, LOOKS, int)
PATH_1(euidaccess, LOOKS, int)
AT_2(faccessat, LOOKS, int, int)
PATH_1(mkfifo, NAMES, mode_t)
AT_1(unlinkat, NAMES, int)
PATH_1(creat, FILLS, mode_t)
PATH_1(creat64, FILLS, mode_t)
PATH_1(truncate, CHANGES, off_t)
PATH_1(truncate64, CHANGES, off64_t)
PATH_1(chmod, CHANGES, mode_t)
AT_2(fchmodat, CHANGES, mode_t, int)
PATH_2(chown, CHANGES, uid_t, gid_t)
PATH_2(lchown, NAMES, uid_t, gid_t)
PATH_1(utime, CHANGES, const void *)
PATH_1(utimes, CHANGES, const void *)
AT_2(utimensat, CHANGES, const void *, int)
PATH_1(statvfs, LOOKS, void *)
PATH_1(statvfs64, LOOKS, void *)
PATH_1(removexattr, CHANGES, const char *)
PATH_1(lremovexattr, CHANGES, const char *)
PATH_1(stat, LOOKS, void *)
PATH_1(stat64, LOOKS, void *)

#define LIST_ATTRIBUTES(name)                                          \
    HOOK(ssize_t, name, const char *path, char *out, size_t size)      \
    {                                                                  \
        struct place place;                                            \
        NEXT(ssize_t, name, const char *, char *, size_t)              \
        return find(&place, AT_FDCWD, path, LOOKS) ? -1 : next(place.path, out, size); \
    }
#define GET_ATTRIBUTE(name)                                            \
    HOOK(ssize_t, name, const char *path, const char *which, void *out, size_t size) \
    {                                                                  \
        struct place place;                                            \
        NEXT(ssize_t, name, const char *, const char *, void *, size_t) \
        return find(&place, AT_FDCWD, path, LOOKS) ? -1 : next(place.path, which, out, size); \
    }
#define SET_ATTRIBUTE(name)                                            \
    HOOK(int, name, const char *path, const char *which, const void *value, size_t size, int flags) \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, const char *, const char *, const void *, size_t, int) \
        return find(&place, AT_FDCWD, path, CHANGES) ? -1 : next(place.path, which, value, size, flags); \
    }
LIST_ATTRIBUTES(listxattr)
LIST_ATTRIBUTES(llistxattr)
GET_ATTRIBUTE(getxattr)
GET_ATTRIBUTE(lgetxattr)
SET_ATTRIBUTE(setxattr)
SET_ATTRIBUTE(lsetxattr)

/* Making a folder that is there is no writing: programs ask for it to be sure. */
static int find_to_make(struct place *place, int at, const char *path)
{
    if (find(place, at, path, LOOKS) != 0)
        return -1;
    return syscall(SYS_faccessat, place->at, place->path, F_OK) == 0 ? 0 : find(place, at, path, NAMES);
}

HOOK(int, mkdir, const char *path, mode_t bits)
{
    struct place place;
    NEXT(int, mkdir, const char *, mode_t)
    return find_to_make(&place, AT_FDCWD, path) ? -1 : next(place.path, bits);
}

HOOK(int, mkdirat, int at, const char *path, mode_t bits)
{
    struct place place;
    NEXT(int, mkdirat, int, const char *, mode_t)
    return find_to_make(&place, at, path) ? -1 : next(place.at, place.path, bits);
}

/* `lstat` of what stands for a file is that file's `stat`. */
#define OF_LINK(name)                                                  \
    HOOK(int, name, const char *path, void *found)                     \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, const char *, void *)                          \
        if (find(&place, AT_FDCWD, path, LOOKS))                       \
            return -1;                                                 \
        return stands_in(&place) ? guarded_stat(place.path, found) : next(place.path, found); \
    }
OF_LINK(lstat)
OF_LINK(lstat64)
#define OLD_STAT(name)                                                 \
    HOOK(int, name, int version, const char *path, void *found)        \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, const char *, void *)                     \
        return find(&place, AT_FDCWD, path, LOOKS) ? -1 : next(version, place.path, found); \
    }
OLD_STAT(__xstat)
OLD_STAT(__xstat64)
#define OLD_LSTAT(name, followed)                                      \
    HOOK(int, name, int version, const char *path, void *found)        \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, const char *, void *)                     \
        if (find(&place, AT_FDCWD, path, LOOKS))                       \
            return -1;                                                 \
        return (stands_in(&place) ? guarded_##followed : next)(version, place.path, found); \
    }
OLD_LSTAT(__lxstat, __xstat)
OLD_LSTAT(__lxstat64, __xstat64)
#define STAT_AT(name)                                                  \
    HOOK(int, name, int at, const char *path, void *found, int flags)  \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, const char *, void *, int)                \
        if (find(&place, at, path, LOOKS))                             \
            return -1;                                                 \
        return next(place.at, place.path, found, stands_in(&place) ? flags & ~AT_SYMLINK_NOFOLLOW : flags); \
    }
STAT_AT(fstatat)
STAT_AT(fstatat64)
#define OLD_STAT_AT(name)                                              \
    HOOK(int, name, int version, int at, const char *path, void *found, int flags) \
    {                                                                  \
        struct place place;                                            \
        NEXT(int, name, int, int, const char *, void *, int)           \
        if (find(&place, at, path, LOOKS))                             \
            return -1;                                                 \
        flags = stands_in(&place) ? flags & ~AT_SYMLINK_NOFOLLOW : flags; \
        return next(version, place.at, place.path, found, flags);      \
    }
OLD_STAT_AT(__fxstatat)
OLD_STAT_AT(__fxstatat64)

HOOK(int, statx, int at, const char *path, int flags, unsigned wanted, void *found)
{
    struct place place;
    NEXT(int, statx, int, const char *, int, unsigned, void *)
    if (find(&place, at, path, LOOKS))
        return -1;
    return next(place.at, place.path, stands_in(&place) ? flags & ~AT_SYMLINK_NOFOLLOW : flags, wanted, found);
}

static ssize_t read_link(int at, const char *path, char *out, size_t size)
{
    struct place place;
    char target[ROOM];
    if (find(&place, at, path, LOOKS))
        return -1;
    if (!place.is_mirrored)
        return syscall(SYS_readlinkat, place.at, place.path, out, size);
    if (stands_in(&place)) {
        errno = EINVAL;
        return -1;
    }
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, place.path, target, (size_t)ROOM - 1);
    if (length < 0)
        return -1;
    target[length] = 0;
    length = (ssize_t)strlen(as_known(target));
    length = (size_t)length < size ? length : (ssize_t)size;
    memcpy(out, target, (size_t)length);
    return length;
}

HOOK(ssize_t, readlink, const char *path, char *out, size_t size) { return read_link(AT_FDCWD, path, out, size); }
HOOK(ssize_t, readlinkat, int at, const char *path, char *out, size_t size) { return read_link(at, path, out, size); }
HOOK(ssize_t, __readlink_chk, const char *path, char *out, size_t size, size_t room)
{
    return read_link(AT_FDCWD, path, out, size < room ? size : room);
}
HOOK(ssize_t, __readlinkat_chk, int at, const char *path, char *out, size_t size, size_t room)
{
    return read_link(at, path, out, size < room ? size : room);
}

HOOK(char *, realpath, const char *path, char *out)
{
    struct place place;
    NEXT(char *, realpath, const char *, char *)
    return find(&place, AT_FDCWD, path, LOOKS) ? NULL : as_known(next(place.path, out));
}

HOOK(char *, __realpath_chk, const char *path, char *out, size_t room)
{
    (void)room;
    return guarded_realpath(path, out);
}

HOOK(char *, getcwd, char *out, size_t size)
{
    NEXT(char *, getcwd, char *, size_t)
    return as_known(next(out, size));
}

HOOK(char *, __getcwd_chk, char *out, size_t size, size_t room)
{
    return guarded_getcwd(out, size < room ? size : room);
}

/* A link that stands for a file is to be asked for, as on file systems that tell nothing here. */
#define ENTRY(name, type)                                              \
    HOOK(struct type *, name, DIR *folder)                             \
    {                                                                  \
        NEXT(struct type *, name, DIR *)                               \
        struct type *entry = next(folder);                             \
        if (entry != NULL && is_ready && entry->d_type == DT_LNK)      \
            entry->d_type = DT_UNKNOWN;                                \
        return entry;                                                  \
    }
ENTRY(readdir, dirent)
ENTRY(readdir64, dirent64)

static int rename_at(int at, const char *path, int to, const char *name, unsigned flags)
{
    struct place from, there;
    if (find(&from, at, path, NAMES) || find(&there, to, name, NAMES))
        return -1;
    return (int)syscall(SYS_renameat2, from.at, from.path, there.at, there.path, flags);
}

HOOK(int, rename, const char *path, const char *name) { return rename_at(AT_FDCWD, path, AT_FDCWD, name, 0); }
HOOK(int, renameat, int at, const char *path, int to, const char *name) { return rename_at(at, path, to, name, 0); }
HOOK(int, renameat2, int at, const char *path, int to, const char *name, unsigned flags)
{
    return rename_at(at, path, to, name, flags);
}

/* A second name of a file is one of its copy's, where that is not in the mirror itself. */
static int link_at(int at, const char *path, int to, const char *name, int flags)
{
    struct place from, there;
    if (find(&from, at, path, CHANGES) || find(&there, to, name, NAMES))
        return -1;
    return (int)syscall(SYS_linkat, from.at, from.path, there.at, there.path, flags);
}

HOOK(int, link, const char *path, const char *name) { return link_at(AT_FDCWD, path, AT_FDCWD, name, 0); }
HOOK(int, linkat, int at, const char *path, int to, const char *name, int flags)
{
    return link_at(at, path, to, name, flags);
}

static int symlink_at(const char *target, int at, const char *path)
{
    struct place there;
    char leads[ROOM];
    if (find(&there, at, path, NAMES))
        return -1;
    if (is_ready && target[0] == '/' && join_paths(leads, target, "", "") == 0) {
        make_plain(leads);
        target = to_mirror(leads) ? leads : target;
    }
    return (int)syscall(SYS_symlinkat, target, there.at, there.path);
}

HOOK(int, symlink, const char *target, const char *path) { return symlink_at(target, AT_FDCWD, path); }
HOOK(int, symlinkat, const char *target, int at, const char *path) { return symlink_at(target, at, path); }

/* A program with another environment is guarded as well. */
HOOK(int, execve, const char *path, char *const *arguments, char *const *environment)
{
    static const char *const NAMES_OF_OURS[] = {"LD_PRELOAD=", "TENURE_GUARD="};
    struct place place;
    NEXT(int, execve, const char *, char *const *, char *const *)
    if (!is_ready || environment == NULL || find(&place, AT_FDCWD, path, LOOKS))
        return next(path, arguments, environment);
    size_t count = 0, missing = 0;
    while (environment[count])
        count++;
    char *whole[count + 3];
    memcpy(whole, environment, count * sizeof *whole);
    for (size_t ours = 0; ours < 2; ours++) {
        size_t length = strlen(NAMES_OF_OURS[ours]), at = 0;
        while (at < count && strncmp(environment[at], NAMES_OF_OURS[ours], length) != 0)
            at++;
        for (char **own = environ; at == count && own && *own; own++)
            if (strncmp(*own, NAMES_OF_OURS[ours], length) == 0)
                whole[count + missing++] = *own;
    }
    whole[count + missing] = NULL;
    return next(syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0 ? path : place.path, arguments, whole);
}

__attribute__((constructor)) static void begin(void) { read_guard(); }
