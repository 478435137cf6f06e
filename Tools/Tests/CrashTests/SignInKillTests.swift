import Foldback
import FoldbackSync
import Foundation
import Processes
import Testing

/// Born from the question what a user loses who worked without an account, if the app is killed while the
/// user signs in. The tests kill real processes at their system calls.
///
/// Property: after a kill, the account's log is absent, or begins at the server's state. Signing in again
/// finishes: each intent is in the account's log once, and the local log is gone.
@Suite(.serialized) struct SignInKillTests {
    private static let callCountMax = 1_000
    private static let intentCount = 30

    private static func places(of call: TracedCall) -> StrideThrough<Int> {
        call.places(upTo: callCountMax, locks: 14, others: 2)
    }

    private func open(_ log: URL) async throws -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("account.compacted") + TracedCall.opening("account")
            + TracedCall.opening("log")
            + TracedCall.each(
                "flock", "mkdir", "pwrite64", "fdatasync", "rename", "renameat2", "fsync",
                "unlinkat", "rmdir"))
    func `N6: SIGKILL at any system call of signing in loses nothing and doubles nothing`(
        call: TracedCall
    ) async throws {
        var kills = 0
        for nth in Self.places(of: call) {
            let directory = DiskDirectory()
            let account = directory.url.appending(path: "account", directoryHint: .isDirectory)
            let guest = try await open(directory.log)
            for number in 1...Self.intentCount {
                try await guest.record(.set("mine \(number)", 1))
            }
            let replica = guest.status.replica
            await guest.close()
            let note: Comment = "\(call) \(nth)"
            func signIn(_ prefix: [String] = []) throws -> Int32 {
                try run(
                    prefix + [
                        executable("foldback-probe"), "sign-in", account.path, directory.log.path,
                    ]
                ).status
            }
            let status = try signIn(call.killing(nth, in: directory))
            if FileManager.default.fileExists(atPath: account.path) {
                let store = try await open(account)
                #expect(store.confirmed.json == ["of the server": 1], note)
                #expect(try await store.verify().findings == [], note)
                await store.close()
            }
            #expect(try signIn() == 0, note)
            let store = try await open(account)
            // Once keys have the old ids.
            let brought = store.overlay.compactMap(\.once)
            #expect(
                brought == (1...Self.intentCount).map { "\(replica).\($0)" }, note)
            #expect(store.confirmed.json == ["of the server": 1], note)
            #expect(store.syncPoint.through == 7, note)
            #expect(try await store.verify().findings == [], note)
            await store.close()
            try await Store<Documents>.finishWipes(in: directory.url)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(names == ["account"], note)
            // A run with fewer calls of that name ends without a kill.
            guard status != 0 else { break }
            kills += 1
        }
        print("sign-in: killed at \(kills) calls of \(call)")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
    }

    /// Property: after a kill, the log is the old one or the new one, and has the same pending intents under
    /// the same ids. Another process that reads the log sees the old log, until it is told that the file was
    /// replaced, and then the new log.
    @Test(
        .needsStrace,
        arguments: TracedCall.opening("log", "log.compacted")
            + TracedCall.each(
                "flock", "mkdir", "pwrite64", "fdatasync", "rename", "renameat2", "fsync",
                "unlinkat", "rmdir"))
    func `SIGKILL at any system call of beginning again loses no intent`(call: TracedCall)
        async throws
    {
        let reader = try ReadingProcess()
        func content(_ store: Store<Documents>) -> String {
            ReadingProcess.content(
                base: store.status.base, last: store.status.sequence,
                pending: store.status.pendingCount, confirmed: store.confirmed.json)
        }
        var (kills, begun) = (0, 0)
        for nth in Self.places(of: call) {
            let directory = DiskDirectory()
            let store = try await open(directory.log)
            for number in 1...Self.intentCount {
                try await store.record(.set("mine \(number)", 1))
            }
            let event = ConfirmedEvent(position: 3, event: DocumentEvent.set("old", 1))
            try await store.confirm([event], through: 3)
            let ids = store.overlay.map(\.id)
            await store.close()
            let note: Comment = "\(call) \(nth)"
            reader.begin(directory.log)
            func begin(_ prefix: [String] = []) throws -> Int32 {
                try run(
                    prefix + [executable("foldback-probe"), "begin", directory.log.path]
                ).status
            }
            let status = try begin(call.killing(nth, in: directory))
            let left = try await open(directory.log)
            #expect(left.overlay.map(\.id) == ids, note)
            let isNew = left.status.base > 0
            #expect(
                left.confirmed.json == (isNew ? ["of the server": 1] : ["old": 1]), note)
            #expect(try await left.verify().findings == [], note)
            await left.close()
            try reader.expect(content(left), after: content(store), note)
            if isNew { begun += 1 }
            #expect(try begin() == 0, note)
            let again = try await open(directory.log)
            #expect(again.overlay.map(\.id) == ids, note)
            #expect(again.confirmed.json == ["of the server": 1], note)
            #expect(try await again.verify().findings == [], note)
            await again.close()
            try reader.expect(content(again), after: content(left), note)
            try await Store<Documents>.finishWipes(in: directory.url)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(names == ["log"], note)
            guard status != 0 else { break }
            kills += 1
        }
        print("begin: killed at \(kills) calls of \(call), the new log after \(begun)")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
    }

    @Test func `a full disk leaves the log as it is when it begins again, at any size`()
        async throws
    {
        let directory = DiskDirectory()
        let store = try await open(directory.log)
        for number in 1...Self.intentCount { try await store.record(.set("mine \(number)", 1)) }
        let ids = store.overlay.map(\.id)
        await store.close()
        var sizes = 0
        for blocks in stride(from: 0, through: 4_096, by: TestEffort.step(quick: 16, full: 4)) {
            let status = try run([
                "/bin/sh", "-c", #"ulimit -f "$0"; exec "$@""#, "\(blocks)",
                executable("foldback-probe"), "begin", directory.log.path,
            ]).status
            guard status != 0 else { break }
            sizes += 1
            let left = try await open(directory.log)
            #expect(left.status.base == 0 && left.overlay.map(\.id) == ids, "\(blocks)")
            #expect(try await left.verify().findings == [], "\(blocks)")
            await left.close()
        }
        print("begin: \(sizes) sizes of a full disk")
        #expect(sizes > 1)
        let begun = try await open(directory.log)
        #expect(begun.status.base > 0 && begun.overlay.map(\.id) == ids)
        #expect(try await begun.verify().findings == [])
        await begun.close()
    }
}
