// Lets Foldback see the files of a disk image as the files of the recorded disk.
//
// A log stores the inode and the birth time of its data file and of its marker file, and takes files
// with other identities for a copy (L11). After a power cut, files keep both. The files of an image
// are new, so this library answers with the recorded identity if statx(2) is asked for the birth time.
#ifndef FOLDBACK_RECORDED_IDENTITY_H
#define FOLDBACK_RECORDED_IDENTITY_H

#include <stdint.h>

/// Reads a file's inode and birth time. Returns 0, or -1 with errno set.
int recorded_identity_of(const char *path, uint64_t *inode, uint64_t *birth);

/// Gives the file at `path` a recorded identity in this process. Returns the number of the entry, or
/// -1 with errno set.
int recorded_identity_give(const char *path, uint64_t inode, uint64_t birth);

/// Takes an identity back. Call it before the file is removed, because a new file may get its inode.
void recorded_identity_take(int entry);

/// Notes what a worker does, for the message if the process crashes. `text` may be shortened.
void crash_note(int worker, const char *text);

/// Prints all notes to standard error if a signal ends the process, and makes standard output write
/// each line at once.
void crash_notes_enable(void);

#endif
