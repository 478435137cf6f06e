import Foldback

/// The lines of a session of `foldback shell`, and what it needs to know about its intents.
struct Script {
    private(set) var lines: [String] = []
    private var intentCount: Int

    /// - Parameter intents: the intents that the log has already.
    init(after intents: Int = 0) { intentCount = intents }

    /// Records an intent that sets a key to a text of so many bytes.
    @discardableResult
    mutating func record(_ key: String, bytes: Int = 8) -> Int {
        intentCount += 1
        let digit = UInt8(ascii: "0") + UInt8(intentCount % 10)
        let text = String(decoding: [UInt8](repeating: digit, count: bytes), as: UTF8.self)
        say(#"{"do":"record","event":{"op":"set","key":"\#(key)","value":"\#(text)"}}"#)
        return intentCount
    }

    mutating func acknowledge(_ intent: Int, position: Int? = nil) {
        let position = position.map { #","position":\#($0)"# } ?? ""
        say(#"{"do":"acknowledge","intent":\#(intent)\#(position)}"#)
    }

    mutating func reject(_ intent: Int) {
        say(#"{"do":"reject","intent":\#(intent),"message":"no"}"#)
    }

    mutating func retry(_ intent: Int) -> Int {
        intentCount += 1
        say(#"{"do":"retry","intent":\#(intent)}"#)
        return intentCount
    }

    mutating func withdraw(_ intent: Int) { say(#"{"do":"withdraw","intent":\#(intent)}"#) }
    mutating func dismiss(_ intent: Int) { say(#"{"do":"dismiss","intent":\#(intent)}"#) }
    mutating func flush() { say(#"{"do":"flush"}"#) }

    /// Confirms another replica's change at a position.
    mutating func confirm(_ key: String, at position: Int) {
        let event = #"{"op":"set","key":"\#(key)","value":\#(position)}"#
        say(
            #"{"do":"confirm","events":[{"position":\#(position),"event":\#(event)}],"through":\#(position)}"#
        )
    }

    /// Confirms an intent of this replica, "me", at a position, with the event that it sets a key.
    mutating func confirm(_ intent: Int, setting key: String, at position: Int) {
        let event = #"{"op":"set","key":"\#(key)","value":"\#(position)"}"#
        let origin = #"{"replica":"me","intent":\#(intent)}"#
        say(
            #"{"do":"confirm","events":[{"position":\#(position),"event":\#(event),"origin":\#(origin)}],"through":\#(position)}"#
        )
    }

    /// Compacts the log, which the shell closes and opens again.
    mutating func compact(keeping count: Int, archives: Bool) {
        let archive = archives ? #","archive":"\#(Self.root)/\#(CompactionCheck.archive)""# : ""
        say(#"{\#(Self.compaction),"keepingEntries":\#(count)\#(archive)}"#)
    }

    /// Copies the log while it is in use.
    mutating func backUp() {
        say(#"{\#(Self.backup),"to":"\#(Self.root)/\#(BackupCheck.name)"}"#)
    }

    /// Stands for the root of the recording.
    static let root = "ROOT"
    /// The commands, as lines contain them.
    static let compaction = #""do":"compact""#
    static let backup = #""do":"backup""#

    private mutating func say(_ line: String) { lines.append(line) }

    /// Records intents and answers them, in an acknowledgement log: most are accepted, some are
    /// rejected, retried, withdrawn, or stay pending.
    mutating func answerInOrder(_ count: Int, bytes: Int, flushEvery: Int? = nil) {
        for turn in 0..<count {
            let intent = record("k\(turn % 7)", bytes: bytes)
            switch turn % 8 {
            case 3:
                reject(intent)
                _ = retry(intent)
            case 5: withdraw(intent)
            case 6: break
            default: acknowledge(intent)
            }
            if let flushEvery, turn % flushEvery == flushEvery - 1 { flush() }
        }
    }

    /// Settles intents in every way of a downlink log.
    mutating func settleInEveryWay(_ rounds: Int) {
        var position = 0
        for round in 0..<rounds {
            let (a, b, c, d) = (record("a"), record("b"), record("c"), record("d\(round)"))
            position += 2
            acknowledge(a, position: position)
            reject(b)
            let again = retry(b)
            withdraw(c)
            confirm("other", at: position - 1)
            reject(again)
            dismiss(again)
            confirm("more", at: position)
            _ = d
        }
    }
}
