import Foldback
import FoldbackServer
import FoldbackSync
import Foundation
import HashTreeCollections

/// Measures a server's spaces in this process, without a network: deciding beside raw LMDB and beside
/// `record`, reading effects, a space that is opened cold, and many open spaces.
struct ServerCosts: Sendable {
    let bench: Workbench

    private var limit: Limit {
        Limit(count: 1 << 20, time: bench.isFull ? .seconds(3) : .milliseconds(1_200))
    }
    private var rounds: Int { bench.isFull ? 11 : 5 }

    func measurements() async throws -> [Measurement] {
        try await deciding() + repeating() + onLongSpace() + openSpaces()
    }

    // MARK: Deciding

    private static let deviceCounts = [1, 10, 50, 200, 800]
    private static let intentCounts = [4, 16, 64, 128]
    private static let rawCounts = [1, 64, 256]
    private static let record = "record of the same events, 1 in flight"

    private static func name(_ devices: Int, _ intents: Int) -> String {
        "deciding, devices: \(devices), intents a request: \(intents)"
    }

    private static func name(ofRaw perTransaction: Int) -> String {
        "raw LMDB, \(perTransaction) a transaction"
    }

    private func deciding() async throws -> [Measurement] {
        let encoded = EncodedRecords.intents(count: limit.count / 8)
        var run = InterleavedRun()
        for count in Self.rawCounts {
            let limit = Limit(count: limit.count / 8, time: limit.time)
            run.add(
                InterleavedRun.Load(name: Self.name(ofRaw: count), call: "transaction") {
                    try await bench.withDirectory(on: .disk) { directory in
                        try await encoded.pace(
                            in: directory, .durable, perTransaction: count, upTo: limit)
                    }
                })
        }
        run.add(
            InterleavedRun.Load(name: Self.record) {
                try await bench.withDirectory(on: .disk) { directory in
                    let store = try await Store.open(
                        at: directory, Shelf.self, confirmedBy: .downlink, durability: .durable)
                    let pace = try await store.pace(
                        recording: Shelf.events, inFlight: 1, upTo: limit)
                    await store.close()
                    return pace
                }
            })
        for devices in Self.deviceCounts { run.add(load(devices, 1)) }
        for intents in Self.intentCounts { run.add(load(50, intents)) }
        run.compareSpeed(of: Self.name(50, 64), withRaw: Self.name(ofRaw: 256))
        run.compareSpeed(of: Self.name(200, 1), withRaw: Self.name(ofRaw: 64))
        run.compareTime(of: Self.name(1, 1), withRaw: Self.name(ofRaw: 1))
        run.compareTime(
            of: Self.name(1, 1), with: Self.record, called: "record's", .atMost(1.35))
        let aims = [Self.name(50, 64): 90_000.0, Self.name(200, 1): 45_000]
        return try await run.measurements(rounds: rounds, bench).map { figure in
            aims[figure.name].map { figure.judged(by: .atLeast($0)) } ?? figure
        }
    }

    private func load(_ devices: Int, _ intents: Int) -> InterleavedRun.Load {
        InterleavedRun.Load(name: Self.name(devices, intents), call: "request") {
            try await bench.withDirectory(on: .disk) { directory in
                let space = try await Space.open(at: directory, rules: ShelfRules())
                let pace = try await space.pace(
                    devices: devices, intentsOfRequest: intents, upTo: limit)
                precondition(space.fault == nil, space.fault ?? "")
                await space.close()
                return pace
            }
        }
    }

    /// Devices whose connections ended send their last requests again.
    private func repeating() async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { directory in
            let space = try await Space.open(at: directory, rules: ShelfRules())
            let replicas = (1...4).map { _ in LogSources.system.freshReplica() }
            let sent = replicas.map { replica in (1...64).map { Submission($0, of: replica) } }
            let point = SyncPoint(lineage: nil, through: 0)
            let authority = space.authority(for: .reader)
            // One group has all of them.
            _ = try await authority.submit(sent.flatMap(\.self), from: point)
            let clock = ContinuousClock()
            var latencies: [Double] = []
            for round in 0..<200 {
                let start = clock.now
                _ = try await authority.submit(sent[round % 4], from: point)
                latencies.append((clock.now - start) / .milliseconds(1))
            }
            await space.close()
            return [
                latencies.quartered(
                    "repeating the verdicts of a request, 64 of a group", unit: "ms")
            ]
        }
    }

    // MARK: A space with a long history

    private static let decisionCount = 1_000_000

    private func onLongSpace() async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { directory in
            let count = Self.decisionCount
            let words = "a space with \(count.grouped) decisions"
            bench.note("making \(words)")
            var space = try await Space.open(at: directory, rules: ShelfRules())
            _ = try await space.pace(
                devices: 50, intentsOfRequest: 64, upTo: Limit(count: count, time: .seconds(600)))
            await space.close()
            var figures = [
                Measurement(
                    name: "\(words), file", value: try directory.megabytesOfFile, unit: "MB",
                    n: 1, note: try TablePages(at: directory).words)
            ]
            bench.note("opening it, and reading its effects")
            space = try await Space.open(at: directory, rules: ShelfRules())
            var speeds: [Double] = []
            for _ in 0..<(bench.isFull ? 5 : 3) {
                speeds.append(try await space.effectsReadPerSecond())
            }
            figures.append(
                speeds.measurement("reading all effects", unit: "effects/s", each: "readings"))
            await space.close()
            var reports: [SpaceProcess.Report] = []
            for _ in 0..<7 {
                reports.append(
                    try await OpeningProcess.report([SpaceProcess.command, directory.path]))
            }
            let whole = reports.map { $0.openMilliseconds + $0.firstMilliseconds }
            return figures + [
                whole.quartered("\(words), cold, until its first decision", unit: "ms").judged(
                    by: .atMost(30)),
                reports.map(\.openMilliseconds).quartered("\(words), cold, opening", unit: "ms"),
                Self.megabytes(reports.compactMap(\.anonymousBytes), "\(words), RssAnon"),
            ]
        }
    }

    private static func megabytes(_ bytes: [Int], _ name: String) -> Measurement {
        bytes.map { Double($0) / 1e6 }.quartered(name, unit: "MB")
    }

    // MARK: Many spaces

    private static let spaceCount = 256

    private func openSpaces() async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { directory in
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false)
            bench.note("opening \(Self.spaceCount) spaces")
            var reports: [SpaceProcess.SpacesReport] = []
            // The first process creates the spaces, and is not reported.
            for round in 0..<4 {
                let report: SpaceProcess.SpacesReport = try await OpeningProcess.report([
                    SpaceProcess.spacesCommand, directory.path, "\(Self.spaceCount)",
                ])
                if round > 0 { reports.append(report) }
            }
            let words = "open spaces: \(Self.spaceCount)"
            return [
                Self.megabytes(reports.compactMap(\.addedBytes), "\(words), RssAnon")
                    .judged(by: .atMost(40)),
                reports.map { Double($0.threads) }.quartered("\(words), threads", unit: "threads"),
                reports.map(\.perSecond).quartered(
                    "\(words), a device in each, intents a request: 1", unit: "intents/s"),
            ]
        }
    }
}

