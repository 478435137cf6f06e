#if ReplayTool
    import Foldback
    import Foundation
    import Synchronization

    /// A file that only its owner may read, and that is gone where the process is interrupted, terminated, or loses
    /// its terminal or who reads its output. Who makes it removes it: `defer { file.remove() }`.
    struct VanishingFile {
        let path: String
        /// As errors have it.
        private let name: String
        private let slot: Int

        /// Where temporary files are.
        init() throws {
            try self.init(in: FileManager.default.temporaryDirectory, named: nil)
        }

        /// Beside `target`, to become that file.
        ///
        /// - Parameter name: what who uses the tool calls it.
        init(for name: String, at target: String) throws {
            try self.init(in: URL(filePath: target).deletingLastPathComponent(), named: name)
        }

        private init(in folder: URL, named name: String?) throws {
            path = folder.appending(path: ".foldback-\(UUID().uuidString)").path
            self.name = name ?? path
            slot = Vanishing.add(path)
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            guard descriptor >= 0 else {
                let failure = StreamFailure.unwritable(self.name)
                Vanishing.remove(slot)
                throw failure
            }
            Foundation.close(descriptor)
            // A signal came before the file did.
            if Vanishing.isEnding { unlink(path) }
        }

        /// Whatever was in it. It is not made again where a signal has just removed it.
        func write(_ body: (([UInt8]) throws -> Void) throws -> Void) throws {
            try Output.writing(through: path, O_TRUNC, named: name, body)
        }

        func write(_ bytes: [UInt8]) throws { try write { try $0(bytes) } }

        /// Also where it has become another file.
        func remove() {
            unlink(path)
            Vanishing.remove(slot)
        }
    }

    /// Paths that a signal's handler can read: it may be called between any two instructions, so there is nothing
    /// but memory that stays where it is. Few files vanish at a time, and all are made by the one command that runs; a
    /// path has its place before the file is made.
    private enum Vanishing {
        private static let slotCount = 8
        private static let hasSignal = Atomic(false)

        static var isEnding: Bool { hasSignal.load(ordering: .sequentiallyConsistent) }

        /// `nonisolated(unsafe)`: a pointer that never changes, to places that one thread fills, and that a handler only
        /// reads, a word at a time.
        nonisolated(unsafe) private static let paths = {
            let paths = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
                capacity: slotCount)
            paths.initialize(repeating: nil, count: slotCount)
            return paths
        }()
        /// Once there are paths: a handler must not be the first who asks for them.
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

        /// Ends as if there were no handler. What was ignored stays so, as for a command in the background.
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
