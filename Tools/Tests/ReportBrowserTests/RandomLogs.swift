import BrowserDriver
import Foldback
import FoldbackTesting
import Foundation
import Testing

/// Logs of random histories, with names, texts and numbers that are hard for a page of JavaScript.
struct RandomLogs {
    private var random: SplitMix64
    private var lastPosition: UInt64 = 0
    private var recorded: [IntentNumber] = []

    init(_ random: SplitMix64) { self.random = random }

    /// Makes a log with at least this many entries.
    mutating func make(at log: URL, _ kind: LogKind, entries: Int) async throws {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: kind, durability: .relaxed,
            replica: .exactly(ReplicaID("me")!))
        (lastPosition, recorded) = (0, [])
        while store.status.entryCount < entries {
            // Many random commands are impossible, such as to withdraw a settled intent.
            do { try await act(on: store, kind) } catch is CommandError {}
        }
        await store.close()
    }

    private mutating func act(on store: Store<Documents>, _ kind: LogKind) async throws {
        let intent = recorded.randomElement(using: &random) ?? 1
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8:
            let receipt = try await store.record(
                event(), force: Bool.random(using: &random),
                confirmOnly: chance(8), once: chance(10) ? text() : nil,
                info: chance(5) ? ["screen": text()] : [:])
            recorded.append(receipt.number)
        case 8..<11:
            let position = kind == .downlink && chance(2) ? nextPosition() : nil
            try await store.acknowledge(
                intent, position: position, replacement: chance(4) ? event() : nil)
        case 11..<13:
            try await store.reject(intent, code: chance(2) ? text() : nil, message: text())
        case 13: try await store.withdraw(intent)
        case 14: try await store.abandon(intent)
        case 15: try await store.dismiss(intent)
        case 16:
            let receipt = try await store.retry(
                intent, with: chance(2) ? event() : nil, force: true)
            recorded.append(receipt.number)
        default:
            if kind == .downlink { try await confirm(on: store) }
        }
    }

    private mutating func nextPosition() -> Position {
        lastPosition += UInt64.random(in: 1...3, using: &random)
        return Position(lastPosition)
    }

    private mutating func confirm(on store: Store<Documents>) async throws {
        let other = try #require(ReplicaID("other </script> \u{202E}"))
        var events: [ConfirmedEvent<DocumentEvent>] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let own = recorded.randomElement(using: &random)
            let origin =
                chance(2)
                ? own.map { IntentID(replica: ReplicaID("me")!, number: $0) }
                : IntentID(replica: other, number: IntentNumber(lastPosition + 1))
            events.append(
                ConfirmedEvent(position: nextPosition(), event: event(), origin: origin))
        }
        let through = chance(3) ? nextPosition() : nil
        try await store.confirm(events, through: through)
    }

    // MARK: Values

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    /// Names that are special in JavaScript, in pointers, in HTML or in Unicode.
    private static let names: [String] = [
        "__proto__", "constructor", "toString", "length", "a/b", "~", "~1", "~01", "", "/", "0",
        "01", "-", "1e3", "</script>", "<!--", "\u{2028}", "\u{0}", "\u{FEFF}", "e\u{301}",
        "\u{E9}", "\u{1F600}", "\u{FFFF}", "view", "sequence", " ", "\"", "\\", "n", "m",
    ]

    private static let numbers: [JSON] = [
        0, 1, -1, 1.0, -0.0, 0.1, 1e300, .double(.leastNonzeroMagnitude), 1e-7, 1e21,
        123_456_789.125,
        .integer(9_007_199_254_740_993), .integer(.max), .integer(.min),
        .digits("18446744073709551616"), .digits("-340282366920938463463374607431768211456"),
        .digits("1" + String(repeating: "0", count: 400)),
    ]

    private mutating func name() -> ExactString {
        ExactString(Self.names.randomElement(using: &random) ?? "")
    }

    private mutating func text() -> String {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in name().string + "x" }.joined()
    }

    private mutating func value(depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth > 2 ? 5 : 9), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2, 3: Self.numbers.randomElement(using: &random) ?? 0
        case 4: .string(ExactString(text()))
        case 5:
            .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth + 1) })
        default: .object(object(depth: depth))
        }
    }

    private mutating func object(depth: Int) -> JSON.Object {
        var object = JSON.Object()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            object[name()] = value(depth: depth + 1)
        }
        return object
    }

    private mutating func event(depth: Int = 0) -> DocumentEvent {
        // A few keys, so that events meet.
        let key = ExactString(Self.names[Int.random(in: 0..<7, using: &random)])
        let require: DocumentEvent.Require? =
            chance(4) ? (Bool.random(using: &random) ? .present : .absent) : nil
        switch Int.random(in: 0..<(depth == 0 ? 11 : 9), using: &random) {
        case 0..<4: return .set(key, value(), require: require)
        case 4..<6: return .merge(key, .object(object(depth: 1)), require: require)
        case 6: return .delete(key, require: require)
        case 7, 8:
            let amount: JSON = Bool.random(using: &random) ? 1 : 0.5
            return .increment(key, field: name(), by: amount, require: require)
        default:
            return .all((0..<Int.random(in: 1...3, using: &random)).map { _ in event(depth: 1) })
        }
    }
}
