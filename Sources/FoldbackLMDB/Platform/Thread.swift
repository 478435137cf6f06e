#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

extension Platform {
    /// Runs `body` on a new thread, which ends when `body` returns.
    ///
    /// Use this for work that blocks. Tasks run on Swift's cooperative pool, whose threads must not
    /// block.
    package static func startThread(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Projections run on this thread. 8 MiB is the usual stack size of a main thread.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, &attributes, threadMain, argument)
        precondition(code == 0, "pthread_create failed: \(message(errno: code))")
    }

    /// Lets another thread run, if one is ready. Otherwise returns at once.
    package static func yieldThread() { sched_yield() }

    /// Runs `body` on a new thread and returns its result.
    ///
    /// Use this for work that would occupy a thread of the cooperative pool for long.
    package static func onThread<R: Sendable, E: Error>(
        _ body: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result = await withUnsafeContinuation {
            (done: UnsafeContinuation<Result<R, E>, Never>) in
            startThread {
                do throws(E) {
                    done.resume(returning: .success(try body()))
                } catch {
                    done.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}

private final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs the body with SIGXFSZ blocked.
    ///
    /// A write beyond the process's file size limit (setrlimit(2)) sends this signal to its thread,
    /// and the signal would end the process. With the signal blocked, the write fails with an
    /// error.
    func run() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        body()
    }
}

#if canImport(Darwin)
    private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
#else
    private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
#endif
