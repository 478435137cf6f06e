#define _GNU_SOURCE
#include "include/recorded-identity.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

struct entry {
    bool is_used;
    uint32_t major, minor;
    uint64_t real_inode, inode, birth;
};

enum { entries_max = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[entries_max];

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    static long (*glibcs)(long, ...);
    if (glibcs == NULL) *(void **)&glibcs = dlsym(RTLD_NEXT, "syscall");
    return glibcs(number, a, b, c, d, e, f);
}

/// Replaces the identity in an answer of the kernel, if the file has a recorded identity.
static void replace(struct statx *s) {
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < entries_max; i++) {
        const struct entry *e = &entries[i];
        if (!e->is_used || e->real_inode != s->stx_ino || e->major != s->stx_dev_major
            || e->minor != s->stx_dev_minor) continue;
        s->stx_ino = e->inode;
        s->stx_mask |= STATX_BTIME;
        s->stx_btime.tv_sec = (int64_t)(e->birth / 1000000000u);
        s->stx_btime.tv_nsec = (uint32_t)(e->birth % 1000000000u);
        break;
    }
    pthread_mutex_unlock(&mutex);
}

/// Replaces glibc's function in this process. Foldback calls statx(2) through it.
///
/// Only a question for the birth time is about a log's identity. The other answers stay true: by
/// them, Foldback tells open files apart, and two images that are checked at the same time have the
/// same recorded identities.
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    long result = kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    bool is_identity = number == SYS_statx && (a[3] & STATX_BTIME) != 0;
    if (is_identity && result == 0) replace((struct statx *)a[4]);
    return result;
}

static int real(const char *path, struct statx *s) {
    return (int)kernel(
        SYS_statx, AT_FDCWD, (long)path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, (long)s, 0);
}

int recorded_identity_of(const char *path, uint64_t *inode, uint64_t *birth) {
    struct statx s;
    if (real(path, &s) != 0) return -1;
    *inode = s.stx_ino;
    *birth = (s.stx_mask & STATX_BTIME)
        ? (uint64_t)s.stx_btime.tv_sec * 1000000000u + s.stx_btime.tv_nsec : 0;
    return 0;
}

int recorded_identity_give(const char *path, uint64_t inode, uint64_t birth) {
    struct statx s;
    if (real(path, &s) != 0) return -1;
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (i < entries_max && entries[i].is_used) i++;
    if (i < entries_max) {
        entries[i] = (struct entry){
            .is_used = true, .major = s.stx_dev_major, .minor = s.stx_dev_minor,
            .real_inode = s.stx_ino, .inode = inode, .birth = birth};
    }
    pthread_mutex_unlock(&mutex);
    if (i < entries_max) return i;
    errno = ENOSPC;
    return -1;
}

void recorded_identity_take(int entry) {
    pthread_mutex_lock(&mutex);
    if (entry >= 0 && entry < entries_max) entries[entry].is_used = false;
    pthread_mutex_unlock(&mutex);
}
#else
int recorded_identity_of(const char *path, uint64_t *inode, uint64_t *birth) {
    (void)path, (void)inode, (void)birth;
    errno = ENOSYS;
    return -1;
}
int recorded_identity_give(const char *path, uint64_t inode, uint64_t birth) {
    (void)path, (void)inode, (void)birth;
    errno = ENOSYS;
    return -1;
}
void recorded_identity_take(int entry) { (void)entry; }
#endif

enum { workers_max = 64 };
static char notes[workers_max][200];

void crash_note(int worker, const char *text) {
    strncpy(notes[worker % workers_max], text, sizeof notes[0] - 1);
}

static void crashed(int signal_number) {
    static const char head[] = "the process crashed; images that were being checked:\n";
    ssize_t ignored = write(STDERR_FILENO, head, sizeof head - 1);
    for (int i = 0; i < workers_max; i++) {
        size_t length = strlen(notes[i]);
        if (length == 0) continue;
        ignored = write(STDERR_FILENO, notes[i], length);
        ignored = write(STDERR_FILENO, "\n", 1);
    }
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void crash_notes_enable(void) {
    // The lines before a crash must not be lost in a buffer.
    setvbuf(stdout, NULL, _IOLBF, 0);
    const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
}
