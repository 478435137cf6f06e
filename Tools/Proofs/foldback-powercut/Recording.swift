import CRecordedIdentity
import Foldback
import FoldbackHistory
import Foundation
import PowerCuts

/// A scenario that was carried out once: what it did to its files, and what it told its user.
struct Recording: Sendable {
    let scenario: Scenario
    let trace: Trace
    /// The contents of mapped files at the end.
    let lastContents: [FileID: [UInt8]]
    /// The entries at the end, as text to compare.
    let entries: [String]
    /// For each count of entries: how many intents they record.
    let intentCounts: [Int]
    /// The log's replica at the end.
    let replica: ReplicaID
    /// For each count of operations done: the entries that the user must find again.
    let promised: [Int]
    /// For each count of operations done: how many answers the user has.
    let answered: [Int]
    /// For each count of operations done: how many of them are not flushed.
    let unflushed: [Int]
    /// The operations that lead to the files with which the recording starts.
    let startCount: Int
    /// The file that an import reads.
    let importedFile: URL

    /// Where the scenario's files are kept: the trace, the answers, and the directory `root`.
    let directory: URL
}

extension Recording {
    /// Reads a recording from the directory in which the scenario ran.
    ///
    /// Checks that the trace explains every byte of the files at its end. So no call was missed.
    ///
    /// - Parameter promised: the entries that must be in the log at the start.
    init(of scenario: Scenario, in directory: URL, promised start: Int) throws {
        self.scenario = scenario
        self.directory = directory
        importedFile = directory.appending(path: "imported.ndjson")
        let root = directory.appending(path: "root", directoryHint: .isDirectory)
        let trace = try Trace(parsing: Array(Data(contentsOf: directory.appending(path: "trace"))))
        self.trace = trace
        var disk = Disk()
        var unflushed = [0]
        for operation in trace.operations {
            disk.perform(operation)
            unflushed.append(disk.pendingCount)
        }
        self.unflushed = unflushed
        let starts = trace.operations.enumerated().compactMap { place, operation -> Int? in
            if case .start = operation { place } else { nil }
        }
        startCount = scenario.isAfterCut ? starts[1] : 0
        lastContents = try Self.compare(disk, with: root)
        let log = root.appending(path: "log", directoryHint: .isDirectory)
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let history = try reader.history()
        entries = history.entries.map(\.text)
        intentCounts = history.entries.reduce(into: [0]) { counts, entry in
            let isIntent = if case .intent = entry.content { 1 } else { 0 }
            counts.append(counts.last! + isIntent)
        }
        let status = try reader.status()
        replica = status.replica
        if scenario.writesCheckpoint, status.checkpoint == 0 {
            throw RecordingError("\(scenario.name): no checkpoint was written")
        }
        if let map = scenario.sessions.compactMap(\.mapBytes).max(), status.bytesOnDisk <= map {
            throw RecordingError("\(scenario.name): the map did not grow")
        }
        var reading = AnswerReading(scenario, history.entries, promised: start)
        (promised, answered) = try reading.promises(in: trace)
    }

    /// Compares the files that the trace leads to with the real files. Returns the contents of
    /// mapped files, which may differ.
    private static func compare(_ disk: Disk, with root: URL) throws -> [FileID: [UInt8]] {
        let items = disk.wholeImage().items
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        guard Set(items.map(\.path)) == Set(names) else {
            throw RecordingError(
                "the trace leads to the files \(items.map(\.path)), but there are \(names.sorted())"
            )
        }
        var mapped: [FileID: [UInt8]] = [:]
        for item in items {
            guard let bytes = item.bytes else { continue }
            let found = try [UInt8](Data(contentsOf: root.appending(path: item.path)))
            if disk.mappedFiles.contains(item.id) {
                mapped[item.id] = found
            } else if found != bytes {
                throw RecordingError("the trace does not lead to the content of \(item.path)")
            }
        }
        return mapped
    }
}

/// Follows the answers of a recording, and what each of them promises.
private struct AnswerReading {
    private let scenario: Scenario
    private let entryCount: Int
    private var sequenceOfIntent: [UInt64: Int] = [:]
    private var session: Int
    private var line: [UInt8] = []
    private var promised: Int
    private var answered = 0
    /// The last entry that was answered, promised or not.
    private var last: Int

    init(_ scenario: Scenario, _ entries: [LogEntry<[UInt8]>], promised: Int) {
        (self.promised, last) = (promised, promised)
        // A trace with files at its start names their directory first.
        session = scenario.isAfterCut ? -2 : -1
        self.scenario = scenario
        entryCount = entries.count
        for entry in entries {
            guard case .intent(let intent) = entry.content else { continue }
            sequenceOfIntent[intent.number.value] = Int(entry.sequence.value)
        }
    }

    mutating func promises(in trace: Trace) throws -> (promised: [Int], answered: [Int]) {
        var (all, counts) = ([promised], [0])
        for operation in trace.operations {
            switch operation {
            case .start: session += 1
            case .answer(let bytes):
                for byte in bytes {
                    guard byte == UInt8(ascii: "\n") else {
                        line.append(byte)
                        continue
                    }
                    try read()
                    line = []
                }
            default: break
            }
            all.append(promised)
            counts.append(answered)
        }
        return (all, counts)
    }

    /// Reads one line of the standard output.
    private mutating func read() throws {
        let text = String(decoding: line, as: UTF8.self)
        let session = scenario.sessions[session]
        answered += 1
        switch session.program {
        case .importer: promised = entryCount
        case .successor:
            guard text == "continued" else {
                throw RecordingError("the successor of \(scenario.name) answered \(text)")
            }
        case .callers:
            let words = text.split(separator: " ")
            guard words.count == 3, words[1] == "recorded" else { return }
            guard let number = UInt64(words[2]), let sequence = sequenceOfIntent[number] else {
                throw RecordingError("the answer \(text) is not in the log")
            }
            promised = max(promised, sequence)
        case .shell:
            let answer = try JSON(parsing: line)
            guard answer["ok"] == true else {
                throw RecordingError("the shell of \(scenario.name) answered \(text)")
            }
            if answer["flushed"] == true { promised = last }
            guard let sequence = answer["sequence"]?.integerValue else { return }
            // Under relaxed durability, a power cut may undo the last commit, and no other (L2).
            // The shell commits each command by itself.
            promised = session.durability == .durable ? Int(sequence) : max(promised, last)
            last = Int(sequence)
        }
    }
}

extension LogEntry {
    /// Everything that the entry says, as text to compare. Events are in it as a hash of their
    /// bytes.
    var text: String {
        let hashes = events.map { "\($0.bytes.hashValue)" }.joined(separator: " ")
        let what =
            switch content {
            case .intent(let intent): intent.text
            case .acknowledged(let number, let position, _):
                "acknowledged \(number) \(position?.value ?? 0)"
            case .changed(let number, let change): "changed \(number) \(change)"
            case .confirmed(let events, let through):
                "confirmed \(events.map { "\($0.position) \($0.origin as Any)" }) \(through)"
            }
        return "\(sequence) \(time) \(replica) \(info) \(what) \(hashes)"
    }
}

extension LoggedIntent {
    /// The intent's terms as text to compare.
    fileprivate var text: String {
        let links = [retries, replaces, group, undoes].map { $0?.value ?? 0 }
        return "intent \(number) \(isConfirmOnly) \(isHeld) \(once ?? "") "
            + "\(replacingKey ?? "") \(links) \(inverse?.bytes.hashValue ?? 0)"
    }
}

/// A recording that cannot be made or used.
struct RecordingError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