// MARK: The app

/// A thousand counters.
struct Shelf: Projection {
    struct Event: Codable, Sendable {
        let counter: Int
        let amount: Int
        let note: String
    }

    private(set) var counts = TreeDictionary<Int, Int>()

    static var stateCodec: (any StateCodec<Self>)? { ShelfStateCodec() }

    mutating func apply(_ event: Event, _ context: EventContext) {
        counts[event.counter, default: 0] += event.amount
    }

    /// An event for each counter, with 80 bytes of JSON.
    static let events = (1_000..<2_000).map {
        Event(counter: $0, amount: 1, note: String(repeating: "x", count: 43))
    }
    static let recorded = events.map { event in
        guard let bytes = try? codec.encode(event) else { preconditionFailure("\(event)") }
        precondition(bytes.count == 80, "\(bytes.count) bytes")
        return RecordedEvent(format: codec.format, bytes: bytes)
    }

    fileprivate init(_ counts: TreeDictionary<Int, Int>) { self.counts = counts }
    init() {}
}

private struct ShelfStateCodec: StateCodec {
    func encode(_ shelf: Shelf) throws -> [UInt8] {
        var output = OutputBuffer()
        for (key, count) in shelf.counts {
            output.append(key)
            output.append(count)
        }
        return output.bytes
    }

    func decode(_ bytes: RawSpan) throws -> Shelf {
        var cursor = InputCursor()
        var counts = TreeDictionary<Int, Int>()
        while cursor.offset < bytes.byteCount {
            let key: Int = try cursor.number(in: bytes)
            counts[key] = try cursor.number(in: bytes)
        }
        return Shelf(counts)
    }
}

struct ShelfRules: Rules {
    func decide(
        _ intent: Submission<Shelf.Event>, by account: Account, on shelf: Shelf, at time: Timestamp
    ) -> Ruling<Shelf.Event> { .accept }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}

extension Account {
    static let reader = user(0)

    static func user(_ number: Int) -> Account {
        guard let account = Account("the account \(1_000 + number)") else {
            preconditionFailure("an account was refused")
        }
        return account
    }
}

extension Submission where Event == Shelf.Event {
    /// An intent as a server has decoded it.
    init(_ number: Int, of replica: ReplicaID) {
        let place = number % Shelf.events.count
        self.init(
            id: IntentID(replica: replica, number: IntentNumber(UInt64(number))),
            event: Shelf.events[place], recorded: Shelf.recorded[place],
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}

extension Space<ShelfRules> {
    /// Decides with one task for each device. Each waits for its answer before it sends the next request.
    nonisolated func pace(
        devices: Int, intentsOfRequest: Int, upTo limit: Limit
    ) async throws -> Pace {
        let clock = ContinuousClock()
        let share = limit.count / devices / intentsOfRequest
        let start = clock.now
        let latencies = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for device in 1...devices {
                let authority = authority(for: .user(device))
                let replica = LogSources.system.freshReplica()
                group.addTask {
                    var latencies: [Duration] = []
                    var last = clock.now
                    while latencies.count < share, last < start + limit.time {
                        let first = latencies.count * intentsOfRequest + 1
                        let answer = try await authority.submit(
                            (first..<first + intentsOfRequest).map { Submission($0, of: replica) },
                            from: SyncPoint(lineage: nil, through: 0))
                        precondition(answer.byIntent.count == intentsOfRequest)
                        let now = clock.now
                        latencies.append(now - last)
                        last = now
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: [Duration]()) { $0 += $1 }
        }
        return Pace(
            count: latencies.count * intentsOfRequest, elapsed: clock.now - start,
            latencies: latencies)
    }

    /// Reads all pages as a device of another account.
    nonisolated func effectsReadPerSecond() async throws -> Double {
        let authority = authority(for: .reader)
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        var through: Position = 0
        while true {
            let page = try await authority.changes(
                after: SyncPoint(lineage: nil, through: through))
            count += page.events.count
            through = page.through
            if !page.hasMore { break }
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }
}
