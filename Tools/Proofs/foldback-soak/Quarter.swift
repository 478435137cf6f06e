import Foundation

/// The figures at the end of a virtual quarter of 13 weeks, right after a compaction.
struct Quarter: Codable {
    let number: Int
    /// The intents that were ever recorded.
    let intents: Int
    /// The entries that the log has.
    let entries: Int
    /// The bytes of `data.mdb`.
    let fileBytes: Int
    /// The most bytes of `data.mdb` before a compaction of the quarter.
    let bytesBeforeCompaction: Int
    /// The shortest of 15 openings in a process of its own: other work on the machine only makes them
    /// longer.
    let openingMilliseconds: Double
    /// The resident memory of a process that has only opened the log; nil where the system does not
    /// say.
    let residentBytes: Int?
    /// The median of the quarter's compactions.
    let compactionSeconds: Double

    var residentMebibytes: Double? { residentBytes.map { Double($0) / 1_048_576 } }
}

extension [Quarter] {
    /// The most bytes of the file for each intent that was ever recorded: about 50 for its row of table
    /// `verdicts`, and its share of the records of intents that were rejected, which stay (C4).
    static var bytesOfIntentMax: Int { 64 }
    /// Bytes by which the file may grow besides: the entries of 30 days are not always as many.
    static var slackBytes: Int { 1 << 20 }
    /// How much longer opening may take, and how much more memory it may use. What grows with the
    /// intents would double over the last half of the years.
    static var growthMax: Double { 1.4 }

    /// Returns a sentence for each figure that is not flat over the last half; see ``Years``.
    var growth: [String] {
        let half = count / 2
        let width = Swift.max(1, half / 2)
        let (before, after) = (self[(half - width)..<half], suffix(width))
        guard let middle = before.last, let last else { return [] }
        var sentences: [String] = []
        let intents = last.intents - middle.intents
        let bytes = last.fileBytes - middle.fileBytes
        let bytesMax = Self.bytesOfIntentMax * intents + Self.slackBytes
        if bytes > bytesMax {
            sentences.append(
                "over the last half, the file has grown by \(bytes) bytes for \(intents) intents: "
                    + "more than \(bytesMax)")
        }
        func compare(
            _ what: String, _ unit: String, slack: Double, _ value: (Quarter) -> Double?
        ) {
            let (old, new) = (before.compactMap(value).median, after.compactMap(value).median)
            guard new > old * Self.growthMax + slack else { return }
            sentences.append(
                "\(what) has grown from \(old.short) \(unit) before the last half to "
                    + "\(new.short) \(unit) at its end")
        }
        compare("opening", "ms", slack: 5) { $0.openingMilliseconds }
        compare("resident memory", "MiB", slack: 4) { $0.residentMebibytes }
        return sentences
    }

    /// A line for each year, with the figures of its last quarter.
    var table: String {
        let head = [
            "year", "intents ever", "entries", "file kB", "before compacting kB", "opening ms",
            "RSS MiB", "compacting s",
        ]
        let rows = filter { $0.number.isMultiple(of: 4) }.map { quarter in
            [
                String(quarter.number / 4), String(quarter.intents), String(quarter.entries),
                String(quarter.fileBytes / 1_000), String(quarter.bytesBeforeCompaction / 1_000),
                quarter.openingMilliseconds.short,
                quarter.residentMebibytes?.short ?? "-",
                quarter.compactionSeconds.short,
            ]
        }
        let widths = head.indices.map { column in
            ([head] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([head] + rows).map { row in
            zip(row, widths).map { text, width in
                String(repeating: " ", count: width - text.count) + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension [Double] {
    /// The middle element; 0 if there is none.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Double {
    var short: String { String(format: magnitude < 10 ? "%.2f" : "%.1f", self) }
}
