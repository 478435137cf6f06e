#if ReplayTool
    import Foundation

    /// Reads and writes open files, with the system's own error texts. Foundation has fewer of
    /// them, or traps.
    enum Descriptor {
        /// The standard streams that were closed when the process started.
        ///
        /// The next file that is opened gets the number of a closed stream, and printed text would
        /// then go into that file, which may be a log. This initializer therefore opens `/dev/null`
        /// in place of each closed stream. If a file of the runtime already has the number, `fstat`
        /// shows no type.
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

        /// Prepares the process. Call it before any file is opened.
        ///
        /// It makes a limit on file size an error of `write` instead of the end of the process. It
        /// installs a handler, because commands that the tool runs would inherit an ignored signal.
        static func prepareProcess() {
            _ = closed
            let before = signal(SIGXFSZ) { _ in }
            if isIgnoring(before) { signal(SIGXFSZ, SIG_IGN) }
        }

        static func isIgnoring(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
            unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        /// Writes all bytes. Waits while the descriptor cannot take more.
        ///
        /// - Parameter name: the name of the file in errors.
        static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws {
            try requireOpen(descriptor, StreamFailure.unwritable, name)
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.write(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // The parent process made the descriptor non-blocking.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&wait, 1, -1)
                    continue
                }
                guard count >= 0 else { throw StreamFailure.unwritable(name) }
                rest = rest.dropFirst(count)
            }
        }

        /// Reads the bytes that have arrived, at most as many as `piece` has. Foundation waits for
        /// the whole piece, or traps.
        ///
        /// - Returns: the number of bytes; 0 at the end.
        static func read(
            _ descriptor: Int32, into piece: inout [UInt8], named name: String
        ) throws -> Int {
            try requireOpen(descriptor, StreamFailure.unreadable, name)
            while true {
                let count = piece.withUnsafeMutableBytes {
                    Foundation.read(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // The parent process made the descriptor non-blocking.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    _ = poll(&wait, 1, -1)
                    continue
                }
                guard count >= 0 else { throw StreamFailure.unreadable(name) }
                return count
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
        /// An error with the text of the last failed system call.
        static func unwritable(_ name: String) -> StreamFailure {
            StreamFailure("\(name) cannot be written: \(systemError)")
        }

        static func unreadable(_ name: String) -> StreamFailure {
            StreamFailure("\(name) cannot be read: \(systemError)")
        }
    }

    /// The system's text for the last failed system call.
    var systemError: String { String(cString: strerror(errno)) }
#endif
