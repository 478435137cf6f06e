// Records what a process does to the files below a directory, for the power-cut tests. Linux only;
// loaded with LD_PRELOAD.
//
// FOLDBACK_TRACE names the file to append to, and FOLDBACK_TRACE_ROOT the directory, as realpath(3)
// gives it. FOLDBACK_TRACE_MAP_BYTES makes LMDB's first map smaller, so that a short recording
// shows how the map grows.
//
// Each operation is a line, then bytes, then a newline. The line has a word, four numbers, and the
// count of the bytes. A file is named by two numbers: its inode and its birth time.
//
//   start               which ROOT
//   create, mkdir       which FILE, in which DIRECTORY; the bytes are the name
//   write               which FILE, at which offset; the bytes are what was written
//   flushed-write       which FILE: its last write went through O_DSYNC, and is now on the disk
//   size                which FILE, its new size
//   flush               which FILE or DIRECTORY
//   mapped              which FILE: it can change through memory from now on
//   rename              from which DIRECTORY to which; the bytes are both names, with 0 between
//   exchange            as rename; each name then stands for what the other one stood for
//   remove              from which DIRECTORY; the bytes are the name
//   answer              the bytes were written to standard output
//
// One lock is held during each call and its record, so that the order in the file is the order of
// the calls. The calls go directly to the kernel. Calls that this library does not replace are found
// afterwards: the recorder compares the last state of the files with the files.
#if defined(__linux__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/stat.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct identity {
    uint64_t inode, birth;
};

struct descriptor {
    bool is_recorded, is_synchronous;
    struct identity file;
};

enum { descriptors_max = 1024 };

/// RENAME_EXCHANGE of renameat2(2).
enum { exchanges = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct descriptor descriptors[descriptors_max];
static int trace = -1;
static char root[PATH_MAX];
static size_t map_bytes;

// The C library's own function, which this library replaces.
typedef long (*kernel_function)(long number, ...);

static kernel_function kernel_call(void) {
    static kernel_function function;
    if (function == NULL) *(void **)&function = dlsym(RTLD_NEXT, "syscall");
    return function;
}

#define kernel(...) kernel_call()(__VA_ARGS__)

static void fail(const char *what) {
    char text[256];
    int length = snprintf(text, sizeof text, "power-trace: %s: %s\n", what, strerror(errno));
    kernel(SYS_write, 2, text, (size_t)length);
    abort();
}

// MARK: The trace

static void append(const void *bytes, size_t length) {
    const char *rest = bytes;
    while (length > 0) {
        long written = kernel(SYS_write, trace, rest, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail("the trace cannot be written");
        rest += written;
        length -= (size_t)written;
    }
}

static void record(
    const char *word, struct identity a, uint64_t c, uint64_t d, const void *bytes, size_t length
) {
    char line[160];
    int count = snprintf(
        line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu\n", word, a.inode,
        a.birth, c, d, length);
    int saved = errno;
    append(line, (size_t)count);
    append(bytes, length);
    append("\n", 1);
    errno = saved;
}

// MARK: Files

static bool identify(const char *path, struct identity *file) {
    struct statx s;
    int saved = errno;
    bool is_there =
        kernel(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &s) == 0;
    errno = saved;
    if (!is_there) return false;
    file->inode = s.stx_ino;
    file->birth = (s.stx_mask & STATX_BTIME)
        ? (uint64_t)s.stx_btime.tv_sec * 1000000000u + s.stx_btime.tv_nsec : 0;
    return true;
}

/// Whether the path is the root or below it. Recorded programs get absolute paths.
static bool is_below_root(const char *path) {
    size_t length = strlen(root);
    return trace >= 0 && strncmp(path, root, length) == 0
        && (path[length] == 0 || path[length] == '/');
}

/// Splits a path below the root into the directory, which is identified, and the name.
static const char *place(const char *path, struct identity *directory) {
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash[1] == 0) fail("a path ends with a slash");
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    if (!identify(parent, directory)) fail("a directory is missing");
    return slash + 1;
}

static struct descriptor *recorded(int number) {
    if (number < 0 || number >= descriptors_max || !descriptors[number].is_recorded) return NULL;
    return &descriptors[number];
}

// MARK: Names

static int opened(const char *path, int flags, mode_t mode) {
    if (!is_below_root(path)) return (int)kernel(SYS_openat, AT_FDCWD, path, flags, mode);
    pthread_mutex_lock(&mutex);
    struct identity file, directory;
    bool was_there = identify(path, &file);
    int number = (int)kernel(SYS_openat, AT_FDCWD, path, flags, mode);
    if (number >= descriptors_max) fail("too many open files");
    if (number >= 0) {
        if (!identify(path, &file)) fail("an opened file is missing");
        if (!was_there) {
            const char *name = place(path, &directory);
            record("create", file, directory.inode, directory.birth, name, strlen(name));
        } else if (flags & O_TRUNC) {
            record("size", file, 0, 0, "", 0);
        }
        descriptors[number] = (struct descriptor){
            .is_recorded = true, .is_synchronous = (flags & O_DSYNC) != 0, .file = file};
    }
    pthread_mutex_unlock(&mutex);
    return number;
}

static mode_t mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return opened(path, flags | O_LARGEFILE, mode);
}

