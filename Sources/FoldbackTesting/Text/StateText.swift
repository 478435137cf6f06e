import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value as lines of path and text: every stored property, dictionaries by key, sets in order.
/// Equal values have equal lines, however they were made.
///
/// `JSON(describing:)` of Foldback is a similar walker, and cannot replace this one: reports show
/// events and states in Swift notation (`.edited(title: "a")`), and JSON does not tell the case
/// `.a` from the string "a", a key 1 from a key "1", NaN from an unequal NaN, or -0.0 from 0.
struct StateText: Equatable, Sendable {
    private static let depthMax = 24

    /// In order of path.
    private(set) var lines: [Line] = []

    struct Line: Equatable, Sendable {
        let path: String
        let text: String
    }

    init(_ value: Any) {
        add(value, at: "", depth: 0)
        lines.sort { ($0.path, $0.text) < ($1.path, $1.text) }
    }

    /// From the lines of ``text``.
    init(parsing text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: true).map { line in
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            return Line(path: String(parts[0]), text: parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// One line for each path, a tab, and the text. Neither contains line ends or tabs.
    var text: String { lines.map { "\($0.path)\t\($0.text)" }.joined(separator: "\n") }

    /// The value on one line, for tables.
    static func inline(_ value: Any, lengthMax: Int = 60) -> String {
        var text = short(value, depth: 0)
        if text.count > lengthMax { text = text.prefix(lengthMax - 1) + "~" }
        return text
    }

    // MARK: Lines

    private mutating func add(_ value: Any, at path: String, depth: Int) {
        guard depth < Self.depthMax, let parts = Self.parts(of: value), !parts.isEmpty else {
            lines.append(Line(path: path, text: Self.short(value, depth: depth)))
            return
        }
        for (name, part) in parts { add(part, at: path + name, depth: depth + 1) }
    }

    /// The named parts of a value; nil for a value on one line.
    private static func parts(of value: Any) -> [(name: String, part: Any)]? {
        guard scalar(value) == nil else { return nil }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .class, .tuple:
            var parts: [(String, Any)] = []
            for level in sequence(first: mirror, next: \.superclassMirror) {
                for (index, child) in level.children.enumerated() {
                    parts.append((".\(child.label ?? "\(index)")", child.value))
                }
            }
            return parts
        case .dictionary:
            return mirror.children.map { child in
                let pair = Array(Mirror(reflecting: child.value).children)
                return ("[\(short(pair[0].value, depth: 0))]", pair[1].value)
            }
        case .collection:
            return mirror.children.enumerated().map { ("[\($0.offset)]", $0.element.value) }
        case .optional: return mirror.children.first.map { [("", $0.value)] }
        case .set, .enum, .none: return nil
        default: return nil
        }
    }

    // MARK: One line

    private static func short(_ value: Any, depth: Int) -> String {
        if let text = scalar(value) { return text }
        let mirror = Mirror(reflecting: value)
        guard depth < depthMax else { return "..." }
        func each(_ children: [Mirror.Child]) -> [String] {
            children.map { child in
                let text = short(child.value, depth: depth + 1)
                let label = child.label.flatMap { $0.first == "." ? nil : $0 }
                return label.map { "\($0): \(text)" } ?? text
            }
        }
        switch mirror.displayStyle {
        case .optional:
            return mirror.children.first.map { short($0.value, depth: depth + 1) } ?? "nil"
        case .set: return "{\(each(Array(mirror.children)).sorted().joined(separator: ", "))}"
        case .collection:
            return
                "[\(mirror.children.map { short($0.value, depth: depth + 1) }.joined(separator: ", "))]"
        case .dictionary:
            let pairs = mirror.children.map { child in
                let pair = Array(Mirror(reflecting: child.value).children)
                return
                    "\(short(pair[0].value, depth: depth + 1)): \(short(pair[1].value, depth: depth + 1))"
            }
            return "[\(pairs.isEmpty ? ":" : pairs.sorted().joined(separator: ", "))]"
        case .enum:
            guard let child = mirror.children.first else {
                // A custom description can be any text.
                let text = SwiftLiteral.escaped("\(value)")
                return value is any CustomStringConvertible ? text : ".\(text)"
            }
            let payload = Mirror(reflecting: child.value)
            let inner =
                payload.displayStyle == .tuple
                ? each(Array(payload.children)).joined(separator: ", ")
                : short(child.value, depth: depth + 1)
            return ".\(child.label ?? "?")(\(inner))"
        case .tuple: return "(\(each(Array(mirror.children)).joined(separator: ", ")))"
        default:
            let name = String(describing: type(of: value))
            return "\(name)(\(each(Array(mirror.children)).joined(separator: ", ")))"
        }
    }

    /// The text of a value that has no parts to show.
    private static func scalar(_ value: Any) -> String? {
        switch value {
        case let string as String: SwiftLiteral.quoted(string)
        case let string as Substring: SwiftLiteral.quoted(String(string))
        case let string as ExactString: SwiftLiteral.quoted(string.string)
        case let character as Character: SwiftLiteral.quoted(String(character))
        case let json as JSON: "\(json)"
        case let number as any LogNumber: "\(number)"
        case let replica as ReplicaID: "\(replica)"
        case let id as IntentID: "\(id)"
        // Seconds since 2001. The mirror and the description of a date differ between systems.
        case let date as Date: "Date(\(date.timeIntervalSinceReferenceDate))"
        case let data as Data: "Data(\(data.base64EncodedString()))"
        case let url as URL: "URL(\(url.absoluteString))"
        case let number as any BinaryInteger: "\(number)"
        case let number as any BinaryFloatingPoint: "\(number)"
        case let bool as Bool: "\(bool)"
        default:
            // Mirrors of Foundation types like UUID are empty, or differ between systems.
            Mirror(reflecting: value).children.isEmpty && !(value is any Collection)
                && Mirror(reflecting: value).displayStyle != .enum
                && Mirror(reflecting: value).displayStyle != .optional
                ? SwiftLiteral.escaped("\(value)") : nil
        }
    }
}

extension StateText {
    /// The differing lines in order of path: `- path: old`, `+ path: new`.
    static func differences(from old: StateText, to new: StateText, countMax: Int = 12) -> [String]
    {
        var left = old.lines[...]
        var right = new.lines[...]
        var differences: [String] = []
        func line(_ sign: String, _ line: Line) -> String {
            let path = line.path.first == "." ? String(line.path.dropFirst()) : line.path
            return "\(sign) \(path.isEmpty ? "" : "\(path): ")\(line.text)"
        }
        while let old = left.first, let new = right.first {
            if old.path <= new.path {
                left.removeFirst()
                if old != new { differences.append(line("-", old)) }
            }
            if new.path <= old.path {
                right.removeFirst()
                if old != new { differences.append(line("+", new)) }
            }
        }
        differences += left.map { line("-", $0) } + right.map { line("+", $0) }
        guard differences.count > countMax else { return differences }
        let more = differences.count - countMax
        return Array(differences.prefix(countMax)) + ["... and \(more) more lines"]
    }
}
