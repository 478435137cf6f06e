import Foundation

/// The comments, the names of tests and the articles, as one text of which each line has a place.
struct Prose {
    private var text = ""
    /// The place of each line, and where it starts in UTF-16.
    private var lines: [(start: Int, place: String)] = []
    private var end = 0

    mutating func add(_ line: String, at place: String) {
        lines.append((end, place))
        text += line
        text += "\n"
        end += line.utf16.count + 1
    }

    /// Returns what the pattern's groups match, with the place of each match; nil for a group that
    /// takes no part.
    func matches(of pattern: String) -> [(place: String, groups: [String?])] {
        Self.matches(of: pattern, in: text).map { start, groups in
            var (low, high) = (0, lines.count)
            while low + 1 < high {
                let middle = (low + high) / 2
                if lines[middle].start <= start { low = middle } else { high = middle }
            }
            return (lines[low].place, groups)
        }
    }

    /// Returns where a pattern matches in a text, in UTF-16, and what its groups match.
    static func matches(
        of pattern: String, in text: String
    ) -> [(start: Int, groups: [String?])] {
        guard let expression = try? NSRegularExpression(pattern: pattern) else {
            preconditionFailure("\(pattern) is not a regular expression")
        }
        let content = NSString(string: text)
        let all = NSRange(location: 0, length: content.length)
        return expression.matches(in: text, range: all).map { match in
            let groups = (1..<match.numberOfRanges).map { group -> String? in
                let range = match.range(at: group)
                return range.location == NSNotFound ? nil : content.substring(with: range)
            }
            return (match.range.location, groups)
        }
    }
}
