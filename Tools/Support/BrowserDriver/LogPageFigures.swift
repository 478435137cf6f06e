import Foldback
import Foundation

/// How fast a page that shows a log is, and how much memory it takes.
///
/// The tests bound these figures on a busy machine, and `report-bench` prints them.
package struct LogPageFigures: Sendable {
    /// From the start of the navigation to the first picture with text.
    package let firstPaintMilliseconds: Double
    /// From the start of the navigation until the list has entries.
    package let listMilliseconds: Double
    /// From the start of the navigation until the page shows an entry with its state.
    package let loadMilliseconds: Double
    /// From the start of each selection to the next picture, in rising order.
    package let selectionMilliseconds: [Double]
    /// The used heap after a few selections, and after all.
    package let heapBytes: (early: Double, late: Double)

    /// The growth of the heap from the first selections to the last.
    package var heapGrowth: Double { heapBytes.late / heapBytes.early }

    /// A percentile of the selections.
    package func selectionMilliseconds(percentile: Double) -> Double {
        let index = Int((Double(selectionMilliseconds.count - 1) * percentile / 100).rounded())
        return selectionMilliseconds[index]
    }

    /// The selections before the heap is measured for the first time.
    private static let earlyCount = 10
    /// The selections of one script. A script must end within ``WebDriver/scriptSecondsMax``.
    private static let countPerScript = 50

    /// Opens a page in the present window, and selects random entries.
    ///
    /// - Parameter selections: at least 11.
    package static func measure(
        _ address: String, selections: Int, in browser: WebDriver
    ) async throws -> LogPageFigures {
        try await browser.devTools(
            "Page.addScriptToEvaluateOnNewDocument", ["source": .string(stopwatch)])
        try await browser.open(address)
        try await browser.wait(
            """
            const look = () => {
                if (window.loadedAt !== undefined) done();
                else requestAnimationFrame(look);
            };
            look();
            """)
        let times =
            try await browser.run(
                """
                return [performance.getEntriesByName("first-contentful-paint")[0]?.startTime
                    ?? window.loadedAt, window.listedAt, window.loadedAt];
                """
            ).arrayValue?.compactMap(\.number) ?? []
        var selected = try await select(earlyCount, in: browser)
        let early = try await heap(of: browser)
        while selected.count < selections {
            selected += try await select(
                min(countPerScript, selections - selected.count), in: browser)
        }
        return LogPageFigures(
            firstPaintMilliseconds: times.first ?? .infinity,
            listMilliseconds: times.count == 3 ? times[1] : .infinity,
            loadMilliseconds: times.last ?? .infinity,
            selectionMilliseconds: selected.dropFirst(earlyCount).sorted(),
            heapBytes: (early, try await heap(of: browser)))
    }

    /// Notes when the list has entries, and when the page is ready.
    private static let stopwatch = """
        new MutationObserver((_, observer) => {
            if (document.querySelector("#list [role=option]")) window.listedAt ??= performance.now();
            if (document.documentElement?.dataset.ready !== "true") return;
            window.loadedAt = performance.now();
            observer.disconnect();
        }).observe(document, { subtree: true, childList: true, attributes: true });
        """

    /// Selects random entries one after the other. A time ends after the frame with the picture.
    private static func select(_ count: Int, in browser: WebDriver) async throws -> [Double] {
        try await browser.wait(
            """
            const count = arguments[0];
            const painted = () => new Promise(resolve => requestAnimationFrame(() => {
                const channel = new MessageChannel();
                channel.port1.onmessage = resolve;
                channel.port2.postMessage(null);
            }));
            (async () => {
                const times = [];
                for (let number = 0; number < count; number += 1) {
                    const entry = 1 + Math.floor(Math.random() * foldback.source.last);
                    const start = performance.now();
                    await foldback.select(entry);
                    await painted();
                    times.push(performance.now() - start);
                }
                done(times);
            })();
            """, .integer(Int64(count))
        ).arrayValue?.compactMap(\.number) ?? []
    }

    private static func heap(of browser: WebDriver) async throws -> Double {
        try await browser.devTools("HeapProfiler.collectGarbage")
        return try await browser.devTools("Runtime.getHeapUsage")["usedSize"]?.number ?? .infinity
    }
}

extension JSON {
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .digits, .string, .array, .object: nil
        }
    }
}

/// A long history of documents, as a file that `import` takes.
package enum LongHistory {
    /// Writes entries that touch 100 documents. Each second entry answers the one before, and every
    /// tenth answer is a rejection.
    package static func write(entries: Int, to file: URL) throws {
        var text =
            #"{"codec":1,"foldback":1,"kind":"acknowledgement","replica":"me","version":1}"# + "\n"
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        for sequence in 1...entries {
            text += entry(sequence) + "\n"
            if text.utf8.count > 1 << 20 || sequence == entries {
                try output.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        try output.close()
    }

    private static func entry(_ sequence: Int) -> String {
        let start = #"{"at":\#(1_795_000_000_000 + sequence * 40),"sequence":\#(sequence),"#
        let intent = (sequence + 1) / 2
        guard sequence % 2 == 1 else {
            return intent % 10 == 0
                ? start
                    + #""code":"no","intent":\#(intent),"kind":"rejected","message":"not now"}"#
                : start + #""intent":\#(intent),"kind":"acknowledged"}"#
        }
        let key = "document \(intent % 100)"
        let event =
            intent <= 100
            ? #"{"key":"\#(key)","op":"set","value":{"n":0,"text":"the text of \#(key)"}}"#
            : intent % 3 == 0
                ? #"{"key":"\#(key)","op":"merge","value":{"text":"changed by intent \#(intent)"}}"#
                : #"{"by":1,"field":"n","key":"\#(key)","op":"increment"}"#
        return start
            + #""event":\#(event),"intent":\#(intent),"kind":"intent","replica":"me"}"#
    }
}
