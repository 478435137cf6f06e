#if ReplayTool
    import Foundation

    /// Open files, with the system's own words for what failed: Foundation has fewer, or traps.
    enum Descriptor {
        /// Standard streams that were closed. The next file that is opened gets such a number: one of the runtime's
        /// own, which has no type, is there already; others are taken, lest answers be written into a log.
        private static let closed: Set<Int32> = {
            var closed: Set<Int32> = []
            for stream in STDIN_FILENO...STDERR_FILENO {
                var found = stat()
                let isOpen = fstat(stream, &found) == 0
                if !isOpen { _ = open("/dev/null", O_RDWR) }
                if !isOpen || found.st_mode & S_IFMT == 0 { closed.insert(stream) }
            }
            return closed
        }()

        /// Before a file is opened. A limit on a file's size is to be an error, not the end; by a handler, for what is
        /// ignored would be so in commands that are run.
        static func prepareProcess() {
            _ = closed
            let before = signal(SIGXFSZ) { _ in }
            if isIgnoring(before) { signal(SIGXFSZ, SIG_IGN) }
        }

        static func isIgnoring(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
            unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        /// - Parameter name: as who uses the tool knows it.
        static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws {
            try requireOpen(descriptor, StreamFailure.unwritable, name)
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.write(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // Who started this has it so that nobody waits.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&wait, 1, -1)
                    continue
                }
                guard count >= 0 else { throw StreamFailure.unwritable(name) }
                rest = rest.dropFirst(count)
            }
        }

        /// Whatever it is of: a pipe and a device too.
        static func readToEnd(_ descriptor: Int32, named name: String) throws -> [UInt8] {
            try requireOpen(descriptor, StreamFailure.unreadable, name)
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 1 << 18)
            while true {
                let count = piece.withUnsafeMutableBytes {
                    read(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw StreamFailure.unreadable(name) }
                guard count > 0 else { return bytes }
                bytes += piece[..<count]
            }
        }

        private static func requireOpen(
            _ descriptor: Int32, _ failure: (String) -> StreamFailure, _ name: String
        ) throws {
            guard closed.contains(descriptor) else { return }
            errno = EBADF
            throw failure(name)
        }
    }

    extension StreamFailure {
        /// With what the last call of the system said.
        static func unwritable(_ name: String) -> StreamFailure {
            StreamFailure("\(name) cannot be written: \(systemError)")
        }

        static func unreadable(_ name: String) -> StreamFailure {
            StreamFailure("\(name) cannot be read: \(systemError)")
        }
    }

    /// What the last call of the system said that failed.
    var systemError: String { String(cString: strerror(errno)) }
#endif
