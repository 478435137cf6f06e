import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question which results callers get when the disk fails, and whether they are true.
///
/// Property: any system call may fail at any time. An intent whose caller got "recorded" is in the
/// log, and an intent whose caller got "refused" is not. All intents whose callers got "unknown"
/// were in one transaction, so the log has all of them or none. A store that is latched takes no
/// more intents. When the log is opened again, it is sound and takes writes (L6).
@Suite(.serialized) struct FaultTests {
    private let directory = DiskDirectory()
    private static let probe = executable("foldback-probe")

    private static let faults: [(call: String, error: String)] = [
        ("fdatasync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("writev", "EIO"),
        ("openat", "EMFILE"), ("mmap", "ENOMEM"), ("fsync", "EIO"), ("rename", "EIO"),
        ("newfstatat", "EIO"), ("statx", "EIO"),
    ]

    @Test(
        .needsStrace,
        arguments: faults.indices)
    func `L6: a failed system call leaves every caller with a true result`(index: Int) async throws
    {
        let (call, error) = Self.faults[index]
        var failed = 0
        var unknown = 0
        // The two kinds of documents take turns. The first one is random in each run.
        let first = Int.random(in: 0...1)
        var whole: Set<DocumentStore> = []
        for time in TestEffort.places(1...400, quickStep: 3) {
            let store = DocumentStore(first + time)
            guard !whole.contains(store) else { continue }
            let log = directory.url.appending(path: "\(call)-\(time)")
            // A data file whose creation did not finish. Opening replaces it.
            try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
            try Data(count: 4_096).write(to: log.appending(path: "data.mdb"))
            let trace = directory.url.appending(path: "trace")
            let names = [
                "", "/data.mdb", "/data.mdb.new", "/lock.mdb", "/mark", "/mark.new", "/writer.pid",
            ]
            let strace = Strace.failing(
                call, time, with: error, on: names.map { log.path + $0 }, to: trace)
            let result = try run(
                strace + [Self.probe, "faults", store.rawValue, log.path, "2", "900"])
            #expect(result.status == 0, "\(call) \(time): \(result)")
            let text = try String(contentsOf: trace, encoding: .utf8)
            guard text.contains("(INJECTED)") else {
                whole.insert(store)
                if whole.count == DocumentStore.allCases.count { break }
                continue
            }
            failed += 1
            try await check(
                result.output, log, over: store, "\(call) \(error), time \(time), \(store)")
            unknown += Heard(result.output).unknown.isEmpty ? 0 : 1
            try FileManager.default.removeItem(at: log)
        }
        print("faults: \(call) failed with \(error) at \(failed) times")
        #expect(failed > 0 || !TestEffort.isFull, "\(call) was never called")
        // After a failure during a commit, the outcome is unknown and the commit is not repeated.
        let isOfCommits = ["fdatasync", "pwrite64", "writev"].contains(call)
        #expect(
            !isOfCommits || unknown > 0 || !TestEffort.isFull,
            "\(call) failed, and no caller got an error")
    }

    /// Compares the callers' results with the log, which is opened again without faults.
    private func check(
        _ output: String, _ log: URL, over store: DocumentStore, _ what: Comment
    ) async throws {
        func check<P: ShownDocuments>(_ documents: P.Type) async throws {
            let store = try await Store.open(
                at: log, documents, confirmedBy: .acknowledgement, durability: .durable)
            try await self.check(Heard(output), store, what)
            await store.close()
        }
        try await check(store.type)
    }

