import Foundation

/// A pipe that gets a byte when a signal comes.
struct SignalPipe {
    let reader: Int32

    /// The end that the handler writes to. A handler has no context.
    nonisolated(unsafe) private static var writer: Int32 = -1

    /// The signals are delivered also if the process that started this one had blocked them.
    init(_ signals: Int32...) {
        let pipe = Pipe()
        reader = dup(pipe.fileHandleForReading.fileDescriptor)
        Self.writer = dup(pipe.fileHandleForWriting.fileDescriptor)
        for file in [reader, Self.writer] { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        for number in signals {
            sigaddset(&unblocked, number)
            signal(number) { _ in
                var byte: UInt8 = 0
                _ = write(SignalPipe.writer, &byte, 1)
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
    }
}
