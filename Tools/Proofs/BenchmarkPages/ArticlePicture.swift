/// A chart that the article Benchmarks shows.
package struct ArticlePicture: Sendable {
    /// The name of the SVG file.
    package let name: String
    private let section: String
    /// Words in the title of the chart; empty for any title.
    private let words: String
    private let unit: String

    /// Returns the first chart of the section and unit whose title contains the words.
    package func chart(among charts: [BenchmarkChart]) -> BenchmarkChart? {
        charts.first {
            $0.section == section && $0.unit == unit && (words.isEmpty || $0.title.contains(words))
        }
    }

    /// In the order of the article.
    package static let all = [
        picture("recording", "Recording, durable", "in flight", "intents/s"),
        picture("recording-latency", "Recording, durable", "in flight, p99", "us"),
        picture(
            "recording-allocations", "Recording, durable", "in flight, allocations",
            "allocations/intent"),
        picture("draining", "Draining", "", "answers/s"),
        picture("answers", "Answers", "256 together", "us/answer"),
        picture("opening", "Opening", "settled entries", "ms"),
        picture("years-file", "Years", "after n years, file", "MB"),
        picture("compacting", "Years", "entries of documents", "s"),
        picture("deciding-devices", "Server", "devices: n", "intents/s"),
        picture("deciding-requests", "Server", "a request: n", "intents/s"),
        picture("http-devices", "Server over HTTP", "devices: n", "intents/s"),
        picture("http-requests", "Server over HTTP", "a request: n", "intents/s"),
        picture("postgres-requests", "Servers over PostgreSQL", "a request: n", "intents/s"),
        picture("past-views", "The past", "view at a past sequence", "ms"),
        picture("row-answers", "Rows: answers", "pending", "us/answer"),
        picture("row-opening", "Rows: opening", "entries", "ms"),
        picture("row-reading", "Rows: reading", "", "reads/s"),
        picture("codecs", "Codecs", "", "ns"),
        picture("lists", "UI: lists", "list of", "ms"),
        picture("statuses", "UI: statuses", "", "ms"),
        picture("replaying", "Replaying", "", "entries/s"),
    ]

    private static func picture(
        _ name: String, _ section: String, _ words: String, _ unit: String
    ) -> ArticlePicture {
        ArticlePicture(
            name: "benchmark-\(name)", section: section, words: words, unit: unit)
    }
}
