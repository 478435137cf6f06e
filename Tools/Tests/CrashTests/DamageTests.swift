import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what a wrong byte from the disk can do. LMDB trusts every number in its
/// file, so the effect could be anything.
///
/// Property: if one bit of a log is flipped or one of its pages is zeroed, then opening, reading,
/// verifying and writing end in a typed error or in the right answer. They never end in another
/// answer, and never end the process (L5). If the first command fails, the file is as before.
///
/// The one exception is in the article about crashes: a damaged key of a first or last row can name
/// another place, and then only `verify` notices the missing row.
@Suite struct DamageTests {
    /// The distance between flipped bytes. The first place is random in each run. A distance of 1
    /// takes hours.
    private static let step =
        Int(ProcessInfo.processInfo.environment["DAMAGE_STEP"] ?? "")
        ?? TestEffort.step(quick: 3_194, full: 1_597)

    @Test(arguments: DocumentStore.allCases)
    func `a flipped bit ends in an error or in the right answer`(store: DocumentStore) async throws
    {
        let directory = DiskDirectory()
        let bytes = try await Self.makeLog(directory.log, store.type)
        let start = Int.random(in: 0..<Self.step)
        print("damage: \(store), \(bytes) bytes, each \(Self.step)th flipped from \(start) on")
        let found = try Self.probe(directory, store, "flip", start..<bytes, step: Self.step)
        print("flipped: \(store), \(found)")
        // Not every flip causes an error, because a free page may hold anything.
        #expect(found.errors > 0 && found.misplaced <= 2, "\(found)")
    }

    /// Property: each flipped bit in a value that the log depends on causes an error.
    @Test(arguments: DocumentStore.allCases)
    func `a flipped bit in a recorded event is an error`(store: DocumentStore) async throws {
        let directory = DiskDirectory()
        _ = try await Self.makeLog(directory.log, store.type)
        let data = try Data(contentsOf: directory.log.appending(path: "data.mdb"))
        let text = try #require(data.firstRange(of: Data(Self.long(3).utf8)))
        let found = try Self.probe(directory, store, "flip", text, step: 97)
        #expect(found.errors > 0 && found.right == 0, "\(found)")
    }

    /// The meta pages have few bytes, and LMDB trusts all of them.
    @Test(arguments: DocumentStore.allCases)
    func `a flipped bit in a meta page ends in an error or in the right answer`(
        store: DocumentStore
    ) async throws {
        let directory = DiskDirectory()
        _ = try await Self.makeLog(directory.log, store.type)
        let step = TestEffort.step(quick: 8, full: 4)
        for page in [0, 4_096] {
            let first = page + Int.random(in: 0..<step)
            let found = try Self.probe(directory, store, "flip", first..<page + 152, step: step)
            #expect(found.errors > 0, "page at \(page)")
        }
    }

    @Test(arguments: DocumentStore.allCases)
    func `a zeroed page ends in an error or in the right answer`(store: DocumentStore) async throws
    {
        let directory = DiskDirectory()
        let bytes = try await Self.makeLog(directory.log, store.type)
        let found = try Self.probe(directory, store, "zero", 0..<bytes / 4_096, step: 1)
        print("zeroed: \(store), \(found)")
        #expect(found.errors > found.late, "\(found)")
        // A store that reads rows checks all pages on opening. A store in memory does so later.
        #expect((found.late > 0) == (store == .memory), "\(found)")
    }

