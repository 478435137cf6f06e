import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what a compaction leaves if its process is killed, or if the disk is full (C7). The
/// tests kill real processes at their system calls.
///
/// Property: after a kill, the log is the old one or the new one, complete, with the same replica id. Compacting
/// again finishes, and the archive then has the whole old log. Another process that reads the log sees the old
/// log, until it is told that the file was replaced, and then the new log.
@Suite(.serialized) struct CompactKillTests {
    private static let callCountMax = 1_000
    private static let entryCount = 200

    /// Makes a log of ``entryCount`` entries: intents and their answers.
    private func makeLog(_ log: URL, _ kind: LogKind) async throws -> ReplicaID {
        let store = try await Store.open(
            at: log, Documents.self, also: [AdditionalProjection(StoredDocuments.self)],
            confirmedBy: kind, durability: .relaxed)
        let receipts = try await store.record(
            contentsOf: (1...Self.entryCount / 2).map { .set("a", .integer(Int64($0))) })
        for receipt in receipts {
            let position = Position(receipt.number.value)
            switch kind {
            case .acknowledgement: try await store.acknowledge(receipt.number)
            case .downlink:
                let event = DocumentEvent.set("a", .integer(Int64(position.value)))
                try await store.confirm(
                    [ConfirmedEvent(position: position, event: event, origin: receipt.id)],
                    through: position)
            }
        }
        let replica = store.status.replica
        await store.close()
        return replica
    }

    private func compact(
        _ log: URL, archive: URL?, under prefix: [String] = []
    ) throws -> ProcessEnd {
        try run(
            prefix + [executable("foldback"), "compact", log.path, "--keep-entries", "50"]
                + (archive.map { ["--archive", $0.path] } ?? []))
    }

    /// Checks that the log is complete, and returns its base.
    private func check(
        _ log: URL, _ kind: LogKind, _ replica: ReplicaID, _ note: Comment
    ) async throws -> LogSequence {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: log.deletingLastPathComponent().path)
        #expect(
            names.allSatisfy {
                ["log", "log.compacted", "old"].contains($0) || $0.hasPrefix(".wiped-")
            }, note)
        let store = try await Store.open(
            at: log, Documents.self, also: [AdditionalProjection(StoredDocuments.self)],
            confirmedBy: kind, durability: .relaxed)
        let status = store.status
        #expect(status.replica == replica, note)
        #expect(status.sequence.value == UInt64(Self.entryCount), note)
        #expect(store.view.json == ["a": .integer(Int64(Self.entryCount / 2))], note)
        #expect(try await store.verify().findings == [], note)
        await store.close()
        return status.base
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("log", "log.compacted")
            + TracedCall.each(
                "flock", "mkdir", "pwrite64", "fdatasync", "rename", "renameat2", "fsync",
                "unlinkat", "rmdir"))
    func `C7: SIGKILL at any system call of a compaction leaves the old log or the new one`(
        call: TracedCall
    ) async throws {
        let reader = try ReadingProcess()
        func content(_ base: LogSequence) -> String {
            ReadingProcess.content(
                base: base, last: LogSequence(UInt64(Self.entryCount)), pending: 0,
                confirmed: ["a": .integer(Int64(Self.entryCount / 2))])
        }
        var (kills, compacted) = (0, 0)
        // Without an archive, the old log is removed.
        let isRemoved = ["unlinkat", "rmdir"].contains(call.name)
        let kind: LogKind = isRemoved ? .downlink : .acknowledgement
        for nth in call.places(upTo: Self.callCountMax, locks: 20) {
            let directory = DiskDirectory()
            let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
            let replica = try await makeLog(directory.log, kind)
            let note: Comment = "\(call) \(nth)"
            reader.begin(directory.log)
            let status = try compact(
                directory.log, archive: isRemoved ? nil : archive,
                under: call.killing(nth, in: directory)
            ).status
            let base = try await check(directory.log, kind, replica, note)
            if base > 0 { compacted += 1 }
            try reader.expect(content(base), after: content(0), note)
            #expect(
                try compact(directory.log, archive: isRemoved ? nil : archive).status == 0, note)
            #expect(try await check(directory.log, kind, replica, note) == 150, note)
            try reader.expect(content(150), after: content(base), note)
            // An app does this when it starts.
            try await Store<Documents>.finishWipes(in: directory.url)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(Set(names) == (isRemoved ? ["log"] : ["log", "old"]), note)
            if !isRemoved {
                let archived = try FileManager.default.contentsOfDirectory(atPath: archive.path)
                #expect(archived == ["log-1-150"], note)
                let old = try LogReader(at: archive.appending(path: "log-1-150"))
                #expect(try old.history().count == Self.entryCount, note)
                old.close()
            }
            // A run with fewer calls of that name ends without a kill.
            guard status != 0 else { break }
            kills += 1
        }
        print("compact: killed at \(kills) calls of \(call), compacted after \(compacted)")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
    }

    @Test func `C9: verify with the archive folds every entry`() async throws {
        let directory = DiskDirectory()
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        _ = try await makeLog(directory.log, .downlink)
        #expect(try compact(directory.log, archive: archive).status == 0)
        let verify = [executable("foldback"), "verify", directory.log.path]
        #expect(try run(verify).output.hasPrefix("sound: 50 entries folded"))
        let whole = try run(verify + ["--archive", archive.path])
        #expect(whole.output.hasPrefix("sound: 200 entries folded"), "\(whole)")
        let lacking = try run(verify + ["--archive", directory.url.path])
        #expect(lacking.status == 3 && lacking.errors.contains("has no archive"), "\(lacking)")
    }

    @Test func `C7: a full disk leaves the log as it is, at any size`() async throws {
        let directory = DiskDirectory()
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        let replica = try await makeLog(directory.log, .acknowledgement)
        var sizes = 0
        for blocks in stride(from: 0, through: 4_096, by: TestEffort.step(quick: 48, full: 8)) {
            let end = try compact(
                directory.log, archive: archive,
                under: ["/bin/sh", "-c", #"ulimit -f "$0"; exec "$@""#, "\(blocks)"])
            guard end.status != 0 else { break }
            sizes += 1
            #expect(end.status == 3, "\(blocks): \(end.errors)")
            #expect(try await check(directory.log, .acknowledgement, replica, "\(blocks)") == 0)
        }
        print("compact: \(sizes) sizes of a full disk")
        #expect(sizes > 1)
        #expect(try compact(directory.log, archive: archive).status == 0)
        #expect(try await check(directory.log, .acknowledgement, replica, "at the end") == 150)
    }
}
