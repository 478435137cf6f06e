import Foldback
import FoldbackSync
import Foundation

/// Measures a log with 50,000 pending intents: opening it, its memory, reading its overlay, and
/// sending the intents to an authority in the same process.
struct Backlogs: Sendable {
    let bench: Workbench

    private static let count = Backlog.pendingCount
    private var rounds: Int { bench.isFull ? 15 : 5 }

    func measurements() async throws -> [Measurement] {
        try await opening(Documents.self) + opening(StoredDocuments.self) + opening(TaskRows.self)
            + draining(Documents.self, .acknowledgement) + draining(Documents.self, .downlink)
            + draining(StoredDocuments.self, .acknowledgement)
            + draining(StoredDocuments.self, .downlink)
            + draining(TaskRows.self, .acknowledgement)
    }

    // MARK: Opening

    private func opening<P: BacklogProjection>(_ projection: P.Type) async throws -> [Measurement] {
        bench.note("opening, \(P.words)")
        return try await bench.withDirectory(on: .disk) { parent in
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
            let full = parent.appending(path: "full", directoryHint: .isDirectory)
            let empty = parent.appending(path: "empty", directoryHint: .isDirectory)
            try await Backlog.write(
                projection, at: full, .acknowledgement, pendingCount: Self.count)
            try await Backlog.write(projection, at: empty, .acknowledgement, pendingCount: 0)
            var reports: [BacklogProcess.Report] = []
            var bytes: [Double] = []
            for _ in 0..<rounds {
                let report = try await BacklogProcess.report(opening: full, projection)
                let base = try await BacklogProcess.report(opening: empty, projection)
                reports.append(report)
                if let many = report.anonymousBytes, let none = base.anonymousBytes {
                    bytes.append(Double(many - none) / Double(Self.count))
                }
            }
            let name = "\(Self.count.grouped) pending, \(P.words)"
            var figures = [
                reports.map(\.openMilliseconds).measurement(
                    "\(name), open", unit: "ms", each: "rounds"
                ).judged(by: .atMost(500)),
                reports.map(\.processorMilliseconds).measurement(
                    "\(name), open, processor time", unit: "ms", each: "rounds"),
                reports.map(\.overlayMilliseconds).measurement(
                    "\(name), overlay, first and last intent", unit: "ms", each: "rounds"),
                reports.map(\.allMilliseconds).measurement(
                    "\(name), overlay, all intents", unit: "ms", each: "rounds"),
            ]
            if !bytes.isEmpty {
                figures.append(
                    bytes.measurement(
                        "\(name), RssAnon of a pending intent", unit: "bytes", each: "rounds"))
            }
            return figures
        }
    }

    // MARK: Draining

    private func draining<P: BacklogProjection>(
        _ projection: P.Type, _ kind: LogKind
    ) async throws -> [Measurement] {
        bench.note("draining, \(P.words), \(kind.rawValue)")
        return try await bench.withDirectory(on: .disk) { parent in
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
            let log = parent.appending(path: "log", directoryHint: .isDirectory)
            try await Backlog.write(projection, at: log, kind, pendingCount: Self.count)
            var speeds: [Double] = []
            var alone: [Double] = []
            for round in 0..<rounds {
                let copy = parent.appending(path: "\(round)", directoryHint: .isDirectory)
                try FileManager.default.copyItem(at: log, to: copy)
                let authority = try await Self.authority(for: projection, kind)
                speeds.append(try await Self.drained(projection, at: copy, kind, authority))
                alone.append(try await Self.served(projection))
                try FileManager.default.removeItem(at: copy)
            }
            let name = "\(Self.count.grouped) pending, \(P.words), \(kind.rawValue), drained"
            return [
                speeds.measurement(name, unit: "intents/s", each: "rounds")
                    .judged(by: .atLeast(20_000)),
                zip(speeds, alone).map(/).measurement(
                    "\(name) / the authority alone", unit: "times", each: "rounds"),
            ]
        }
    }

    /// Returns an authority that has confirmed the items.
    private static func authority<P: BacklogProjection>(
        for _: P.Type, _ kind: LogKind
    ) async throws -> InProcessAuthority<P.Server> {
        let authority = InProcessAuthority(P.Server.self)
        guard let server = ReplicaID("server") else { return authority }
        let items = try Backlog.itemNumbers.map {
            try submission(of: P.self, $0, by: server, P.making($0))
        }
        _ = try await authority.submit(items, from: SyncPoint(lineage: nil, through: 0))
        return authority
    }

    /// Sends all pending intents and fetches their effects. Returns the intents for each second.
    private static func drained<P: BacklogProjection>(
        _ projection: P.Type, at url: URL, _ kind: LogKind,
        _ authority: InProcessAuthority<P.Server>
    ) async throws -> Double {
        let store = try await Store.open(
            at: url, projection, confirmedBy: kind, durability: .durable)
        let outbox = Outbox(store, to: authority, policy: .ordered)
        let last = IntentNumber(store.status.nextIntent.value - 1)
        let clock = ContinuousClock()
        let start = clock.now
        let running = Task { try await outbox.run() }
        let receipt = try store.receipt(for: last)
        switch kind {
        case .acknowledgement: _ = try await receipt.settlement()
        case .downlink:
            _ = try await receipt.answer()
            _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
        }
        let elapsed = clock.now - start
        let left = store.overlay.count
        precondition(left == 0, "\(left) intents are left")
        running.cancel()
        try await running.value
        await store.close()
        return Double(count) / (elapsed / .seconds(1))
    }

    /// Submits the same events to the authority without a log, 64 at a time. Returns the intents
    /// for each second.
    private static func served<P: BacklogProjection>(_ projection: P.Type) async throws -> Double {
        let authority = try await authority(for: projection, .downlink)
        guard let replica = ReplicaID("device") else { return 0 }
        let items = Backlog.itemNumbers.count
        let clock = ContinuousClock()
        let start = clock.now
        for first in stride(from: 0, to: count, by: 64) {
            _ = try await authority.submit(
                try (first..<min(first + 64, count)).map {
                    try submission(of: P.self, $0, by: replica, P.change($0, of: $0 % items))
                }, from: SyncPoint(lineage: nil, through: 0))
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }

    /// Returns an intent on its way, as an outbox would send it.
    private static func submission<P: BacklogProjection>(
        of _: P.Type, _ index: Int, by replica: ReplicaID, _ event: P.Event
    ) throws -> Submission<P.Event> {
        Submission(
            id: IntentID(replica: replica, number: IntentNumber(UInt64(index) + 1)), event: event,
            recorded: RecordedEvent(
                format: P.codec.format, bytes: try P.codec.encode(event)),
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}
