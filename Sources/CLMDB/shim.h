// Makes lmdb.h available to Swift, and statx(2) and renameat2(2), which
// glibc declares only with _GNU_SOURCE.
#ifndef FOLDBACK_CLMDB_SHIM_H
#define FOLDBACK_CLMDB_SHIM_H

#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// Reads a file's inode and birth time. The birth time is in nanoseconds since 1970, or 0 if the file
/// system does not store it. Returns 0, or -1 with errno set.
static inline int foldback_file_identity(const char *path, uint64_t *inode, uint64_t *birth) {
#if defined(__linux__)
    struct statx s;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &s) != 0) return -1;
    *inode = s.stx_ino;
    *birth = (s.stx_mask & STATX_BTIME)
        ? (uint64_t)s.stx_btime.tv_sec * 1000000000u + s.stx_btime.tv_nsec : 0;
#else
    struct stat s;
    if (stat(path, &s) != 0) return -1;
    *inode = s.st_ino;
    *birth = (uint64_t)s.st_birthtimespec.tv_sec * 1000000000u + s.st_birthtimespec.tv_nsec;
#endif
    return 0;
}

/// Exchanges two names in one step. Returns 0, or -1 with errno set.
static inline int foldback_exchange(const char *a, const char *b) {
#if defined(__linux__)
    // RENAME_EXCHANGE of renameat2(2), Linux 3.15.
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2u);
#else
    return renamex_np(a, b, RENAME_SWAP);
#endif
}

#endif
