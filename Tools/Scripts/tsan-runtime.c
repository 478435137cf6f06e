// Reports two synchronizations of the Swift runtime to ThreadSanitizer, which does not see them.
// Only Tools/test --sanitize thread on Linux links this file.
//
// The runtime's libraries are compiled without ThreadSanitizer's instrumentation. If the runtime
// synchronizes there without a report, ThreadSanitizer reports races in correct programs. Found
// with Swift 6.3.1:
//
// 1. A continuation that is resumed before its task awaits it (SR-15498, swiftlang/swift#57803).
//    swift_continuation_resume calls __tsan_release on the task. A suspended task is enqueued
//    again, and running it calls __tsan_acquire. A task that is already resumed continues at once
//    in swift_continuation_await, which does not call __tsan_acquire.
// 2. Synchronization.Mutex on Linux. The fast path is compiled into the caller, with
//    instrumentation. A contended lock is taken and released in libswiftSynchronization (_lockSlow,
//    _tryLockSlow, _unlockSlow: compare-exchange, futex), which reports nothing.
//
// The functions here replace the functions of the runtime, call them, and add the missing reports.
// Nothing is suppressed: every access is still checked. The reported orders are real, so other
// races are still reported.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// From ThreadSanitizer's runtime (sanitizer/tsan_interface.h).
extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// MARK: Continuations

/// The first fields of ContinuationAsyncContext (swift/ABI/Task.h), which compiled code sets.
struct continuation_context {
    void *parent;
    void (*resume)(void);
    uintptr_t flags;
};

/// AsyncContinuationFlags: the task must move to an executor, and may be enqueued for that.
static const uintptr_t isExecutorSwitchForced = 2;

typedef __attribute__((swiftasynccall)) void continuation_function(
    __attribute__((swift_async_context)) struct continuation_context *);
typedef __attribute__((swiftasynccall)) void await_function(struct continuation_context *);

extern void *swift_task_getCurrent(void);

static await_function *runtimesAwait;

/// The function that continues the awaiting function. It is called on the same thread or never: a
/// suspended task continues at the place that swift_continuation_init noted earlier.
static _Thread_local continuation_function *next;

__attribute__((swiftasynccall)) static void resumedAlready(
    __attribute__((swift_async_context)) struct continuation_context *context
) {
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return next(context);
}

__attribute__((swiftasynccall)) void swift_continuation_await(struct continuation_context *context) {
    if (context->flags & isExecutorSwitchForced) {
        __tsan_acquire(swift_task_getCurrent());
    } else {
        next = (continuation_function *)context->resume;
        context->resume = (void (*)(void))resumedAlready;
    }
    __attribute__((musttail)) return runtimesAwait(context);
}

// MARK: Synchronization.Mutex

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define swiftcc __attribute__((swiftcall))
#define self __attribute__((swift_context))

static swiftcc void (*runtimesLock)(uint32_t thread, self void *mutex);
static swiftcc bool (*runtimesTryLock)(self void *mutex);
static swiftcc void (*runtimesUnlock)(self void *mutex);

swiftcc void lockSlow(uint32_t thread, self void *mutex) __asm__(LOCK_SLOW);
swiftcc bool tryLockSlow(self void *mutex) __asm__(TRY_LOCK_SLOW);
swiftcc void unlockSlow(self void *mutex) __asm__(UNLOCK_SLOW);

// The fast path uses the same address, so that ThreadSanitizer sees one order for both paths.

swiftcc void lockSlow(uint32_t thread, self void *mutex) {
    runtimesLock(thread, mutex);
    __tsan_acquire(mutex);
}

swiftcc bool tryLockSlow(self void *mutex) {
    bool isTaken = runtimesTryLock(mutex);
    if (isTaken) __tsan_acquire(mutex);
    return isTaken;
}

swiftcc void unlockSlow(self void *mutex) {
    __tsan_release(mutex);
    runtimesUnlock(mutex);
}

// MARK: The runtime's functions

__attribute__((constructor)) static void findRuntime(void) {
    *(void **)&runtimesAwait = dlsym(RTLD_NEXT, "swift_continuation_await");
    *(void **)&runtimesLock = dlsym(RTLD_NEXT, LOCK_SLOW);
    *(void **)&runtimesTryLock = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    *(void **)&runtimesUnlock = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}
