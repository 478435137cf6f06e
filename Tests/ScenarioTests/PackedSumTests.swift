import Foldback
import FoldbackHistory
import Synchronization
import Testing

/// The tests count decoded events, so they do not run at the same time.
@Suite(.serialized) struct PackedSumTests {
    @Test func `versions with one codec share each decoded event`() async throws {
        let store = Store.inMemory(PackedSum<One>.self, confirmedBy: .acknowledgement)
        for number in 1...3 { try await store.record(number) }
        let reader = try LogReader(try store.history())
        let before = SumBytes.decodedCount.load(ordering: .relaxed)
        let rerun = try reader.rerun(PackedSum<One>.self, PackedSum<Two>.self)
        #expect(rerun.divergences.map(\.sequence) == [1, 2, 3] && rerun.partsFailed == nil)
        #expect(SumBytes.decodedCount.load(ordering: .relaxed) == before + 3)
    }

    @Test func `versions may name different keys`() async throws {
        let store = Store.inMemory(PackedSum<One>.self, confirmedBy: .acknowledgement)
        for number in [0, 3, 0, 4] { try await store.record(number) }
        let reader = try LogReader(try store.history())
        let rerun = try reader.rerun(PackedSum<One>.self, PackedSum<Late>.self)
        #expect(rerun.divergences.map(\.sequence) == [2, 4] && rerun.partsFailed == nil)
    }
}

/// A version of ``PackedSum``.
protocol SumRule: Sendable {
    /// What the version adds to the sum under a name, for each number.
    static var factors: [String: Int] { get }
}

enum One: SumRule {
    static var factors: [String: Int] { ["sum": 1] }
}

enum Two: SumRule {
    static var factors: [String: Int] { ["sum": 2] }
}

/// Has a second sum, whose key the version ``One`` does not name.
enum Late: SumRule {
    static var factors: [String: Int] { ["sum": 1, "late": 1] }
}

/// Sums of numbers, in a packed codec that also reads JSON.
struct PackedSum<Rule: SumRule>: TraceableProjection {
    private(set) var sums: [String: Int] = [:]

    static var codec: any EventCodec<Int> {
        PackedCodec(SumBytes(), as: EventFormat(codec: 128, version: 1)).reading(JSONCodec())
    }

    mutating func apply(_ number: Int, _ context: EventContext) {
        guard number != 0 else { return }
        for (name, factor) in Rule.factors { sums[name, default: 0] += factor * number }
    }

    static func keys(touchedBy number: Int, _ context: EventContext) -> [String] {
        Rule.factors.keys.sorted()
    }

    func part(at name: String) -> Int? { sums[name] }
}

struct SumBytes: ByteCodec {
    /// The number of events that were decoded.
    static let decodedCount = Atomic(0)

    func encode(_ number: Int, into output: inout OutputBuffer) { output.append(number) }

    func decode(_ bytes: RawSpan) throws -> Int {
        Self.decodedCount.add(1, ordering: .relaxed)
        var cursor = InputCursor()
        let number: Int = try cursor.number(in: bytes)
        try cursor.requireEnd(of: bytes)
        return number
    }
}
