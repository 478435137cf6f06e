import Foundation

/// One figure of a run of `Tools/bench`, as `--json` prints it and as kept runs have it.
package struct BenchmarkFigure: Codable, Equatable, Sendable {
    /// The title of the section that measured it; nil in the output of `--json`.
    package var section: String?
    /// Unique in a run.
    package var name: String
    package var value: Double
    package var unit: String
    /// The number of samples.
    package var n: Int
    package var note: String

    package init(
        section: String?, name: String, value: Double, unit: String, n: Int, note: String = ""
    ) {
        self.section = section
        self.name = name
        self.value = value
        self.unit = unit
        self.n = n
        self.note = note
    }
}

/// A name of a figure that has one size, divided at that size.
///
/// Benchmarks write the sizes into the names, such as "rejecting the oldest, 1,000 pending, 256
/// together". This is the only place that reads them there. A size is digits with commas between
/// thousands, as a word of its own. So p50 and x1.5 are not sizes. A name can have several sizes,
/// and so several divisions.
package struct SizedName: Hashable, Sendable {
    /// The parts of the name before the part with the size, and after it.
    package let leading: String
    package let trailing: String
    /// The part with n in place of the size: "n pending".
    package let part: String

    /// Returns each division of a name, in the order of the sizes in it. Returns none for a name
    /// without a size.
    ///
    /// A size is not part of the identity: names that differ only in it form a curve.
    package static func divisions(of name: String) -> [(name: SizedName, size: Double)] {
        let parts = name.components(separatedBy: ", ")
        var found: [(name: SizedName, size: Double)] = []
        for (place, part) in parts.enumerated() {
            let words = part.components(separatedBy: " ")
            for (number, word) in words.enumerated() {
                guard let size = size(word) else { continue }
                var words = words
                words[number] = "n"
                let sized = SizedName(
                    leading: parts[..<place].joined(separator: ", "),
                    trailing: parts[(place + 1)...].joined(separator: ", "),
                    part: words.joined(separator: " "))
                found.append((sized, size))
            }
        }
        return found
    }

    private static func size(_ word: String) -> Double? {
        let groups = word.components(separatedBy: ",")
        let isNumber = groups.allSatisfy { group in
            !group.isEmpty && group.allSatisfy { $0.isASCII && $0.isNumber }
        }
        let isGrouped = groups.dropFirst().allSatisfy { $0.count == 3 } && groups[0].count <= 3
        guard isNumber, isGrouped || groups.count == 1, let size = Double(groups.joined()),
            size > 0
        else { return nil }
        return size
    }
}
