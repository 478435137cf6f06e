#if ReplayTool
    import Foundation

    /// Ends the process when its terminal closes.
    ///
    /// The system sends SIGHUP then, which ends the process. It does not send SIGHUP to a process
    /// that a shell started in the background and forgot, or that has another session. So this also
    /// watches the standard streams that are terminals. A pipe or a file that ends does not end the
    /// process, because a service or a test may run it without input.
    enum TerminalWatch {
        static func start() {
            let terminals = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].filter { isatty($0) == 1 }
            guard !terminals.isEmpty else { return }
            Thread.detachNewThread {
                // Without events, `poll` reports only that a terminal is gone, and reads nothing.
                var watched = terminals.map { pollfd(fd: $0, events: 0, revents: 0) }
                while poll(&watched, nfds_t(watched.count), -1) <= 0 {}
                exit(128 + SIGHUP)
            }
        }
    }
#endif
