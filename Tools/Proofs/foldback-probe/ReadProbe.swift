import Foldback
import FoldbackHistory
import Foundation

/// `foldback-probe read`: reads a log again and again while other processes change what is at its path.
///
/// A line with a path begins with another log; the answer is `reading`. An empty line asks for what the
/// process has seen since the last answer, as one line of JSON: each text once until it changed. The last
/// one is of a look after the question.
enum ReadProbe {
    static func run() {
        var looks: Looks?
        while true {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // A pause between the looks: a reader holds a closed log only while it reads.
            guard poll(&input, 1, 20) != 0 else {
                looks?.look()
                continue
            }
            guard let line = readLine() else { return }
            if line.isEmpty, let seen = looks?.answer() {
                say("\(JSON.array(seen.map { .string($0) }))\n")
            } else {
                looks = Looks(log: URL(filePath: line, directoryHint: .isDirectory))
                looks?.look()
                say("reading\n")
            }
        }
    }

    private struct Looks {
        let log: URL
        private var reader: LogReader?
        private var seen: [String] = []

        init(log: URL) { self.log = log }

        /// Reads the log, and opens it again if the last look failed.
        mutating func look() {
            let found: String
            do throws(LogError) {
                let reader = if let reader { reader } else { try LogReader(at: log) }
                self.reader = reader
                found = try Self.content(of: reader)
            } catch {
                reader?.close()
                reader = nil
                found = Self.text(of: error)
            }
            if seen.last != found { seen.append(found) }
        }

        mutating func answer() -> [String] {
            look()
            // What is there now, if the file was lost in the meantime.
            if reader == nil { look() }
            defer { seen = seen.suffix(1) }
            return seen
        }

        private static func content(of reader: LogReader) throws(LogError) -> String {
            let status = try reader.status()
            let entries = try reader.entries(from: reader.first, countMax: .max)
            let sequences = entries.map(\.sequence.value)
            let expected = Array(reader.first.value..<status.sequence.value + 1)
            guard sequences == expected else { return "entries \(sequences), not \(expected)" }
            let shown = try reader.snapshot(
                of: Documents.self, also: [AdditionalProjection(StoredDocuments.self)],
                at: status.sequence)
            return "\(status.base)-\(status.sequence), \(status.pendingCount) pending: "
                + "\(shown.confirmed.json)"
        }

        private static func text(of error: LogError) -> String {
            switch error {
            case .storage(let failure) where failure.reason == .fileLost: "lost"
            case .missing: "missing"
            default: "\(error)"
            }
        }
    }
}
