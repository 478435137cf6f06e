#if ReplayTool
    import Foldback
    import Foundation
    import Synchronization

    /// Shows on a terminal, after one second, what the tool is doing and how far it is.
    final class Progress: Sendable {
        private let what: String
        private let total: UInt64?
        private let count = Atomic<UInt64>(0)
        private let ticking = Mutex<Task<Void, any Error>?>(nil)

        /// Shows nothing, for computations that nobody follows at the terminal.
        static var silent: Progress { Progress() }

        private init() {
            what = ""
            total = nil
        }

        /// - Parameter total: the maximum of all steps of ``advance(by:)``; nil if it is never
        ///   called.
        init(_ what: String, of total: UInt64? = nil) {
            self.what = what
            self.total = total
            guard isatty(STDERR_FILENO) == 1 else { return }
            let task = Task.detached {
                let start = ContinuousClock.now
                while true {
                    try await Task.sleep(for: .seconds(1))
                    let seconds = Int((ContinuousClock.now - start) / .seconds(1))
                    Output.notePart("\r\(self.text), \(seconds) s")
                }
            }
            ticking.withLock { $0 = task }
        }

        func advance(by step: UInt64 = 1) { count.add(step, ordering: .relaxed) }

        func end() {
            ticking.withLock { task in
                guard let ending = task else { return }
                ending.cancel()
                task = nil
                Output.notePart("\r\u{1B}[K")
            }
        }

        private var text: String {
            total.map { "\(what): \(count.load(ordering: .relaxed)) of \($0)" } ?? what
        }

        static func run<R>(
            _ what: String, of total: UInt64? = nil, _ body: (Progress) throws -> R
        ) rethrows -> R {
            let progress = Progress(what, of: total)
            defer { progress.end() }
            return try body(progress)
        }

        static func run<R>(_ what: String, _ body: () throws -> R) rethrows -> R {
            try run(what) { _ in try body() }
        }
    }
#endif
