import Foldback
import FoldbackShell
import FoldbackTesting
import Foundation
import Testing

/// Born from the question whether documents as rows, with an overlay by key, mean the same as
/// documents in memory.
///
/// Property: each command, sensible or not, gets the same answer byte for byte from documents in
/// memory and documents as rows. This holds with and without a disk, and after either of them had
/// the log open.
@Suite struct StoreEquivalenceTests {
    private static let stepCount =
        Int(ProcessInfo.processInfo.environment["ANSWERS_STEPS"] ?? "") ?? 2_000
    private static let stepsPerLog = 60

    @Test(arguments: LogKind.allCases)
    func `memory and rows give the same answers`(kind: LogKind) async throws {
        let environment = ProcessInfo.processInfo.environment["ANSWERS_SEED"]
        let first = environment.flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max / 2)
        print("answers: \(kind), seed \(first) (again: ANSWERS_SEED=\(first))")
        var ok = 0
        for run in 0..<UInt64(max(1, Self.stepCount / 2 / Self.stepsPerLog)) {
            ok += try await Self.run(kind, seed: first + run)
        }
        // The property means little if few of the `stepCount / 2` commands make sense. On average,
        // 58 % do in an acknowledgement log, and 72 % in a downlink log.
        #expect(ok > Self.stepCount / 5, "\(ok)")
    }

    /// - Returns: the number of steps whose random command got an answer that is not an error.
    private static func run(_ kind: LogKind, seed: UInt64) async throws -> Int {
        var random = SplitMix64(seed: seed)
        let memory = FileManager.default.isWritableFile(atPath: "/dev/shm")
        let base = memory ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
        let directory = base.appending(path: "foldback-answers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let reference = Session.inMemory(Documents.self, kind)
        let rows = Session.inMemory(StoredDocuments.self, kind)
        var disk = try await Session.open(StoredDocuments.self, kind, directory)
        var asking = RandomLines(kind: kind)
        var ok = 0
        for step in 0..<stepsPerLog {
            if oneIn(12, &random) {
                await disk.close()
                disk =
                    oneIn(3, &random)
                    ? try await .open(Documents.self, kind, directory)
                    : try await .open(StoredDocuments.self, kind, directory)
            }
            let command = asking.next(using: &random)
            for line in [command, #"{"do":"view"}"#, #"{"do":"status"}"#] {
                let answer = await reference.answer(line)
                if line == command, answer["ok"] == true { ok += 1 }
                asking.heard(answer)
                for other in [rows, disk] {
                    let same = await other.answer(line)
                    try #require(
                        same.encoded == answer.encoded,
                        "seed \(seed), step \(step), \(other.name), \(line): \(same), not \(answer)"
                    )
                }
            }
        }
        await disk.close()
        return ok
    }
}

/// A session of either type of documents.
private struct Session {
    let name: String
    let session: @Sendable ([UInt8]) async -> JSON
    let close: @Sendable () async -> Void

    init<P: ShownDocuments>(_ name: String, _ store: Store<P>) {
        self.name = "\(P.self) \(name)"
        let shell = ShellSession(over: store)
        session = { await shell.answer(to: $0) }
        close = { await store.close() }
    }

    static func inMemory<P: ShownDocuments>(_ documents: P.Type, _ kind: LogKind) -> Session {
        Session(
            "in memory",
            Store.inMemory(
                documents, confirmedBy: kind, replica: ReplicaID("me"), sources: .still))
    }

    static func open<P: ShownDocuments>(
        _ documents: P.Type, _ kind: LogKind, _ directory: URL
    ) async throws -> Session {
        Session(
            "on the disk",
            try await Store.open(
                at: directory, documents, confirmedBy: kind, durability: .relaxed,
                checkpoints: CheckpointPolicy(entriesMax: 9, bytesMax: .max, spacing: 23),
                replica: .exactly(ReplicaID("me")!), sources: .still))
    }

    /// Returns the answer without the fields that only a file has.
    func answer(_ line: String) async -> JSON {
        var object = await session(Array(line.utf8)).objectValue ?? [:]
        object["bytes"] = nil
        object["checkpoint"] = nil
        return .object(object)
    }
}

/// Random lines for a session: mostly sensible commands.
private struct RandomLines {
    let kind: LogKind
    private var sequence = 0
    private var through = 0
    private var next = 1

    init(kind: LogKind) { self.kind = kind }

    mutating func heard(_ answer: JSON) {
        guard let status = answer["nextIntent"]?.integerValue else { return }
        next = Int(status)
        sequence = Int(answer["sequence"]?.integerValue ?? 0)
        through = Int(answer["through"]?.integerValue ?? 0)
    }

    func next(using random: inout SplitMix64) -> String { "\(line(&random))" }