    private func check<P: ShownDocuments>(
        _ heard: Heard, _ store: Store<P>, _ what: Comment
    ) async throws {
        let there = try await P.keys(in: store, what)
        #expect(heard.recorded.isSubset(of: there), what)
        #expect(heard.refused.isDisjoint(with: there), what)
        let found = heard.unknown.intersection(there)
        #expect(found.isEmpty || found == heard.unknown, what)
        #expect(there.isSubset(of: heard.recorded.union(heard.unknown)), what)
        let isUnseen = P.self == StoredDocuments.self && heard.isUnseen
        #expect(heard.view == heard.recorded || heard.isClosed || isUnseen, what)
        #expect(heard.lastRecordedRound <= heard.firstLatchedRound, what)
        let receipt = try await store.record(.set("after", true))
        #expect(Int(receipt.number.value) == there.count + 1, what)
        #expect(try await store.verify().findings == [], what)
    }

    // MARK: Full disks

    private static let isUnderThreadSanitizer =
        ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    @Test(.disabled(if: isUnderThreadSanitizer, "ThreadSanitizer's own files may not grow either"))
    func `L6: a file at its size limit latches the log, and a higher limit ends that`()
        async throws
    {
        let store = DocumentStore(Int.random(in: 0...1))
        let limit = ["bash", "-c", "ulimit -f 200; exec \"$@\"", "-"]
        let result = try run(
            limit + [Self.probe, "faults", store.rawValue, directory.log.path, "60", "3000"])
        #expect(result.status == 0, "\(result)")
        #expect(
            result.output.contains("raise its limit (ulimit -f)"), "\(result.output.suffix(900))")
        #expect(Heard(result.output).recorded.count > 10)
        try await check(result.output, directory.log, over: store, "ulimit -f, \(store)")
    }

    @Test(arguments: ["tmpfs", "ext4"])
    func `L6: a full disk latches the log, and freed space ends that`(type: String)
        async throws
    {
        let store = DocumentStore(Int.random(in: 0...1))
        guard let disk = try SmallDisk(type, at: directory.url.appending(path: "disk")) else {
            print("skipped: \(type) cannot be mounted here (needs root, and mkfs.ext4 for ext4)")
            return
        }
        defer { disk.unmount() }
        let ballast = disk.url.appending(path: "ballast")
        try Data(repeating: 1, count: 1 << 20).write(to: ballast)
        let log = disk.url.appending(path: "log")
        let result = try run([Self.probe, "faults", store.rawValue, log.path, "400", "3000"])
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("free some space"), "\(result.output.suffix(900))")
        #expect(Heard(result.output).recorded.count > 10)
        // Older entries can be read while the disk is full.
        let status = try run([executable("foldback"), "verify", log.path])
        #expect(status.status == 0, "\(status)")
        try FileManager.default.removeItem(at: ballast)
        try await check(result.output, log, over: store, "\(type), \(store)")
    }
}

/// The results that the callers in the probe got, as sets of their intents' keys.
private struct Heard {
    var recorded: Set<String> = []
    var unknown: Set<String> = []
    /// The intents that were not recorded, for whatever reason.
    var refused: Set<String> = []
    /// The refused intents that a latched store refused.
    var latched: Set<String> = []
    var view: Set<String> = []
    var isClosed = false
    /// Whether the store was latched and its rows could no longer be read.
    var isUnseen = false

    var lastRecordedRound: Int { recorded.map(Self.round).max() ?? 0 }
    /// The store is latched from this round on. A definite failure refuses one intent alone, and the
    /// store takes the next.
    var firstLatchedRound: Int { unknown.union(latched).map(Self.round).min() ?? .max }

    /// The number of a key's round. A key is `k` and a rising number, and a round has twelve.
    private static func round(of key: String) -> Int { ((Int(key.dropFirst()) ?? 1) - 1) / 12 }

    init(_ output: String) {
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words[0] == "closed" { isClosed = true }
            if words[0] == "unseen" { isUnseen = true }
            if words[0] == "view" { view = Set(words.dropFirst()) }
            guard words.count > 1, words[0].hasPrefix("k") else { continue }
            switch words[1] {
            case "recorded": recorded.insert(words[0])
            case "unknown": unknown.insert(words[0])
            case "latched":
                refused.insert(words[0])
                latched.insert(words[0])
            default: refused.insert(words[0])
            }
        }
    }
}
