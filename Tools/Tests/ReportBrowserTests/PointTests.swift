import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// What a page shows of a log and of one entry, against the commands of the same tool.
    @Suite struct PointTests {
        // MARK: 1. The head

        @Test(arguments: Shown.feed)
        func `the head shows the log's facts, and on request the verdict`(
            shown: Shown
        ) async throws {
            let status = try #require(try await shown.run("status", "--json").lines.first)
            try await ReportBrowserTests.withPage(shown) { page in
                let names = try await page.texts("#chips .chip dt")
                let values = try await page.texts("#chips .chip dd")
                let chips = Dictionary(uniqueKeysWithValues: zip(names, values))
                #expect(chips["Replica"] == status["replica"]?.stringValue)
                // The words are for people, and the value is that of the command line.
                let kind = try #require(status["kind"]?.stringValue)
                #expect(chips["Confirmed by"]?.hasSuffix(" (\(kind))") == true)
                for (name, label) in [
                    ("entries", "Entries"), ("pending", "Pending"), ("accepted", "Accepted"),
                    ("rejected", "Rejected, open"),
                ] {
                    let value = status[ExactString(name)]
                    #expect(chips[label] == value.map { "\($0)" }, "\(label)")
                }
                #expect(chips["Conflicted"] == "0")
                #expect(chips["Faults"] == "0")
                #expect(chips["Size"]?.hasSuffix("kB") == true)
                #expect(chips["Last write"]?.hasSuffix(" UTC") == true)
                let log = URL(filePath: try await shown.log).lastPathComponent
                #expect(try await page.text("#log-name").contains(log))
                #expect(try await page.bool("document.querySelector('#verdict').hidden"))
                try await page.click("#verify")
                // The check of a file was in the past.
                let verdict =
                    shown.way == .file
                    ? "The log was sound when this file was made." : "The log is sound."
                try await page.until(
                    "document.querySelector('#verdict').innerText.includes(\(verdict.quoted))")
            }
        }

        // MARK: 2. The timeline

        @Test(arguments: Shown.feed)
        func `the timeline has a bar for each intent, and a tick for each batch`(
            shown: Shown
        ) async throws {
            let entries = try await shown.run("log", "--json").lines
            let intents = entries.filter { $0["kind"] == "intent" }.compactMap {
                $0["intent"].map { "\($0)" }
            }
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16") { page in
                // The widest view of the window shows all 36 entries.
                for _ in 1...6 { try await page.click("#zoom-out") }
                let bars = try await page.strings(
                    "[...document.querySelectorAll('#timeline-frame [data-intent]')].map(bar => bar.dataset.intent)"
                )
                #expect(bars == intents)
                let six = try await page.string(
                    "document.querySelector('[data-intent=\"6\"]').getAttribute('aria-label')")
                #expect(six == "Intent 6: recorded at entry 14, rejected at entry 16")
                let eight = try await page.string(
                    "document.querySelector('[data-intent=\"8\"]').getAttribute('aria-label')")
                #expect(eight.contains("conflicted at entry 20, applies again at entry 21"))
                let batches = try await page.string(
                    "document.querySelector('#timeline-frame .batch').getAttribute('d')")
                #expect(
                    batches.count { $0 == "M" } == entries.count { $0["kind"] == "confirmed" })
                try await page.picture("timeline \(shown.testDescription)")
            }
        }

        @Test func `each state has its own color and its own shape`() async throws {
            try await ReportBrowserTests.withPage(Shown.feed[0]) { page in
                for display in [LogPage.Display(), LogPage.Display(isDark: true)] {
                    try await page.set(display)
                    let marks = try await page.strings(
                        """
                        [...document.querySelectorAll("#legend-list .mark")].map(mark => [
                            getComputedStyle(mark.querySelector(".outline")).stroke,
                            getComputedStyle(mark.querySelector(".outline")).fill,
                            [...mark.querySelectorAll("path")].map(path => path.getAttribute("d"))
                        ].map(String))
                        """
                    )
                    #expect(marks.count == 6)
                    #expect(Set(marks).count == 6)
                    #expect(try await page.texts("#legend-list dt").contains("fault"))
                    let shapes = try await page.strings(
                        """
                        [...document.querySelectorAll("#legend-list .mark")].map(mark =>
                            [...mark.querySelectorAll("path")].map(path => path.getAttribute("d")).join())
                        """
                    )
                    #expect(Set(shapes).count == 6)
                }
            }
        }

        @Test func `the timeline zooms, pans, and has an axis of time`() async throws {
            try await ReportBrowserTests.withPage(Shown.feed[0], fragment: "entry=16") { page in
                let width = """
                    Number(document.querySelector('[data-intent="8"] .target').getAttribute("width"))
                    """
                let place = """
                    Number(document.querySelector('[data-intent="8"] .target').getAttribute("x"))
                    """
                let first = try await page.number(width)
                try await page.click("#zoom-in")
                try await page.until("\(width) > \(first)")
                let x = try await page.number(place)
                try await page.click("#pan-right")
                try await page.until("!(\(place) >= \(x))")
                let labels =
                    "[...document.querySelectorAll('#timeline-frame .axis-text')].map(n => n.textContent)"
                #expect(try await page.strings(labels).allSatisfy { Int($0) != nil })
                try await page.click("#axis-time")
                try await page.until("\(labels).some(text => /^\\+.*s$/.test(text))")
                #expect(
                    try await page.string(
                        "document.querySelector('#axis-time').getAttribute('aria-pressed')")
                        == "true")
            }
        }

        @Test(arguments: Shown.attempts)
        func `attempts are ticks on the bar of their intent`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown) { page in
                let bar = "document.querySelector('#timeline-frame [data-intent=\"6\"]')"
                #expect(try await page.number("\(bar).querySelectorAll('.attempt').length") >= 1)
                let words = try await page.string("\(bar).getAttribute('aria-label')")
                #expect(words.contains("sending attempt") && words.contains("quarantined"))
                try await page.openTab("overlay")
                try await page.until(
                    "document.querySelector('#panel-overlay').innerText.includes('this intent is poison')"
                )
            }
        }

        // MARK: 3. The entries

        @Test(arguments: Shown.feed)
        func `a row shows number, time, kind, intent, words and changes`(
            shown: Shown
        ) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=9") { page in
                let row = try await page.texts("#list [data-sequence='9'] > *")
                try #require(row.count == 6)
                #expect(row[0] == "9")
                #expect(row[1].wholeMatch(of: /\d\d:\d\d:\d\d\.\d\d\d/) != nil)
                #expect(row[2] == "recorded" && row[3] == "intent 4")
                #expect(row[4].hasPrefix("commented: ") && row[5] == "1 change")
                #expect(
                    try await page.string("document.querySelector('#entries-count').textContent")
                        == "36 entries")
            }
        }

        @Test(arguments: Shown.feed)
        func `filters and search choose the same entries as log`(shown: Shown) async throws {
            let sequences =
                "[...document.querySelectorAll('#list [role=option]')].map(row => Number(row.dataset.sequence))"
            try await ReportBrowserTests.withPage(shown) { page in
                let checks: [(fragment: String, options: [String], text: String?)] = [
                    ("kind=rejected", ["--kind", "rejected"], nil),
                    (
                        "kind=acknowledged&kind=rejected",
                        ["--kind", "acknowledged", "--kind", "rejected"], nil
                    ),
                    ("intent=6", ["--intent", "6"], nil),
                    ("state=rejected", ["--state", "rejected"], nil),
                    (
                        "since=2001-01-01&until=2002-01-01",
                        ["--since", "2001-01-01", "--until", "2002-01-01"], nil
                    ),
                    ("with=conflict", ["--with", "conflict"], nil),
                    ("with=fault&kind=confirmed", ["--with", "fault", "--kind", "confirmed"], nil),
                    ("text=sWeet", [], "sweet"),
                ]
                for check in checks {
                    let lines = try await runTool(
                        [shown.tool, "log", shown.log, "--json"] + check.options
                    ).output.split(separator: "\n")
                    let wanted = try lines.filter {
                        check.text == nil || $0.lowercased().contains(check.text ?? "")
                    }.compactMap { try JSON(parsing: String($0))["sequence"]?.integerValue }
                    try await page.reload(fragment: "entry=1&\(check.fragment)")
                    #expect(try await page.numbers(sequences) == wanted, "\(check.fragment)")
                    #expect(
                        try await page.text("#entries-count")
                            == "\(wanted.count) of 36 entries match")
                }
            }
        }

        /// The page and the command line write events in words, each in its own language.
        @Test(arguments: Shown.feed)
        func `a row has the words that log prints`(shown: Shown) async throws {
            let lines = try await runTool([shown.tool, "log", shown.log, "--kind", "intent"])
                .output.split(separator: "\n")
            try await ReportBrowserTests.withPage(shown, fragment: "kind=intent") { page in
                let rows = try await page.texts("#list [role=option] .words")
                #expect(rows.count >= 10 && rows.count <= lines.count)
                for (row, line) in zip(rows, lines) { #expect(line.hasSuffix("  \(row)")) }
            }
        }

        @Test(arguments: Shown.feed)
        func `a person sets a filter with the mouse and types a search`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown) { page in
                try await page.click("#filters-toggle")
                try await page.click("#filters [value=rejected]")
                let count = "document.querySelector('#entries-count').textContent"
                try await page.until("\(count) === '1 of 36 entries match'")
                #expect(try await page.text("#filter-command").contains("log"))
                #expect(try await page.text("#filter-command").contains("--kind rejected"))
                try await page.click("#filters [value=rejected]")
                // The filters have the words of the list. The command has the kinds of the log.
                try await page.click("#filters label", saying: "accepted")
                try await page.until(
                    "document.querySelector('#filter-command').innerText.includes('--kind acknowledged')"
                )
                let kinds = try await page.texts("#list [role=option] .kind")
                #expect(!kinds.isEmpty && kinds.allSatisfy { $0 == "accepted" }, "\(kinds)")
                try await page.click("#filters label", saying: "accepted")
                try await page.enter("bread", into: "#filter-text")
                try await page.until("\(count).endsWith(' of 36 entries match')")
                try await page.enter("nothing has this", into: "#filter-text")
                try await page.until(
                    "document.querySelector('#list-empty').checkVisibility()")
                try await page.click("#filters-toggle")
                try await page.click("#filters-toggle")
                try await page.enter("no number", into: "#filter-intent")
                try await page.until("document.querySelector('#filter-flaw').checkVisibility()")
            }
        }

        // MARK: 4. The state

        @Test(arguments: Shown.feed)
        func `the state is a tree with the entry's changes marked`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=state") { page in
                let items =
                    "[...document.querySelectorAll('#panel-state [role=treeitem]')].map(n => n.innerText)"
                try await page.until("\(items).length > 0")
                #expect(try await page.strings(items).contains { $0.contains("posts") })
                // The rolled back comment is marked as removed, in an open branch.
                let removed = try await page.text("#panel-state .change")
                #expect(removed.contains("removed") && removed.contains("Sweet!"))
                try await page.picture("state \(shown.testDescription)")
                try await page.click("#panel-state [data-part=confirmed]")
                try await page.until(
                    "document.querySelector('[data-part=confirmed]').getAttribute('aria-pressed') === 'true'"
                )
                #expect(try await !page.text("#panel-state").contains("Sweet!"))
                try await page.click("#panel-state [data-part=difference]")
                try await page.until(
                    "document.querySelector('#panel-state').innerText.includes('likes')")
            }
        }

        @Test(arguments: Shown.feed)
        func `the user chooses among projections and sees tables of rows`(
            shown: Shown
        ) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=36&tab=state") { page in
                let names = try await page.texts("#projection option")
                #expect(names.count == 2)
                try await page.choose(names[1], in: "#projection")
                try await page.until("document.querySelector('#panel-state table')")
                #expect(try await page.text("#panel-state table").contains("cleo"))
                #expect(try await page.text("#table-select").contains("posts by author"))
                let end = try await shown.run(
                    "at", "36", "--json", "--projection", names[1]
                ).lines.first
                #expect(try await page.state["view"] == end?["view"])
            }
        }

        @Test(arguments: [Shown.Way.file, .inspector])
        func `large arrays and long texts are cut, and the page says so`(
            way: Shown.Way
        ) async throws {
            let folder = try Folder()
            let array = JSON.array((0..<500).map { .integer($0) })
            let text = String(repeating: "word ", count: 2_000)
            let log = try Recipes.log(
                "large.log",
                [
                    #"{"do":"record","event":{"op":"set","key":"array","value":\#(array)}}"#,
                    #"{"do":"record","event":{"op":"set","key":"text","value":"\#(text)"}}"#,
                ], in: folder)
            try await ReportBrowserTests.withPage(
                log, way, in: folder, fragment: "entry=2&tab=state"
            ) {
                page in
                let panel = "document.querySelector('#panel-state').innerText"
                try await page.until(
                    "\(panel).includes('10,000 characters; the first 300 are shown.')")
                try await page.browser.run(
                    "[...document.querySelectorAll('#panel-state [role=treeitem]')].find(n => n.innerText.startsWith('array')).focus()"
                )
                try await page.browser.press(.arrowRight)
                try await page.until("\(panel).includes('500 elements; 100 are shown.')")
                try await page.click("#panel-state button.small", saying: "Show 100 more")
                try await page.until("\(panel).includes('500 elements; 200 are shown.')")
            }
        }

        // MARK: 5. Two places

        @Test(arguments: Shown.feed)
        func `a pinned entry and a selected entry are compared as by diff`(
            shown: Shown
        ) async throws {
            let wanted = try await shown.run("diff", "3", "16", "--json").lines
                .compactMap { $0["place"]?.stringValue }
            try await ReportBrowserTests.withPage(shown, fragment: "entry=3") { page in
                try await page.click("#pin")
                try await page.select(16)
                try await page.openTab("compare")
                let places =
                    "[...document.querySelectorAll('#panel-compare tbody .place')].map(n => n.textContent)"
                try await page.until("\(places).length > 0")
                #expect(try await page.strings(places) == wanted)
                let command = try await page.text("#command")
                #expect(command.contains("diff") && command.contains("3 16"))
                try await page.picture("compare \(shown.testDescription)")
            }
        }
    }

    /// Runs a test on a log of documents.
    static func withPage(
        _ log: String, _ way: Shown.Way, by tool: String = "foldback", in folder: Folder,
        fragment: String = "", on display: LogPage.Display = .init(),
        ignoring noise: [String] = [], at place: SourceLocation = #_sourceLocation,
        _ test: (LogPage) async throws -> Void
    ) async throws {
        switch way {
        case .file:
            let address = try await Report.make(of: log, by: tool, in: folder)
            try await withPage(
                address, fragment: fragment, on: display, ignoring: noise, at: place, test)
        case .inspector:
            let inspector = try await Inspector.start(log, by: tool)
            defer { inspector.end() }
            try await withPage(
                inspector.address, fragment: fragment, on: display, ignoring: noise, at: place,
                test)
        }
    }
}
