// Makes lmdb.h available to Swift, and statx(2) and renameat2(2), which
// glibc declares only with _GNU_SOURCE.
#ifndef FOLDBACK_CLMDB_SHIM_H
#define FOLDBACK_CLMDB_SHIM_H

#include <errno.h>
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#endif

#if defined(__linux__)
/// Whether statx(2) failed because the system does not have it: Linux before 4.11, or a filter of
/// system calls, as some containers have.
static inline int foldback_lacks_statx(void) { return errno == ENOSYS || errno == EPERM; }
#endif

/// Reads a file's inode and birth time. The birth time is in nanoseconds since 1970, or 0 if the file
/// system does not store it, or the system does not tell it. Returns 0, or -1 with errno set.
static inline int foldback_file_identity(const char *path, uint64_t *inode, uint64_t *birth) {
    struct stat s;
#if defined(__linux__)
    struct statx x;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &x) == 0) {
        *inode = x.stx_ino;
        *birth = (x.stx_mask & STATX_BTIME)
            ? (uint64_t)x.stx_btime.tv_sec * 1000000000u + x.stx_btime.tv_nsec : 0;
        return 0;
    }
    if (!foldback_lacks_statx() || stat(path, &s) != 0) return -1;
    *birth = 0;
#else
    if (stat(path, &s) != 0) return -1;
    *birth = (uint64_t)s.st_birthtimespec.tv_sec * 1000000000u + s.st_birthtimespec.tv_nsec;
#endif
    *inode = s.st_ino;
    return 0;
}

/// A file's status without its times.
struct foldback_status {
    uint64_t device, inode, link_count;
    int64_t bytes;
    uint32_t mode, owner;
};

/// Reads the status of the file or symbolic link at `path`, or of an open file if `path` is null.
/// Returns 0, or -1 with errno set.
///
/// It does not ask for the file's times. Linux 6.13 and later note that a process has seen them, and
/// then the next write changes them (Documentation/filesystems/multigrain-ts.rst). On ext4, the flush
/// of such a write takes 285 us instead of 215 us (Linux 6.18, median of 2,000). stat(2) asks for the
/// times.
static inline int foldback_read_status(int file, const char *path, struct foldback_status *found) {
#if defined(__linux__)
    struct statx x;
    unsigned mask = STATX_TYPE | STATX_NLINK | STATX_UID | STATX_INO | STATX_SIZE;
    int flags = path ? AT_SYMLINK_NOFOLLOW : 0x1000;  // AT_EMPTY_PATH
    if (syscall(SYS_statx, path ? AT_FDCWD : file, path ? path : "", flags, mask, &x) == 0) {
        *found = (struct foldback_status){
            .device = makedev(x.stx_dev_major, x.stx_dev_minor), .inode = x.stx_ino,
            .link_count = x.stx_nlink, .bytes = (int64_t)x.stx_size, .mode = x.stx_mode,
            .owner = x.stx_uid};
        return 0;
    }
    if (!foldback_lacks_statx()) return -1;
#endif
    struct stat s;
    if ((path ? lstat(path, &s) : fstat(file, &s)) != 0) return -1;
    *found = (struct foldback_status){
        .device = (uint64_t)s.st_dev, .inode = s.st_ino, .link_count = s.st_nlink,
        .bytes = s.st_size, .mode = s.st_mode, .owner = s.st_uid};
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
