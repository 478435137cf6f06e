#if ReplayTool
    import Foldback
    import Foundation
    import Synchronization

    /// A temporary file that only its owner may read.
    ///
    /// The file is removed if a signal ends the process: an interrupt, a termination, or the loss
    /// of the terminal or of the reader of its output. In all other cases its creator must remove
    /// it: `defer { file.remove() }`.
    struct VanishingFile {
        let path: String
        /// The name of the file in errors.
        private let name: String
        private let slot: Int

        /// Creates a file in the directory for temporary files.
        ///
        /// - Parameter ending: the extension, for programs that choose by it.
        init(extension ending: String? = nil) throws {
            try self.init(
                in: FileManager.default.temporaryDirectory, named: nil, extension: ending)
        }

        /// Creates a file beside `target` that will be renamed to `target`.
        ///
        /// - Parameter name: the name that the user gave to the file.
        init(for name: String, at target: String) throws {
            try self.init(in: URL(filePath: target).deletingLastPathComponent(), named: name)
        }

        private init(in folder: URL, named name: String?, extension ending: String? = nil) throws {
            let file = "\(UUID().uuidString)\(ending.map { ".\($0)" } ?? "")"
            // Browsers may refuse hidden files.
            path = folder.appending(path: "\(ending == nil ? "." : "")foldback-\(file)").path
            self.name = name ?? path
            slot = Vanishing.add(path)
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            guard descriptor >= 0 else {
                let failure = StreamFailure.unwritable(self.name)
                Vanishing.remove(slot)
                throw failure
            }
            Foundation.close(descriptor)
            // The handler may have run before the file existed.
            if Vanishing.isEnding { unlink(path) }
        }

        /// Replaces the contents. Does not create the file again if a signal has just removed it.
        func write(_ body: (([UInt8]) throws -> Void) throws -> Void) throws {
            try Output.writing(through: path, O_TRUNC, named: name, body)
        }

        func write(_ bytes: [UInt8]) throws { try write { try $0(bytes) } }

        /// Removes the file, if it was not renamed, and frees its slot.
        func remove() {
            unlink(path)
            Vanishing.remove(slot)
        }
    }

    /// The paths that a signal handler removes.
    ///
    /// A handler may run between any two instructions, so it may only read memory that never moves.
    /// There are few such files at a time, and one command creates all of them. A path has its slot
    /// before its file is created.
    private enum Vanishing {
        private static let slotCount = 8
        private static let hasSignal = Atomic(false)

        static var isEnding: Bool { hasSignal.load(ordering: .sequentiallyConsistent) }

        /// `nonisolated(unsafe)` is correct because the pointer never changes. One thread fills the
        /// slots, and a handler only reads them, one word at a time.
        nonisolated(unsafe) private static let paths = {
            let paths = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
                capacity: slotCount)
            paths.initialize(repeating: nil, count: slotCount)
            return paths
        }()
        /// Installs the handlers. `paths` must be initialized before, because a handler must not be
        /// the first to access it.
        private static let handled: Void = {
            for number in [SIGHUP, SIGINT, SIGTERM, SIGPIPE] { handle(number) }
        }()

        static func add(_ path: String) -> Int {
            guard let slot = (0..<slotCount).first(where: { paths[$0] == nil }) else {
                preconditionFailure("more than \(slotCount) vanishing files")
            }
            paths[slot] = strdup(path)
            handled
            return slot
        }

        static func remove(_ slot: Int) {
            let path = paths[slot]
            paths[slot] = nil
            free(path)
        }

        /// Installs a handler that removes the files and then ends the process as if there were no
        /// handler. An ignored signal stays ignored, as for a command in the background.
        private static func handle(_ number: Int32) {
            let before = signal(number) { number in
                Vanishing.hasSignal.store(true, ordering: .sequentiallyConsistent)
                for slot in 0..<Vanishing.slotCount {
                    if let path = Vanishing.paths[slot] { unlink(path) }
                }
                signal(number, SIG_DFL)
                raise(number)
            }
            if Descriptor.isIgnoring(before) { signal(number, SIG_IGN) }
        }
    }
#endif
