import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// The tabs that ask questions and save files, against the commands that they name.
    @Suite struct ToolTests {
        private static let live = Shown(source: .feed, way: .inspector)

        // MARK: 10. What if

        @Test func `a what-if shows the branch beside the actual history`() async throws {
            let lines = try await Self.live.run("what-if", "--drop", "16", "--json").lines
            let changed = lines.compactMap { $0["sequence"]?.integerValue }
            let atEnd = lines.compactMap { $0["differences"]?["view"]?.arrayValue }.last ?? []
            let before = try await Self.live.run("log", "--json").output
            try await ReportBrowserTests.withPage(Self.live, fragment: "entry=16&tab=what-if") {
                page in
                // A single click runs it.
                try await page.click("#panel-what-if button", saying: "Drop entry 16")
                let rows = "[...document.querySelectorAll('#branch-list [role=option]')]"
                try await page.until("\(rows).length > 0")
                // The end comes first, and it is not an error.
                #expect(
                    try await page.string(
                        "document.querySelector('#panel-what-if .result').firstChild.textContent"
                    ) == "At the end, 1 place differs:/posts/cleo.1.0/comments/1")
                let placesAtEnd = atEnd.compactMap { $0["place"]?.stringValue }
                #expect(placesAtEnd == ["/posts/cleo.1.0/comments/1"])
                #expect(
                    try await page.bool(
                        "getComputedStyle(document.querySelector('#panel-what-if .verdict')).color === getComputedStyle(document.body).color"
                    ))
                #expect(
                    try await page.text("#panel-what-if .result").contains(
                        "\(changed.count) entries changed the difference. The first is entry 16."))
                // The dropped entry is absent from the branch.
                try await page.until(
                    "\(rows).some(row => row.textContent.includes('16  rejected 6') && row.textContent.includes('absent'))"
                )
                let seen = try await page.numbers(
                    """
                    \(rows).filter(row => row.querySelector('.changes').textContent.includes('\\u2260'))
                        .map(row => parseInt(row.innerText))
                    """)
                #expect(!seen.isEmpty && seen.allSatisfy(changed.contains), "\(seen)")
                try await page.until(
                    "document.querySelector('#panel-what-if').innerText.includes('/posts/cleo.1.0/comments/0')"
                )
                try await page.picture("what-if")
                #expect(try await page.text("#command").contains("what-if"))
                #expect(try await page.text("#command").contains("--drop 16"))
            }
            #expect(try await Self.live.run("log", "--json").output == before)
        }

        /// Each edit that the form makes, and the options that the command line has for it.
        @Test(arguments: [
            ("reject", "3", "", "", ["--reject", "3"]),
            ("acknowledge", "6", "", "", ["--acknowledge", "6"]),
            ("swap", "9", "10", "", ["--swap", "9", "10"]),
            (
                "edit", "2", "", #"{"by":"mia","did":{"liked":{"post":"cleo.1.0"}}}"#,
                ["--edit", #"2={"by":"mia","did":{"liked":{"post":"cleo.1.0"}}}"#]
            ),
            (
                "insert", "10", "", #"{"by":"mia","did":{"unfollowed":{"_0":"bo"}}}"#,
                ["--insert", #"10={"by":"mia","did":{"unfollowed":{"_0":"bo"}}}"#]
            ),
        ])
        func `an edit of the form ends in the state that what-if prints`(
            kind: String, first: String, second: String, event: String, options: [String]
        ) async throws {
            let lines = try await runTool(
                ["feed-replay", "what-if", Self.live.log] + options + ["--json"], statuses: [0, 1]
            ).lines
            let end = lines.compactMap { $0["end"] }.last
            try await ReportBrowserTests.withPage(Self.live, fragment: "entry=16&tab=what-if") {
                page in
                try await page.choose(kind, in: "#edit-kind")
                try await page.enter(first, into: "#edit-first")
                if !second.isEmpty { try await page.enter(second, into: "#edit-second") }
                if !event.isEmpty { try await page.enter(event, into: "#edit-event") }
                try await page.browser.run(
                    """
                    const ask = foldback.source.ask.bind(foldback.source);
                    foldback.source.ask = async (path, body) => {
                        const answer = await ask(path, body);
                        if (path === "/api/what-if") window.branched = answer;
                        return answer;
                    };
                    """)
                try await page.click("#panel-what-if form button")
                try await page.until("document.querySelector('#panel-what-if .verdict')")
                let branched = try await page.value("window.branched.end.view")
                #expect(branched == end?["view"])
                for option in options.prefix(1) {
                    #expect(try await page.text("#command").contains(option))
                }
            }
        }

        @Test func `another edit of an intent takes the place of the first`() async throws {
            let entries = try await Self.live.run("log", "--intent", "6", "--json").lines
            let recorded = try #require(entries.first?["sequence"]?.integerValue)
            try await ReportBrowserTests.withPage(
                Self.live, fragment: "entry=\(recorded)&tab=what-if"
            ) { page in
                for answer in ["Reject", "Accept"] {
                    try await page.click("#panel-what-if button", saying: "\(answer) intent 6")
                    let words = "The server \(answer.lowercased())s intent 6."
                    try await page.until(
                        "document.querySelector('#panel-what-if .edits').innerText.includes('\(words)')"
                    )
                    try await page.until("document.querySelector('#panel-what-if .verdict')")
                }
                #expect(
                    try await page.number(
                        "document.querySelectorAll('#panel-what-if .edits li').length") == 1)
            }
        }

        @Test func `an edit that is impossible is refused in words`() async throws {
            try await ReportBrowserTests.withPage(
                try await Self.live.address, fragment: "entry=16&tab=what-if",
                ignoring: ["/api/what-if"]
            ) { page in
                try await page.choose("drop", in: "#edit-kind")
                try await page.enter("4711", into: "#edit-first")
                try await page.click("#panel-what-if form button")
                try await page.until(
                    "document.querySelector('#panel-what-if .result .flaw').innerText.length > 10")
            }
        }

        @Test func `a page in a file shows the command that would do it`() async throws {
            let shown = Shown(source: .feed, way: .file)
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=what-if") { page in
                // It says so at once, and has no button that would do nothing.
                let panel = try await page.text("#panel-what-if")
                #expect(panel.contains("This page is a file."))
                #expect(panel.contains("feed-replay inspect feed.log --open"))
                #expect(panel.contains("--acknowledge 6"))
                let buttons = try await page.texts(
                    "#panel-what-if :is(button, input, select):not(.link)")
                #expect(buttons == ["Copy", "Copy", "Copy"])
                let whatIf = try await page.text("#command")
                #expect(whatIf.contains("what-if") && whatIf.hasSuffix("--drop 16"))
                try await page.openTab("find")
                try await page.enter("/followers/bo/0", into: "#find-place")
                try await page.choose("!=", in: "#find-operator")
                try await page.enter("\"mia\"", into: "#find-literal")
                let command = try await page.text("#command")
                let end = try await runShell(
                    command, in: URL(filePath: shown.log).deletingLastPathComponent())
                #expect(end.status == 1 && end.output.contains("intent 3"), "\(command): \(end)")
            }
        }

        // MARK: 11. Export

        @Test(arguments: Shown.feed)
        func `the page saves the same files as export`(shown: Shown) async throws {
            let ndjson = try await shown.run("export").output
            let folder = try Folder()
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=export") { page in
                try await page.click("[data-export=ndjson]")
                try await page.until("window.seen.files.length === 1")
                let saved = try #require(try await page.files().last)
                try saved.write(
                    toFile: folder.path("saved.ndjson"), atomically: true, encoding: .utf8)
                #expect(
                    saved.split(separator: "\n").count == ndjson.split(separator: "\n").count)
                let state = try await shown.run("at", "36", "--json").output
                #expect(
                    try await runTool(
                        "feed-replay", "at", folder.path("saved.ndjson"), "36", "--json"
                    )
                    .output == state)
                let link = "document.querySelector('#panel-export a[download]')"
                #expect(try await page.string("\(link).download").hasSuffix(".ndjson"))
                try await page.click("[data-export=bundle]")
                try await page.until("window.seen.files.length === 2")
                let bundle = try #require(try await page.files().last)
                let file = folder.path("bundle.ndjson")
                try bundle.write(toFile: file, atomically: true, encoding: .utf8)
                try await runTool("feed-replay", "import", file, folder.path("again.log"))
                let end = try await runTool(
                    "feed-replay", "at", folder.path("again.log"), "36", "--json")
                #expect(end.output == state)
                try await page.click("[data-export=test]")
                try await page.until("window.seen.files.length >= 3")
                let test = try await page.files().dropFirst(2)
                #expect(test.contains { $0.contains("import Testing") && $0.contains("@Test") })
                let command = try await page.text("#command")
                #expect(command.contains("export") && command.contains("--as test"))
            }
        }

        @Test(arguments: Shown.feed)
        func `an export of filtered entries has only these`(shown: Shown) async throws {
            let wanted = try await shown.run("log", "--intent", "6", "--json").lines
            try await ReportBrowserTests.withPage(
                shown, fragment: "entry=16&tab=export&intent=6"
            ) { page in
                try await page.click("[data-export=ndjson]")
                try await page.until("window.seen.files.length === 1")
                let lines = try #require(try await page.files().last).split(separator: "\n")
                let entries = try lines.map { try JSON(parsing: String($0)) }
                    .filter { $0["sequence"] != nil }
                #expect(entries.map { $0["sequence"] } == wanted.map { $0["sequence"] })
            }
        }

        /// The page's command line, run as a shell does, prints what the page shows.
        @Test(arguments: Shown.feed)
        func `each tab has a command line that runs`(shown: Shown) async throws {
            let folder = URL(filePath: try await shown.log).deletingLastPathComponent()
            let fragment = "entry=16&pin=3&place=%2Ffollowers%2Fbo"
            try await ReportBrowserTests.withPage(shown, fragment: fragment) { page in
                for (tab, word) in [
                    ("state", "cleo.1.0"), ("overlay", "\"pending\":[7]"), ("intent", "rejected 6"),
                    ("place", "followed"), ("compare", "/followers/bo"),
                    ("plots", "<svg"),
                ] {
                    try await page.openTab(tab)
                    let command = try await page.text("#command")
                    let end = try await runShell(command, in: folder)
                    #expect(end.status < 2 && end.output.contains(word), "\(command): \(end)")
                }
            }
        }

        @Test(arguments: Shown.feed)
        func `the plots are pictures`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=plots") { page in
                try await page.until(
                    "[...document.querySelectorAll('#panel-plots svg')].filter("
                        + "(one) => one.getBBox && one.getBBox().height > 100).length === 3")
            }
        }

        // MARK: 12. First break

        @Test func `first break jumps to the entry`() async throws {
            let found = try await Self.live.run(
                "first-break", "--expect", #"/followers/bo/0 != "mia""#, "--json"
            ).lines.first?["break"]?["entry"]?["sequence"]?.integerValue
            try await ReportBrowserTests.withPage(Self.live, fragment: "entry=16&tab=find") {
                page in
                try await page.enter("/followers/bo/0", into: "#find-place")
                try await page.choose("!=", in: "#find-operator")
                try await page.enter("\"mia\"", into: "#find-literal")
                try await page.click("#panel-find button.primary")
                try await page.until("document.documentElement.dataset.selected !== '16'")
                #expect(try await page.selected == found)
                let verdict = try await page.string(
                    "document.querySelector('#panel-find .verdict').textContent")
                #expect(verdict.hasPrefix("The first break is entry \(found ?? -1)."))
                try await page.choose("minimize", in: "#find-kind")
                try await page.click("#panel-find button.primary")
                try await page.until(
                    "document.querySelector('#panel-find .verdict').innerText.startsWith('1 of 36 entries still fail.')"
                )
                // A test has its source, its history and its expected state.
                let files = try await page.files()
                #expect(
                    files.contains {
                        $0.hasPrefix("{\"codec\"") && $0.contains("followed")
                            && $0.split(separator: "\n").count == 2
                    })
                try await page.choose("rerun", in: "#find-kind")
                try await page.click("#panel-find button.primary")
                try await page.until(
                    "document.querySelector('#panel-find .verdict').innerText.includes('36 entries, 2 changed the difference')"
                )
                try await page.picture("find")
            }
        }

        @Test func `a condition that holds everywhere is reported`() async throws {
            try await ReportBrowserTests.withPage(Self.live, fragment: "entry=16&tab=find") {
                page in
                try await page.enter("/posts/none", into: "#find-place")
                try await page.choose("==", in: "#find-operator")
                try await page.enter("1", into: "#find-literal")
                try await page.choose("!=", in: "#find-operator")
                try await page.click("#panel-find button.primary")
                try await page.until(
                    "document.querySelector('#panel-find .verdict, #panel-find .flaw')")
            }
        }
    }
}