    private func line(_ random: inout SplitMix64) -> JSON {
        let number = Int.random(in: 1...next + 1, using: &random)
        var line: JSON.Object = ["intent": .integer(Int64(number))]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40:
            line = ["do": "record", "event": event(&random).json]
            if oneIn(3, &random) { line["force"] = true }
            if oneIn(8, &random) { line["confirmOnly"] = true }
            if oneIn(6, &random) { line["once"] = "k" }
        case 40..<54:
            line["do"] = "acknowledge"
            if kind == .downlink, !oneIn(4, &random) { line["position"] = position(&random) }
            if oneIn(3, &random) { line["event"] = event(&random).json }
        case 54..<64:
            line["do"] = "reject"
            line["message"] = "no"
        case 64..<68: line["do"] = "withdraw"
        case 68..<71: line["do"] = "dismiss"
        case 71..<75:
            line["do"] = "retry"
            if oneIn(2, &random) { line["event"] = event(&random).json }
        case 75..<88: line = confirm(&random)
        case 88..<91:
            let past = Int.random(in: 0...sequence + 1, using: &random)
            line = ["do": "view", "at": .integer(Int64(past))]
        case 91..<94: line["do"] = "intent"
        case 94..<95: line = ["do": "entries", "from": 1, "limit": 1_000]
        case 95..<96: line = ["do": "rejections"]
        default: line = ["do": "get", "key": .string(key(&random))]
        }
        return .object(line)
    }

    private func position(_ random: inout SplitMix64) -> JSON {
        .integer(Int64(max(1, through + Int.random(in: -1...5, using: &random))))
    }

    private func confirm(_ random: inout SplitMix64) -> JSON.Object {
        let events = (0..<Int.random(in: 0...3, using: &random)).map { _ -> JSON in
            var one: JSON.Object = [
                "position": position(&random), "event": event(&random).json,
            ]
            if !oneIn(3, &random) {
                let number = Int.random(in: 1...next, using: &random)
                one["origin"] = ["replica": "me", "intent": .integer(Int64(number))]
            }
            return .object(one)
        }
        return ["do": "confirm", "events": .array(events)]
    }

    // MARK: Events

    /// Few keys, so that events share them. They cover each kind of key that a row's key has to
    /// tell apart.
    private static let keys: [ExactString] = [
        "", "a", "b", "a\u{0}", "a\u{0}\u{1}", "\u{E9}", "e\u{301}",
        ExactString(String(repeating: "x", count: 501)),
        ExactString(String(repeating: "x", count: 502)),
        ExactString(String(repeating: "\u{0}", count: 300)), DocumentKeys.collidingA,
        DocumentKeys.collidingB,
    ]

    private func key(_ random: inout SplitMix64) -> ExactString {
        oneIn(3, &random) ? "a" : Self.keys.randomElement(using: &random) ?? "a"
    }

    private func event(_ random: inout SplitMix64) -> DocumentEvent {
        if oneIn(6, &random) {
            return .all((0..<Int.random(in: 0...3, using: &random)).map { _ in event(&random) })
        }
        let require: DocumentEvent.Require? =
            oneIn(3, &random) ? (oneIn(2, &random) ? .present : .absent) : nil
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: return .set(key(&random), value(&random), require: require)
        case 3..<5: return .merge(key(&random), value(&random), require: require)
        case 5..<9:
            return .increment(
                key(&random), field: ["n", "m"].randomElement(using: &random) ?? "n",
                by: amount(&random), require: require)
        default: return .delete(key(&random), require: require)
        }
    }

    private func value(_ random: inout SplitMix64) -> JSON {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .null
        case 1: [1, "\u{E9}", ["n": 1.5]]
        case 2: .integer(.max)
        case 3: ["n": .null, "m": ["k": [], "\u{0}": "\u{1F600}"]]
        default: ["n": amount(&random), "m": .integer(Int64.random(in: 0...9, using: &random))]
        }
    }

    private func amount(_ random: inout SplitMix64) -> JSON {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: 0.5
        case 1: .integer(.max)
        case 2: .digits("-18446744073709551616")
        case 3: 1e308
        default: .integer(Int64.random(in: -9...9, using: &random))
        }
    }
}

/// Two keys that are too long for a row's key and share a row, because their hashes are equal.
private enum DocumentKeys {
    static let collidingA = key(54_260)
    static let collidingB = key(103_779)

    private static func key(_ number: Int) -> ExactString {
        ExactString(String(repeating: "y", count: 512) + "\(number)")
    }
}

extension LogSources {
    /// A clock that stands still.
    static let still = LogSources(
        now: { Timestamp(millisecondsSince1970: 1_795_209_600_000) },
        freshReplica: { ReplicaID("fresh") ?? { preconditionFailure("a name of 5 bytes") }() })
}

/// True in one of `n` cases.
private func oneIn(_ n: Int, _ random: inout SplitMix64) -> Bool {
    Int.random(in: 0..<n, using: &random) == 0
}
