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
    /// The entries at the end, with those that compactions have removed, as text to compare.
    let entries: [String]
    /// The same entries as documents fold them.
    let history: RecordedHistory<DocumentEvent>
    /// For each count of entries: how many intents they record.
    let intentCounts: [Int]
    /// The log's replica at the end.
    let replica: ReplicaID
    /// For each count of operations done: the entries that the user must find again.
    let promised: [Int]
    /// For each count of operations done: how many answers the user has.
    let answered: [Int]
    /// For each count of operations done: the base of the log and the last entry of the backup
    /// that the user has heard of; 0 if there is none.
    let heard: [(base: Int, backup: Int)]
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
        let starts = trace.operations.enumerated().compactMap { place, operation -> Int? in
            if case .start = operation { place } else { nil }
        }
        startCount = scenario.isAfterCut ? starts[1] : starts[scenario.firstCutSession]
        var disk = Disk()
        var unflushed = [0]
        var removed: [LogEntry<[UInt8]>] = []
        for (place, operation) in trace.operations.enumerated() {
            if place == startCount, scenario.compactingSession != nil {
                removed = try Self.entries(
                    on: disk.wholeImage(), writtenTo: directory.appending(path: "before"))
            }
            disk.perform(operation)
            unflushed.append(disk.pendingCount)
        }
        self.unflushed = unflushed
        lastContents = try Self.compare(disk, with: root)
        let log = root.appending(path: "log", directoryHint: .isDirectory)
        let reader = try LogReader(at: log)
        defer { reader.close() }
        let status = try reader.status()
        replica = status.replica
        let all =
            try removed
            + reader.allEntries().filter { $0.sequence > removed.last?.sequence ?? 0 }
        history = try RecordedHistory(kind: scenario.kind, replica: replica, entries: all)
            .read(by: Documents.codec)
        entries = all.map(\.text)
        intentCounts = all.reduce(into: [0]) { counts, entry in
            let isIntent = if case .intent = entry.content { 1 } else { 0 }
            counts.append(counts.last! + isIntent)
        }
        if scenario.writesCheckpoint, status.checkpoint == 0 {
            throw RecordingError("\(scenario.name): no checkpoint was written")
        }
        if let map = scenario.sessions.compactMap(\.mapBytes).max(), status.bytesOnDisk <= map {
            throw RecordingError("\(scenario.name): the map did not grow")
        }
        var reading = AnswerReading(scenario, all, promised: start)
        (promised, answered, heard) = try reading.promises(in: trace)
    }

    /// Returns the entries of the log on an image.
    private static func entries(
        on image: DiskImage, writtenTo directory: URL
    ) throws -> [LogEntry<[UInt8]>] {
        let files = try ImageFiles(image, in: directory)
        defer { files.remove() }
        let reader = try LogReader(at: files.log)
        defer { reader.close() }
        return try reader.allEntries()
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
    /// The answers of the session.
    private var place = 0
    private var heard = (base: 0, backup: 0)
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

    mutating func promises(
        in trace: Trace
    ) throws -> (promised: [Int], answered: [Int], heard: [(base: Int, backup: Int)]) {
        var (all, counts, heards) = ([promised], [0], [heard])
        for operation in trace.operations {
            switch operation {
            case .start: (session, place) = (session + 1, 0)
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
            heards.append(heard)
        }
        return (all, counts, heards)
    }

    /// Reads one line of the standard output.
    private mutating func read() throws {
        let text = String(decoding: line, as: UTF8.self)
        let session = scenario.sessions[session]
        answered += 1
        switch session.program {
        case .importer: promised = entryCount
        case .successor, .beginner:
            guard text == "continued" || text == "begun" else {
                throw RecordingError("a process of \(scenario.name) answered \(text)")
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
            place += 1
            if let base = answer["base"]?.integerValue { heard.base = Int(base) }
            guard let sequence = answer["sequence"]?.integerValue else { return }
            if session.lines[place - 1].contains(Script.backup) { heard.backup = Int(sequence) }
            // Under relaxed durability, a power cut may undo the last commit, and no other (L2).
            // The shell commits each command by itself.
            promised = session.durability == .durable ? Int(sequence) : max(promised, last)
            last = Int(sequence)
        }
    }
}

extension LogReader {
    /// Returns the entries after the base of the log.
    func allEntries() throws -> [LogEntry<[UInt8]>] {
        var all: [LogEntry<[UInt8]>] = []
        var next = try LogSequence(status().base.value + 1)
        while case let piece = try entries(from: next, countMax: 500), let last = piece.last {
            all += piece
            next = LogSequence(last.sequence.value + 1)
        }
        return all
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
