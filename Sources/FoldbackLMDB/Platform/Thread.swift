#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

extension Platform {
    /// Runs `body` on a new thread, which ends with it. A thread may block; Swift's cooperative pool,
    /// on which tasks run, may not.
    package static func startThread(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Projections run here: as much stack as a main thread has.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, &attributes, threadMain, argument)
        precondition(code == 0, "the system gives no thread: \(message(errno: code))")
    }

    /// The result of `body`, run on a thread of its own: for work that would keep one of the pool's busy.
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

    /// A write beyond the process's limit for files (setrlimit(2)) sends its thread a signal that would
    /// end the process; blocked, the write fails and says so.
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
