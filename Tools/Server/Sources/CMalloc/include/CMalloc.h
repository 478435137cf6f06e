// What Swift's Glibc module lacks.
#if defined(__linux__)
#include <malloc.h>

/// Takes blocks from this size in bytes on from the system, and gives them back when they are freed.
static inline void foldback_set_mmap_threshold(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }
#else
static inline void foldback_set_mmap_threshold(int bytes) { (void)bytes; }
#endif
