#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether this program can count allocations: with glibc, and without a sanitizer.
bool foldback_can_count_allocations(void);

/// Starts to count at 0. The allocations of all threads count.
void foldback_start_counting_allocations(void);

/// Stops counting, and returns the number of allocations since the start.
uint64_t foldback_stop_counting_allocations(void);
