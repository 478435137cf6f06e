#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether this program can count allocations: with glibc, and without a sanitizer.
bool foldback_can_count_allocations(void);

/// Starts to count at 0. The allocations of all threads count.
void foldback_start_counting_allocations(void);

/// Stops counting, and returns the number of allocations since the start.
uint64_t foldback_stop_counting_allocations(void);

/// Lets the allocator return large blocks to the system at once, as a server should: see
/// `mallopt(M_MMAP_THRESHOLD)` of glibc. Swift cannot import it. Does nothing without glibc.
void foldback_return_large_blocks(void);
