// Counts allocations, if this file is linked into a program.
//
// A program may define malloc and its relatives itself. All libraries of the process then call these
// functions ("Replacing malloc" in the manual of glibc 2.36). The functions here count, and call glibc's
// own allocator. So free stays glibc's. A sanitizer replaces malloc too, so with a sanitizer
// nothing counts.
#include "CAllocationCount.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FOLDBACK_HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(FOLDBACK_HAS_SANITIZER)

#include <stdatomic.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool is_counting;
static atomic_uint_fast64_t allocation_count;

// While nothing counts, an allocation costs one load and one branch more.
static inline void note_allocation(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    note_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note_allocation();
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note_allocation();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    note_allocation();
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *result = memory;
    return 0;
}

bool foldback_can_count_allocations(void) { return true; }

void foldback_start_counting_allocations(void) {
    atomic_store(&allocation_count, 0);
    atomic_store(&is_counting, true);
}

uint64_t foldback_stop_counting_allocations(void) {
    atomic_store(&is_counting, false);
    return atomic_load(&allocation_count);
}

#else

bool foldback_can_count_allocations(void) { return false; }
void foldback_start_counting_allocations(void) {}
uint64_t foldback_stop_counting_allocations(void) { return 0; }

#endif
