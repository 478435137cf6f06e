import ArgumentParser
import Foldback
import FoldbackShell

struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a log's entries, oldest first; changes nothing.",
        discussion: """
            Example: foldback log a.log --json
            """)

    @OptionGroup var log: LogArgument

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() throws {
        let reader = try LogReader(at: log.directory)
        var start: LogSequence = 1
        while true {
            let entries = try reader.entries(from: start, countMax: 512)
            guard let last = entries.last else { return }
            let lines = entries.map { json ? $0.json.description : $0.line.visible }
            try Output.write(lines.joined(separator: "\n") + "\n")
            start = LogSequence(last.sequence.value + 1)
        }
    }
}

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints what a log is and holds; changes nothing.",
        discussion: "Example: foldback status a.log --json")

    @OptionGroup var log: LogArgument

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        let reader = try LogReader(at: log.directory)
        let status = try reader.status()
        guard !json else {
            try Output.write("\(JSON.object(status.json))\n")
            return
        }
        let rows: [(String, String)] = [
            ("replica", "\(status.replica)"), ("kind", status.kind.rawValue),
            ("entries", "\(status.sequence)"), ("through", "\(status.through)"),
            ("pending", "\(status.pendingCount)"), ("accepted", "\(status.acceptedCount)"),
            ("rejected", "\(status.rejectedCount)"), ("next intent", "\(status.nextIntent)"),
            ("bytes", "\(status.bytesOnDisk)"), ("checkpoint", "\(status.checkpoint)"),
        ]
        try Output.write(rows.map { $0.padded(to: 12) + $1.visible + "\n" }.joined())
    }
}

extension LogEntry where Event == [UInt8] {
    /// The entry for people, on one line.
    fileprivate var line: String {
        let number = String(sequence.value)
        let left = String(repeating: " ", count: max(0, 7 - number.count)) + number
        return "\(left)  \(time.text)  \(what.padded(to: 18))\(detail)"
    }

    private var what: String {
        switch content {
        case .intent(let number, _, _, _, _): "intent \(number)"
        case .acknowledged(let number, _, _): "acknowledged \(number)"
        case .rejected(let number, _): "rejected \(number)"
        case .withdrawn(let number): "withdrawn \(number)"
        case .dismissed(let number): "dismissed \(number)"
        case .confirmed(_, let through): "confirmed \u{2264} \(through)"
        }
    }

    private var detail: String {
        switch content {
        case .intent(_, let event, let isConfirmOnly, let once, let retries):
            var detail = event.text
            if isConfirmOnly { detail += "  confirm-only" }
            if let once { detail += "  once \(once)" }
            if let retries { detail += "  retries \(retries)" }
            return detail
        case .acknowledged(_, let position, let replacement):
            return (position.map { "at \($0)  " } ?? "") + (replacement?.text ?? "")
        case .rejected(_, let rejection):
            return (rejection.code.map { "\($0): " } ?? "") + rejection.message
        case .withdrawn, .dismissed: return ""
        case .confirmed(let events, _):
            return events.map { event in
                "\(event.position)\(event.origin.map { " (\($0))" } ?? "") \(event.event.text)"
            }.joined(separator: "  ")
        }
    }
}

extension LoggedEvent {
    fileprivate var text: String {
        String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