int close(int number) {
    pthread_mutex_lock(&mutex);
    if (recorded(number)) descriptors[number].is_recorded = false;
    int result = (int)kernel(SYS_close, number);
    pthread_mutex_unlock(&mutex);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0 && is_below_root(path)) {
        struct identity file, directory;
        const char *name = place(path, &directory);
        if (!identify(path, &file)) fail("a new directory is missing");
        record("mkdir", file, directory.inode, directory.birth, name, strlen(name));
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static int removed(const char *path, int flags) {
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(SYS_unlinkat, AT_FDCWD, path, flags);
    if (result == 0 && is_below_root(path)) {
        struct identity directory;
        const char *name = place(path, &directory);
        record("remove", directory, 0, 0, name, strlen(name));
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int unlinkat(int number, const char *name, int flags) {
    if (number == AT_FDCWD || name[0] == '/') return removed(name, flags);
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(SYS_unlinkat, number, name, flags);
    const struct descriptor *open = recorded(number);
    if (open && result == 0) record("remove", open->file, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&mutex);
    return result;
}

int unlink(const char *path) { return removed(path, 0); }
int rmdir(const char *path) { return removed(path, AT_REMOVEDIR); }

static int renamed(const char *path, const char *target, unsigned flags) {
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, flags);
    if (result == 0 && is_below_root(path)) {
        struct identity from, to;
        char names[2 * NAME_MAX + 2];
        const char *old = place(path, &from), *new = place(target, &to);
        int length = snprintf(names, sizeof names, "%s%c%s", old, 0, new);
        const char *word = flags == exchanges ? "exchange" : "rename";
        record(word, from, to.inode, to.birth, names, (size_t)length);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int rename(const char *path, const char *target) { return renamed(path, target, 0); }

/// Foldback exchanges names with this function, because not every C library has renameat2(2).
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_renameat2 && (unsigned)a[4] == exchanges) {
        return renamed((const char *)a[1], (const char *)a[3], exchanges);
    }
    return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// MARK: Contents

/// Records that `length` bytes, which lie in `parts`, were written to a file at `offset`, or to
/// standard output if `open` is null.
static void record_write(
    const struct descriptor *open, off_t offset, const struct iovec *parts, size_t length
) {
    char *bytes = malloc(length + 1);
    size_t filled = 0;
    if (bytes == NULL) fail("no memory for a write");
    for (; filled < length; parts++) {
        size_t count = length - filled < parts->iov_len ? length - filled : parts->iov_len;
        memcpy(bytes + filled, parts->iov_base, count);
        filled += count;
    }
    if (open == NULL) record("answer", (struct identity){0, 0}, 0, 0, bytes, length);
    else record("write", open->file, (uint64_t)offset, 0, bytes, length);
    if (open && open->is_synchronous) record("flushed-write", open->file, 0, 0, "", 0);
    free(bytes);
}

/// Writes at the descriptor's own offset if `offset` is negative.
static ssize_t written(int number, const struct iovec *parts, int count, off_t offset) {
    pthread_mutex_lock(&mutex);
    const struct descriptor *open = recorded(number);
    off_t start = offset;
    if (open && offset < 0) start = kernel(SYS_lseek, number, 0, SEEK_CUR);
    ssize_t result = offset < 0
        ? kernel(SYS_writev, number, parts, count)
        : kernel(SYS_pwritev, number, parts, count, offset, 0);
    if (result > 0 && (open || (number == 1 && trace >= 0))) {
        record_write(open, start, parts, (size_t)result);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

ssize_t write(int number, const void *bytes, size_t length) {
    return written(number, &(struct iovec){(void *)bytes, length}, 1, -1);
}

ssize_t writev(int number, const struct iovec *parts, int count) {
    return written(number, parts, count, -1);
}

ssize_t pwrite(int number, const void *bytes, size_t length, off_t offset) {
    return written(number, &(struct iovec){(void *)bytes, length}, 1, offset);
}

ssize_t pwrite64(int number, const void *bytes, size_t length, off64_t offset) {
    return written(number, &(struct iovec){(void *)bytes, length}, 1, offset);
}

ssize_t pwritev(int number, const struct iovec *parts, int count, off_t offset) {
    return written(number, parts, count, offset);
}

ssize_t pwritev64(int number, const struct iovec *parts, int count, off64_t offset) {
    return written(number, parts, count, offset);
}

int ftruncate(int number, off_t size) {
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(SYS_ftruncate, number, size);
    const struct descriptor *open = recorded(number);
    if (open && result == 0) record("size", open->file, (uint64_t)size, 0, "", 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

int ftruncate64(int number, off64_t size) { return ftruncate(number, size); }

static int flushed(int number, long call) {
    pthread_mutex_lock(&mutex);
    int result = (int)kernel(call, number);
    const struct descriptor *open = recorded(number);
    if (open && result == 0) record("flush", open->file, 0, 0, "", 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

int fsync(int number) { return flushed(number, SYS_fsync); }
int fdatasync(int number) { return flushed(number, SYS_fdatasync); }

void *mmap(void *address, size_t length, int access, int flags, int number, off_t offset) {
    void *result = (void *)kernel(SYS_mmap, address, length, access, flags, number, offset);
    if (number < 0 || result == MAP_FAILED) return result;
    pthread_mutex_lock(&mutex);
    const struct descriptor *open = recorded(number);
    if (open && (flags & MAP_SHARED) && (access & PROT_WRITE)) {
        record("mapped", open->file, 0, 0, "", 0);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

void *mmap64(void *address, size_t length, int access, int flags, int number, off64_t offset) {
    return mmap(address, length, access, flags, number, offset);
}

// MARK: LMDB's map

int mdb_env_set_mapsize(void *environment, size_t size) {
    static int (*lmdbs)(void *, size_t);
    if (lmdbs == NULL) *(void **)&lmdbs = dlsym(RTLD_NEXT, "mdb_env_set_mapsize");
    if (lmdbs == NULL) fail("liblmdb is not loaded");
    if (map_bytes > 0) size = map_bytes;
    map_bytes = 0;
    return lmdbs(environment, size);
}

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FOLDBACK_TRACE"), *directory = getenv("FOLDBACK_TRACE_ROOT");
    const char *map = getenv("FOLDBACK_TRACE_MAP_BYTES");
    if (file == NULL || directory == NULL) return;
    struct identity start;
    int number = (int)kernel(
        SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    trace = (int)kernel(SYS_fcntl, number, F_DUPFD_CLOEXEC, 900);
    if (trace < 0) fail("the trace cannot be opened");
    kernel(SYS_close, number);
    snprintf(root, sizeof root, "%s", directory);
    if (!identify(root, &start)) fail("the root directory is missing");
    if (map != NULL) map_bytes = strtoul(map, NULL, 10);
    record("start", start, 0, 0, "", 0);
}
#else
// An empty translation unit is not standard C.
typedef int power_trace_needs_linux;
#endif
