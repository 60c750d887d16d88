/* Calls that take the place of those of the C library (LD_PRELOAD, see disk.py): from the n-th on, they fail or lie. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, WRITE, CREATE, RENAME_FAILS, RENAME_LIES, LOCK_FAILS, LOCK_LIES, SYNC };
static int kind = NONE;
static long from = -1, calls = 0;

void campaign_fail(int what, long first) { kind = what; from = first; calls = 0; }
long campaign_calls(void) { return calls; }

static int hit(int what)
{
    if (kind != what) return 0;
    long number = __sync_add_and_fetch(&calls, 1);
    return from >= 0 && number >= from;
}
static int full(int what)
{
    if (!hit(what)) return 0;
    errno = ENOSPC;
    return 1;
}
static int regular(int fd)
{
    struct stat entry;
    int before = errno, is = fstat(fd, &entry) == 0 && S_ISREG(entry.st_mode);
    errno = before;
    return is;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = REAL(write);
    return regular(fd) && full(WRITE) ? -1 : real(fd, data, size);
}
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = REAL(writev);
    return regular(fd) && full(WRITE) ? -1 : real(fd, parts, count);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = REAL(pwrite);
    return regular(fd) && full(WRITE) ? -1 : real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = REAL(pwrite64);
    return regular(fd) && full(WRITE) ? -1 : real(fd, data, size, at);
}
int ftruncate(int fd, off_t size)
{
    static int (*real)(int, off_t);
    if (!real) real = REAL(ftruncate);
    return full(WRITE) ? -1 : real(fd, size);
}
int fsync(int fd)
{
    static int (*real)(int);
    if (!real) real = REAL(fsync);
    if (hit(SYNC)) { errno = EIO; return -1; }
    return real(fd);
}
static int makes(int folder, const char *path, int flags)
{
    struct stat entry;
    int before = errno, is = (flags & O_CREAT) && fstatat(folder, path, &entry, 0) != 0;
    errno = before;
    return is;
}
#define OPEN(name, parameters, arguments, folder)                            \
    int name parameters                                                      \
    {                                                                        \
        static int (*real) parameters_##name;                                \
        mode_t mode = 0;                                                     \
        if (flags & (O_CREAT | O_TMPFILE)) {                                 \
            va_list rest;                                                    \
            va_start(rest, flags);                                           \
            mode = va_arg(rest, mode_t);                                     \
            va_end(rest);                                                    \
        }                                                                    \
        if (!real) real = REAL(name);                                        \
        return makes(folder, path, flags) && full(CREATE) ? -1 : real arguments; \
    }
#define parameters_open (const char *, int, ...)
#define parameters_open64 (const char *, int, ...)
#define parameters_openat (int, const char *, int, ...)
#define parameters_openat64 (int, const char *, int, ...)
OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder)
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder)

int mkdir(const char *path, mode_t mode)
{
    static int (*real)(const char *, mode_t);
    if (!real) real = REAL(mkdir);
    struct stat entry;
    return stat(path, &entry) != 0 && full(CREATE) ? -1 : real(path, mode);
}
int rename(const char *one, const char *other)
{
    static int (*real)(const char *, const char *);
    if (!real) real = REAL(rename);
    if (hit(RENAME_FAILS)) { errno = EIO; return -1; }
    if (hit(RENAME_LIES)) return 0;
    return real(one, other);
}
int flock(int fd, int operation)
{
    static int (*real)(int, int);
    if (!real) real = REAL(flock);
    if (hit(LOCK_FAILS)) { errno = ENOLCK; return -1; }
    if (hit(LOCK_LIES)) return 0;
    return real(fd, operation);
}
