import Foldback
import FoldbackShell
import Foundation
import Testing

/// Born from the question what callers hear when the disk fails, and whether it is true.
///
/// Property: whatever call to the system fails, and at whatever time, whoever heard "recorded" finds the
/// intent in the log, whoever heard "refused" does not; all who heard "unknown" were in one transaction,
/// which is there or is not; and opened again the log is sound and writing goes on (L6).
@Suite(.serialized) struct FaultTests {
    private let directory = DiskDirectory()
    private static let probe = ShellProcess.executable("foldback-probe").path

    private static let faults: [(call: String, error: String)] = [
        ("fdatasync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("writev", "EIO"),
        ("ftruncate", "EIO"), ("openat", "EMFILE"), ("mmap", "ENOMEM"), ("fsync", "EIO"),
    ]

    @Test(
        .enabled(
            if: Strace.isThere, "strace is not installed, or may not trace: apt-get install strace"),
        arguments: faults.indices)
    func `L6: any call that fails at any time leaves the truth`(index: Int) async throws {
        let (call, error) = Self.faults[index]
        var failed = 0
        var unknown = 0
        // Each time over one of the two, over which one is another matter in each run.
        let first = Int.random(in: 0...1)
        var whole: Set<DocumentStore> = []
        for time in 1...400 {
            let store = DocumentStore(first + time)
            guard !whole.contains(store) else { continue }
            let log = directory.url.appending(path: "\(call)-\(time)")
            // A file whose making was cut off earlier: opening truncates it.
            try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
            try Data(count: 4_096).write(to: log.appending(path: "data.mdb"))
            let trace = directory.url.appending(path: "trace")
            let names = ["", "/data.mdb", "/lock.mdb", "/mark", "/mark.new", "/writer.pid"]
            let strace = Strace.failing(
                call, time, with: error, on: names.map { log.path + $0 }, to: trace)
            let result = try run(
                strace + [Self.probe, "faults", store.rawValue, log.path, "4", "900"])
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
        print("faults: \(call) failed with \(error) at each of \(failed) times")
        #expect(failed > 0, "\(call) was never called")
        // What fails while committing is never tried again as if nothing had been.
        let isOfCommits = ["fdatasync", "pwrite64", "writev"].contains(call)
        #expect(!isOfCommits || unknown > 0, "\(call) failed, and nobody heard of it")
    }

    /// Whether what the callers heard is what the log has, opened again without faults.
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
        #expect(heard.lastRecordedRound <= heard.firstFailedRound, what)
        let receipt = try await store.record(.set("after", true))
        #expect(Int(receipt.number.value) == there.count + 1, what)
        #expect(try await store.verify().findings == [], what)
    }

    // MARK: Full disks

    private static let isUnderThreadSanitizer =
        ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    @Test(.disabled(if: isUnderThreadSanitizer, "ThreadSanitizer's own files may not grow either"))
    func `L6: a file that may not grow latches, and says why; with a higher limit it goes on`()
        async throws
    {
        let store = DocumentStore(Int.random(in: 0...1))
        let limit = ["bash", "-c", "ulimit -f 200; exec \"$@\"", "-"]
        let result = try run(
            limit + [Self.probe, "faults", store.rawValue, directory.log.path, "60", "3000"])
        #expect(result.status == 0, "\(result)")
        #expect(
            result.output.contains("raise its limit, ulimit -f"), "\(result.output.suffix(900))")
        #expect(Heard(result.output).recorded.count > 10)
        try await check(result.output, directory.log, over: store, "ulimit -f, \(store)")
    }

    @Test(arguments: ["tmpfs", "ext4"])
    func `L6: a full disk latches, and says so; with space freed it goes on`(type: String)
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
        // What was there can be read also while the disk is full.
        let status = try run([ShellProcess.executable("foldback").path, "verify", log.path])
        #expect(status.status == 0, "\(status)")
        try FileManager.default.removeItem(at: ballast)
        try await check(result.output, log, over: store, "\(type), \(store)")
    }
}

/// What the callers in the probe heard, by key.
private struct Heard {
    var recorded: Set<String> = []
    var unknown: Set<String> = []
    var refused: Set<String> = []
    var view: Set<String> = []
    var isClosed = false
    /// The store was latched, and its rows could not be read any more.
    var isUnseen = false

    var lastRecordedRound: Int { recorded.map(Self.round).max() ?? 0 }
    /// From then on the store is latched.
    var firstFailedRound: Int { unknown.union(refused).map(Self.round).min() ?? .max }

    /// Keys are `k` and a number that rises; six are recorded at once.
    private static func round(of key: String) -> Int { ((Int(key.dropFirst()) ?? 1) - 1) / 6 }

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
            default: refused.insert(words[0])
            }
        }
    }
}

/// A file system of a few MiB.
private struct SmallDisk {
    let url: URL

    /// Nil where this process may not mount any.
    init?(_ type: String, at url: URL) throws {
        self.url = url
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let command: [String]
        if type == "ext4" {
            let image = url.path + ".img"
            let make = "truncate -s 6M '\(image)' && PATH=$PATH:/sbin mkfs.ext4 -q -m 0 '\(image)'"
            guard try run(["bash", "-c", make]).status == 0 else { return nil }
            command = ["mount", "-o", "loop", image, url.path]
        } else {
            command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", url.path]
        }
        guard try run(command).status == 0 else { return nil }
    }

    func unmount() { _ = try? run(["umount", "-l", url.path]) }
}
