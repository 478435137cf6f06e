import Foundation

/// Measures feed-web in Chromium, with durable logs: from a click to the change in the page.
///
/// On the way, the click is sent to the server, recorded and flushed, folded, and sent back. Another
/// tool measures it, because the library's package has no server.
struct BrowserCosts: Sendable {
    let bench: Workbench

    private var clickCount: Int { bench.isFull ? 5_000 : 1_000 }

    /// Empty if the tool was not built.
    func measurements() async throws -> [Measurement] {
        guard let tool = bench.browserTool else { return [] }
        let times: [Double] = try await Process.report(
            of: URL(filePath: tool), ["\(clickCount)"])
        let worst = times.sorted().percentile(99)
        return [
            times.quartered("from a click to the page, p50", unit: "ms"),
            Measurement(
                name: "from a click to the page, p99", value: worst, unit: "ms", n: times.count
            )
            .judged(by: .atMost(100)),
        ]
    }
}
