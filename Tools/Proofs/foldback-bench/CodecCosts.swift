import Foldback
import Foundation
import MessageExample

/// Measures the cost of encoding and decoding rows: the example's own codec and JSON, in turn.
struct CodecCosts {
    private static let rounds = 15
    private static let rowCount = 2_000

    private let messages: [Message] = (0..<rowCount).map { number in
        Message(
            id: UUID(numbered: number), thread: UUID(numbered: number % 40 << 32),
            author: "user-\(number % 300)@example.org",
            text: String(
                "See you at the station at \(number % 24):15, I have the tickets. \u{2603}"
                    .prefix(20 + number % 45)),
            sent: Date(timeIntervalSinceReferenceDate: 780_000_000 + Double(number) * 7.25),
            flags: number % 3 == 0 ? [.read] : [],
            replyTo: number % 4 == 0 ? UUID(numbered: number / 2) : nil)
    }

    func measurements() throws -> [Measurement] {
        let fast = try bytes(by: MessageBytes())
        let json = try bytes(by: JSONBytes<Message>())
        var costs: [String: [Double]] = [:]
        for _ in 0..<Self.rounds {
            costs["fast decode", default: []].append(try decoding(fast, by: MessageBytes()))
            costs["json decode", default: []].append(try decoding(json, by: JSONBytes()))
            costs["fast encode", default: []].append(try encoding(by: MessageBytes()))
            costs["json encode", default: []].append(try encoding(by: JSONBytes()))
            costs["event decode", default: []].append(try decoding(json))
            costs["event read", default: []].append(reading(json))
        }
        let noting = zip(costs["event read"] ?? [], costs["event decode"] ?? []).map(/)
            .measurement(
                "an event in JSON, its members noted : decoded alone (E11)", unit: "",
                each: "rounds", samples: Self.rowCount * Self.rounds
            ).judged(by: .atMost(1.05))
        let states = try stateCosts()
        return ["decode", "encode"].flatMap { operation in
            let (fast, json) = (costs["fast \(operation)"] ?? [], costs["json \(operation)"] ?? [])
            let ratio = zip(json, fast).map(/).measurement(
                "\(operation) a message, JSON : own codec", unit: "", each: "rounds",
                samples: Self.rowCount * Self.rounds)
            return [
                figure("\(operation) a message, own codec", fast),
                figure("\(operation) a message, JSON", json),
                operation == "decode" ? ratio.judged(by: .atLeast(10)) : ratio,
            ]
        } + [size("own codec", fast), size("JSON", json), noting] + states
    }

    /// What samples cost beside a state in JSON (E12), as ratios of decoding and encoding it.
    private func stateCosts() throws -> [Measurement] {
        let codec = JSONStateCodec<[String: Message]>()
        let state = Dictionary(uniqueKeysWithValues: messages.map { ($0.id.uuidString, $0) })
        let bytes = try codec.encode(state)
        var costs: [String: [Double]] = [:]
        func time(_ name: String, _ body: () throws -> Void) rethrows {
            let elapsed = try ContinuousClock().measure(body)
            costs[name, default: []].append(elapsed / .microseconds(1))
        }
        for _ in 0..<Self.rounds {
            let writer = StateExcerpt(codec)
            var sample: [UInt8] = []
            try time("decode") { _ = try codec.decode(bytes.span.bytes) }
            try time("encode") { _ = try codec.encode(state) }
            time("first sample") { sample = writer.sample(of: bytes) }
            time("next sample") { sample = writer.sample(of: bytes) }
            try time("check") {
                // A store that opens a log knows nothing yet.
                let left = try StateExcerpt(codec).membersLeft(in: sample, of: bytes)
                precondition(left.isEmpty, "the state is read in part")
            }
        }
        func ratio(_ name: String, _ part: String, _ whole: String) -> Measurement {
            zip(costs[part] ?? [], costs[whole] ?? []).map(/).measurement(
                name, unit: "", each: "rounds", samples: Self.rounds)
        }
        return [
            ratio("a state's sample checked while opening : decoding the state", "check", "decode")
                .judged(by: .atMost(0.05)),
            ratio("a state's sample, unchanged : encoding the state", "next sample", "encode")
                .judged(by: .atMost(0.05)),
            ratio("a state's first sample : encoding the state", "first sample", "encode"),
        ]
    }

    private func figure(_ name: String, _ costs: [Double]) -> Measurement {
        costs.measurement(
            name, unit: "ns", each: "rounds", samples: Self.rowCount * Self.rounds)
    }

    private func size(_ name: String, _ all: [[UInt8]]) -> Measurement {
        let count = all.reduce(0) { $0 + $1.count }
        return Measurement(
            name: "a message's size, \(name)", value: Double(count) / Double(all.count),
            unit: "bytes", n: all.count)
    }

    private func bytes(by codec: any ByteCodec<Message>) throws -> [[UInt8]] {
        try messages.map { try codec.bytes(of: $0) }
    }

    /// Nanoseconds for each message. The codec is an existential, as in tables.
    private func decoding(
        _ all: [[UInt8]], by codec: any ByteCodec<Message>
    ) throws -> Double {
        var flags: UInt32 = 0
        let elapsed = try ContinuousClock().measure {
            for bytes in all { flags ^= try codec.decode(bytes.span.bytes).flags.rawValue }
        }
        precondition(flags < 8, "the messages changed")
        return elapsed / .nanoseconds(1) / Double(all.count)
    }

    /// Nanoseconds for each event, decoded alone.
    private func decoding(_ all: [[UInt8]]) throws -> Double {
        let codec: any EventCodec<Message> = JSONCodec()
        var payloads: [Payload] = []
        let elapsed = try ContinuousClock().measure {
            for bytes in all {
                let event = try codec.decode(bytes.span.bytes, format: .json)
                payloads.append(Payload(bytes: bytes, format: .json, content: .event(event)))
            }
        }
        precondition(payloads.count == all.count, "events are missing")
        return elapsed / .nanoseconds(1) / Double(all.count)
    }

    /// Nanoseconds for each event, as a log reads it: its members are noted.
    private func reading(_ all: [[UInt8]]) -> Double {
        let codec = AppCodec(codec: JSONCodec<Message>())
        var payloads: [Payload] = []
        let elapsed = ContinuousClock().measure {
            for bytes in all { payloads.append(codec.payload(reading: bytes, format: .json)) }
        }
        precondition(payloads.allSatisfy { $0.unreadPart == nil }, "events are read in part")
        return elapsed / .nanoseconds(1) / Double(all.count)
    }

    private func encoding(by codec: any ByteCodec<Message>) throws -> Double {
        var count = 0
        let elapsed = try ContinuousClock().measure {
            for message in messages { count += try codec.bytes(of: message).count }
        }
        precondition(count > 0, "nothing was encoded")
        return elapsed / .nanoseconds(1) / Double(messages.count)
    }
}

extension UUID {
    fileprivate init(numbered number: Int) {
        let bits = (UInt64(number) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        let bytes = withUnsafeBytes(of: bits) { Array($0) }
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[7], bytes[6], bytes[5], bytes[4], bytes[3], bytes[2], bytes[1], bytes[0]
            ))
    }
}
