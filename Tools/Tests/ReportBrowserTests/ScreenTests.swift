import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// What a person sees first of a log with many intents that are pending at once.
    ///
    /// A page of 3,000 entries once began with a timeline that filled the screen, without the intent
    /// of the selected entry. The explanation was below the window.
    @Suite struct ScreenTests {
        private static let entryCount: Int64 = 400
        private static let pendingCount: Int64 = 100

        /// Records intents, and then answers the oldest and records another in turn. Each tenth
        /// intent is rejected, and the intent after it then no longer applies.
        private static func entries() -> [String] {
            var entries: [String] = []
            var (recorded, answered): (Int64, Int64) = (0, 0)
            for sequence in 1...entryCount {
                let isRecording = recorded - answered < pendingCount
                if isRecording { recorded += 1 } else { answered += 1 }
                let rest =
                    isRecording
                    ? #""event":\#(event(recorded)),"kind":"intent","replica":"me""#
                    : answered % 10 == 1
                        ? #""code":"no","kind":"rejected","message":"not now""#
                        : #""kind":"acknowledged""#
                let intent = isRecording ? recorded : answered
                entries.append(
                    #"{"at":\#(sequence * 40),"intent":\#(intent),"sequence":\#(sequence),\#(rest)}"#
                )
            }
            return entries
        }

        private static func event(_ intent: Int64) -> String {
            switch intent % 10 {
            case 1: #"{"key":"k\#(intent)","op":"set","value":{}}"#
            case 2: #"{"key":"k\#(intent - 1)","op":"merge","require":"present","value":{"n":1}}"#
            default: #"{"key":"other","op":"set","value":\#(intent)}"#
            }
        }

        private static let folder = Result { try Folder() }

        /// A log of the entries, and its page.
        private static let made: Task<(log: String, page: String), any Error> = Task {
            let folder = try Self.folder.get()
            let (file, log) = (folder.path("many.ndjson"), folder.path("many.log"))
            try Recipes.write(entries(), to: file)
            try await runTool("foldback", "import", file, log)
            let page = try await Report.make(
                of: log, "--projection", "Foldback.Documents", in: folder)
            return (log, page)
        }

        /// The sequences of the rejections.
        private static let rejections = entries().enumerated()
            .filter { $0.element.contains("rejected") }.map { $0.offset + 1 }

        /// Whether an element is wholly in the window and in a box.
        private static func isSeen(_ css: String, in box: String = "html") -> String {
            """
            (() => {
                const inner = document.querySelector(\(css.quoted)).getBoundingClientRect();
                const outer = document.querySelector(\(box.quoted)).getBoundingClientRect();
                const bottom = Math.min(outer.bottom, innerHeight);
                return inner.height > 0 && inner.top >= outer.top - 1 && inner.bottom <= bottom + 1;
            })()
            """
        }

        private static let selectedRow = "#list [aria-selected=true]"
        private static let ownBar = "#lanes [data-current] .target"

        @Test(arguments: ["", "entry=20", "entry=301"])
        func `the first screen has the timeline, the selected row and the explanation`(
            fragment: String
        ) async throws {
            try await ReportBrowserTests.withPage(
                try await Self.made.value.page, fragment: fragment,
                on: .init(size: (1_440, 900))
            ) { page in
                #expect(
                    try await page.bool("document.documentElement.scrollHeight <= innerHeight"))
                #expect(try await page.bool("!document.querySelector('#legend').open"))
                for css in ["#timeline", "#details-title", "#explanation", "#tabs", "#window-row"] {
                    #expect(try await page.bool(Self.isSeen(css)), "\(css)")
                }
                try await page.until(Self.isSeen(Self.selectedRow, in: "#list"))
                try await page.until(Self.isSeen("#explanation .main-sentence", in: "#explanation"))
                try await page.picture("first screen \(fragment)")
            }
        }

        @Test func `the lane of the selected entry's intent can always be seen`() async throws {
            try await ReportBrowserTests.withPage(
                try await Self.made.value.page, on: .init(size: (1_440, 900))
            ) { page in
                for sequence in [1, 99, 101, 200, 333, 400] as [Int64] {
                    try await page.select(sequence)
                    try await page.until(Self.isSeen(Self.ownBar, in: "#lanes"))
                }
                // All bars are there, but not all at once.
                let bars = try await page.number("document.querySelectorAll('#lanes .bar').length")
                #expect((1..<60).contains(bars))
                let lanes = "document.querySelector('#lanes')"
                #expect(try await page.bool("\(lanes).scrollHeight > 60 * 28"))
                try await page.browser.run("\(lanes).scrollTop = 0")
                try await page.until("\(lanes).querySelector('[data-intent]') !== null")
                // The next bar by keyboard can be in another lane.
                try await page.browser.run("\(lanes).querySelector('.bar').focus()")
                let focused = "document.activeElement"
                try await page.browser.press(.end)
                try await page.until("\(focused).matches('#lanes .bar:last-child')")
                let last = try await page.string("\(focused).dataset.intent")
                try await page.browser.press(.home)
                try await page.until("\(focused).matches('#lanes .bar:first-child')")
                #expect(try await page.string("\(focused).dataset.intent") != last)
                // Tab leaves the bars at once.
                #expect(
                    try await page.bool(
                        "[...\(lanes).querySelectorAll('[tabindex=\"0\"]')].join() === [\(focused)].join() && \(focused).getAttribute('tabindex') === '0'"
                    ))
            }
        }

        @Test func `zooming out ends with the picture filled`() async throws {
            try await ReportBrowserTests.withPage(
                try await Self.made.value.page, fragment: "entry=200", on: .init(size: (1_440, 900))
            ) { page in
                for _ in 1...12 { try await page.click("#zoom-out") }
                let ticks = """
                    document.querySelector('#axis .tick').getAttribute('d').match(/M[\\d.-]+/g)
                        .map(one => Number(one.slice(1)))
                    """
                let width = try await page.number("document.querySelector('#axis svg').clientWidth")
                #expect(try await page.number("Math.min(...\(ticks))") < 40)
                #expect(try await page.number("Math.max(...\(ticks))") > width - 40)
            }
        }

        @Test(arguments: [Shown.Way.file, .inspector])
        func `a strip of all entries has marks that lead to rejections`(
            way: Shown.Way
        ) async throws {
            let made = try await Self.made.value
            let inspector = try await way == .inspector ? Inspector.start(made.log) : nil
            defer { inspector?.end() }
            try await ReportBrowserTests.withPage(
                inspector?.address ?? made.page, fragment: "entry=5"
            ) { page in
                let words = "document.querySelector('#strip-words').textContent"
                let count = Self.rejections.count
                let found = ["rejections", "new conflicts", "faults"].map { "\(count) \($0)" }
                try await page.until("\(words) === 'Marks: \(found.joined(separator: ", ")).'")
                let marks =
                    "document.querySelector('#strip [data-state=rejected]').getAttribute('d')"
                #expect(
                    try await page.number("\(marks).split('M').length - 1") == Double(count))
                // A click near a mark selects its entry.
                try await page.browser.run(
                    """
                    const strip = document.querySelector("#strip");
                    const x = Number(\(marks).match(/M(\\d+)/)[1]) + 2;
                    const clientX = strip.getBoundingClientRect().left + x;
                    strip.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX }));
                    """)
                try await page.until(
                    "document.documentElement.dataset.selected === '\(Self.rejections[0])'")
                try await page.picture("strip \(way)")
            }
        }
    }
}