    /// Property: a process that reads a damaged log gets the right answer or a typed error, before
    /// and after a store of another process finds the damage. The next store finds it too.
    @Test func `damage that a process finds changes no answer of another process`() async throws {
        let directory = DiskDirectory()
        try await Self.makeLogWithOldText(directory.log)
        func read() throws -> [ProcessEnd] {
            try [["status"], ["at", "2"], ["log"]].map { words in
                let foldback = executable("foldback")
                return try run([foldback, words[0], directory.log.path] + words.dropFirst())
            }
        }
        let sound = try read()
        #expect(sound.map(\.status) == [0, 0, 0])
        let before = try Self.zeroPage(with: Self.long(1), of: directory.log)
        func expectRightReads() throws {
            let found = try read()
            #expect(found.prefix(2).map(\.output) == sound.prefix(2).map(\.output), "\(found)")
            #expect(found[2].status == 3 && found[2].errors.contains("is damaged"), "\(found)")
            #expect(sound[2].output.hasPrefix(found[2].output), "\(found)")
        }
        for _ in 1...2 {
            let shell = try ShellProcess(directory.log)
            // The shell opens the log or checks its pages while this process reads.
            try expectRightReads()
            for _ in 1...2 {
                shell.send(
                    #"{"do":"record","event":{"op":"set","key":"a","value":2}}"#, #"{"do":"view"}"#)
                #expect(shell.answer()?["error"]?["code"] == "damaged")
                #expect(shell.answer()?["documents"] == ["a": 1, "long": "short"])
            }
            try expectRightReads()
            #expect(shell.finish().status == 0)
        }
        #expect(try Data(contentsOf: directory.log.appending(path: "data.mdb")) == before)
    }

    // MARK: A log with something of everything

    /// A text that is long enough to have its own pages.
    private static func long(_ number: Int) -> String {
        String(repeating: "long \(number)", count: 900)
    }

    /// Makes a log with entries of each kind, checkpoints and long values.
    ///
    /// - Returns: the size of its data file in bytes.
    private static func makeLog<P: ShownDocuments>(
        _ directory: URL, _ documents: P.Type
    ) async throws -> Int {
        let store = try await Store.open(
            at: directory, documents, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: CheckpointPolicy(entriesMax: 20, bytesMax: .max, spacing: 30),
            replica: .exactly(ReplicaID("me")!))
        for number in 1...60 as ClosedRange<UInt64> {
            let receipt = try await store.record(
                .increment("k\(number % 7)", field: "n", by: 1), force: true,
                once: number % 5 == 0 ? "once \(number)" : nil, info: ["screen": "\(number)"])
            switch number % 6 {
            case 0: try await store.reject(receipt.number, code: "no", message: "not \(number)")
            case 1:
                try await store.acknowledge(
                    receipt.number, position: Position(number),
                    replacement: .set("k\(number % 7)", ["n": .integer(Int64(number))]))
            case 2:
                try await store.confirm([
                    ConfirmedEvent(
                        position: Position(number), event: .set("k\(number % 7)", ["n": 7]),
                        origin: receipt.id)
                ])
            case 3: try await store.withdraw(receipt.number)
            default: break
            }
            if number % 20 == 0 { try await store.checkpoint() }
        }
        for number in 1...3 {
            _ = try await store.record(.set("long", .string(long(number))))
        }
        try await store.acknowledge(6)
        try await store.dismiss(12)
        await store.close()
        return try Data(contentsOf: directory.appending(path: "data.mdb")).count
    }

    /// Makes a log whose long text is only in an entry before its checkpoint, so that opening does
    /// not read it.
    private static func makeLogWithOldText(_ directory: URL) async throws {
        let store = try await Store.open(
            at: directory, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed)
        let events: [Documents.Event] = [
            .set("a", 1), .set("long", .string(long(1))), .set("long", "short"),
        ]
        for event in events { try await store.acknowledge(try await store.record(event).number) }
        try await store.checkpoint()
        await store.close()
    }

    /// Zeroes the page where a text starts.
    ///
    /// - Returns: the bytes of the damaged file. It stays the same file, so that the log does not
    ///   look copied.
    private static func zeroPage(with text: String, of log: URL) throws -> Data {
        let file = log.appending(path: "data.mdb")
        let place = try #require(try Data(contentsOf: file).firstRange(of: Data(text.utf8)))
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(place.lowerBound / 4_096 * 4_096))
        try handle.write(contentsOf: Data(count: 4_096))
        try handle.close()
        return try Data(contentsOf: file)
    }

    // MARK: The probe

    struct Found: CustomStringConvertible {
        var errors = 0
        /// The errors of a first command after an opening that succeeded.
        var late = 0
        var right = 0
        /// The rows that are missing, and only `verify` notices it.
        var misplaced = 0
        var description: String {
            "\(errors) errors, \(late) of them late, \(right) right, \(misplaced) misplaced"
        }
    }

    /// Runs the probe over all places. If the probe dies at a place, runs it again from the next
    /// place.
    private static func probe(
        _ directory: DiskDirectory, _ store: DocumentStore, _ kind: String, _ places: Range<Int>,
        step: Int
    ) throws -> Found {
        var found = Found()
        var first = places.lowerBound
        while first < places.upperBound {
            // A file system in memory is faster, and this test is only about the bytes.
            let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
            let base =
                FileManager.default.isWritableFile(atPath: memory.path)
                ? memory : FileManager.default.temporaryDirectory
            let scratch = base.appending(path: "foldback-damage-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            let result = try run([
                executable("foldback-probe"), "damage", store.rawValue,
                directory.log.path, scratch.path, kind, "\(first)", "\(places.upperBound - 1)",
                "\(step)",
            ])
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: true)
            for line in lines {
                let words = line.split(separator: " ", maxSplits: 2)
                switch words.dropFirst().first {
                case "error":
                    found.errors += 1
                    if words.last?.hasPrefix("late") == true { found.late += 1 }
                case "right": found.right += 1
                case "misplaced" where store == .rows && kind == "flip": found.misplaced += 1
                default:
                    Issue.record(
                        "\(store), \(kind) \(line), exit \(result.status): \(result.errors.suffix(300))"
                    )
                }
            }
            guard result.status != 0 else { break }
            guard let last = lines.last?.split(separator: " ").first.flatMap({ Int($0) }) else {
                Issue.record("the probe printed nothing: \(result.errors)")
                break
            }
            first = last + step
        }
        return found
    }
}
