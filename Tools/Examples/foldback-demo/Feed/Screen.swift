import Foldback
import FoldbackExamples

/// The screen of Mia's device, made only from a snapshot and the listed rejections.
struct Screen: Equatable {
    /// The rows by the name of their post, person or rejected intent.
    let rows: [String: String]

    init(_ snapshot: Snapshot<Feed>, rejections: [IntentNumber: Rejection]) {
        var rows = snapshot.view.posts.mapValues(\.line)
        for (name, followers) in snapshot.view.followers {
            rows[name] = "followed by " + followers.sorted().joined(separator: ", ")
        }
        let marked = Dictionary(grouping: snapshot.overlay, by: Self.row(of:))
        for (name, intents) in marked {
            let marks = intents.map { "\($0.number) \(Mark($0, in: snapshot))" }
            rows[name, default: ""] += "  [\(marks.joined(separator: "; "))]"
        }
        for (number, rejection) in rejections {
            let code = rejection.code.map { " (\($0))" } ?? ""
            rows["intent \(number)"] = "rejected: \(rejection.message)\(code)"
        }
        self.rows = rows
    }

    /// The name of the row that an intent changes.
    private static func row(of intent: OverlayIntent<FeedEvent>) -> String {
        let keys = intent.event.map { Feed.keys(touchedBy: $0, EventContext(.intent(intent.id))) }
        return keys?.first ?? "intent \(intent.number)"
    }
}

extension Screen {
    /// The lines of all moments, only with the rows that differ between moments.
    static func lines(of moments: [(caption: String, screen: Screen)]) -> [String] {
        let names = Set(moments.flatMap(\.screen.rows.keys)).filter { name in
            Set(moments.map { $0.screen.rows[name] }).count > 1
        }.sorted()
        return moments.flatMap { caption, screen in
            let rows = names.compactMap { name in
                screen.rows[name].map { "\(padded(name, 9))\($0)" }
            }
            return (rows.isEmpty ? ["-"] : rows).enumerated().map { index, row in
                padded(index == 0 ? caption : "", 18) + row
            }
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension Post {
    fileprivate var line: String {
        var parts = ["\"\(text)\""]
        if isDeleted { parts[0] += " (deleted)" }
        if !likes.isEmpty { parts.append("\(likes.count) like\(likes.count == 1 ? "" : "s")") }
        if reach > 0 { parts.append("shown to \(reach)") }
        let comments = comments.map { " | \($0.by): \"\($0.text)\"" }
        return parts.joined(separator: "  ") + comments.joined()
    }
}
