// Tells ThreadSanitizer about two synchronisations of the Swift runtime that it does not see; linked in by
// Tools/test --sanitize thread on Linux, and nowhere else.
//
// The runtime's libraries come compiled, without ThreadSanitizer's instrumentation. Where the runtime
// synchronises in there and says nothing, correct programs are reported. Found with Swift 6.3.1:
//
// 1. A continuation that is resumed before its task awaits it (SR-15498, swiftlang/swift#57803).
//    swift_continuation_resume calls __tsan_release on the task. A task that was suspended is enqueued
//    again, and running it calls __tsan_acquire. A task that finds itself resumed already goes on at once,
//    in swift_continuation_await, which does not.
// 2. Synchronization.Mutex on Linux. Its fast path is compiled into the caller, with instrumentation; a lock
//    that is contended is taken and given back in libswiftSynchronization (_lockSlow, _tryLockSlow,
//    _unlockSlow: compare-exchange, futex), which says nothing.
//
// The functions here stand before those of the runtime, call them, and add what is missing. Nothing is
// suppressed: every access is still checked, and these are orders that do hold, so a race elsewhere is
// reported as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Of ThreadSanitizer's runtime (sanitizer/tsan_interface.h).
extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// MARK: Continuations

/// The start of ContinuationAsyncContext (swift/ABI/Task.h), which compiled code fills in.
struct continuation_context {
    void *parent;
    void (*resume)(void);
    uintptr_t flags;
};

/// AsyncContinuationFlags: the task is to be moved to an executor. It may be enqueued for that.
static const uintptr_t isExecutorSwitchForced = 2;

typedef __attribute__((swiftasynccall)) void continuation_function(
    __attribute__((swift_async_context)) struct continuation_context *);
typedef __attribute__((swiftasynccall)) void await_function(struct continuation_context *);

extern void *swift_task_getCurrent(void);

static await_function *runtimesAwait;

/// What the awaiting function goes on with. It is called on the same thread, or not at all: a task that
/// is suspended goes on where swift_continuation_init noted, before it came here.
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

// The fast path's instructions go to the same address, so that both are one order to ThreadSanitizer.

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

// MARK: The runtime's own

__attribute__((constructor)) static void findRuntime(void) {
    *(void **)&runtimesAwait = dlsym(RTLD_NEXT, "swift_continuation_await");
    *(void **)&runtimesLock = dlsym(RTLD_NEXT, LOCK_SLOW);
    *(void **)&runtimesTryLock = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    *(void **)&runtimesUnlock = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}
