import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// What a page shows over time: stories of intents and places, the overlay, and play.
    @Suite struct StoryTests {
        /// The sequences in the chapters of a story.
        private static func chapters(_ panel: String) -> String {
            """
            [...document.querySelectorAll('#panel-\(panel) .chapter-head button')].map(
                node => Number(node.textContent.replace('entry ', '')))
            """
        }

        // MARK: 6. The story of an intent

        @Test(arguments: Shown.feed)
        func `the story of an intent has the chapters of why`(shown: Shown) async throws {
            let lines = try await shown.run("why", "--intent", "6", "--json").lines
            let wanted = lines.compactMap { $0["entry"]?["sequence"]?.integerValue }
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16") { page in
                try await page.browser.run(
                    "document.querySelector('#timeline-frame [data-intent=\"6\"]').focus()")
                try await page.browser.press(.enter)
                try await page.until("\(Self.chapters("intent")).length > 0")
                #expect(try await page.numbers(Self.chapters("intent")) == wanted)
                let story = try await page.text("#panel-intent")
                #expect(story.contains("Intent 6 is"))
                #expect(story.contains("cleo takes no comments from mia"))
                #expect(story.contains("What the rollback changed in the view"))
                #expect(story.contains("retries intent 6"))
                #expect(try await page.text("#command").contains("why"))
                #expect(try await page.text("#command").contains("--intent 6"))
                try await page.picture("story \(shown.testDescription)")
            }
        }

        @Test(arguments: Shown.documents)
        func `the story of a rejected intent has the intents that came out differently`(
            shown: Shown
        ) async throws {
            let others = try await shown.run("why", "--intent", "2", "--json").lines
                .flatMap { $0["others"]?.arrayValue ?? [] }
            #expect(!others.isEmpty)
            try await ReportBrowserTests.withPage(shown, fragment: "entry=7&story=2&tab=intent") {
                page in
                try await page.until("\(Self.chapters("intent")).length > 0")
                let story = try await page.text("#panel-intent")
                for other in others {
                    let intent = try #require(other["intent"]?.integerValue)
                    #expect(story.contains("ntent \(intent) came out differently"))
                    #expect(story.contains(try #require(other["new"]?.stringValue)))
                }
                // The explanation of the entry says so too.
                #expect(try await page.text("#explanation").contains("came out differently"))
                #expect(try await page.text("#explanation").contains("Rollback: intent 2"))
            }
        }

        @Test(arguments: Shown.documents)
        func `a file says what would have differed without a rejected intent`(
            shown: Shown
        ) async throws {
            let recorded = try await shown.run("log", "--intent", "2", "--json").lines.first
            let entry = try #require(recorded?["sequence"]?.integerValue)
            let end = try await shown.run("what-if", "--drop", "\(entry)", "--json").lines.last?[
                "differences"]
            let isSame = end?["view"]?.arrayValue?.isEmpty == true
            let fragment = "entry=\(entry)&story=2&tab="
            for tab in ["intent", "what-if"] {
                try await ReportBrowserTests.withPage(shown, fragment: fragment + tab) { page in
                    guard shown.way == .file else {
                        // The inspector has What if.
                        try await page.until("document.querySelector('#panel-\(tab)').innerText")
                        #expect(try await !page.text("#panel-\(tab)").contains("Without intent"))
                        return
                    }
                    try await page.until("document.querySelector('#panel-\(tab) .verdict')")
                    let said = try await page.text("#panel-\(tab)")
                    #expect(
                        said.contains(
                            "Without intent 2, the end of the log would be \(isSame ? "the same" : "another one")."
                        ),
                        "\(said)")
                    #expect(said.contains("without it") == !isSame, "\(said)")
                }
            }
        }

        @Test func `the explanation names the replicas of a batch in a sentence`() async throws {
            try await ReportBrowserTests.withPage(Shown.feed[0], fragment: "entry=1") { page in
                let sentence = try await page.text("#explanation .main-sentence")
                #expect(sentence.hasSuffix("They come from bo and cleo."), "\(sentence)")
            }
        }

        // MARK: 7. The story of a place

        @Test(arguments: Shown.feed)
        func `a click on a place opens its story, which is the same as in why`(
            shown: Shown
        ) async throws {
            let place = "/posts/cleo.1.0/comments"
            let wanted = try await shown.run("why", "--place", place, "--json").lines
                .compactMap { $0["entry"]?["sequence"]?.integerValue }
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=state") { page in
                try await page.click("#panel-state .name", saying: "comments")
                try await page.until("!document.querySelector('#panel-place').hidden")
                try await page.enter(place, into: "#place-input")
                try await page.click("#panel-place button", saying: "Show")
                try await page.until(
                    "String(\(Self.chapters("place"))) === '\(wanted.map(String.init).joined(separator: ","))'"
                )
                #expect(try await page.text("#command").contains("why"))
                #expect(try await page.text("#command").contains(place))
                #expect(try await page.text("#panel-place").contains("Sweet!"))
            }
        }

        @Test(arguments: Shown.feed)
        func `the story of an element of an array is that of its id`(shown: Shown) async throws {
            let place = "/posts/cleo.1.0/comments/id=mia.6.0"
            let wanted = try await shown.run("why", "--place", place, "--json").lines
                .compactMap { $0["entry"]?["sequence"]?.integerValue }
            // Another comment is at this index later.
            let index = try await shown.run(
                "why", "--place", "/posts/cleo.1.0/comments/0", "--json"
            ).lines.compactMap { $0["entry"]?["sequence"]?.integerValue }
            #expect(!wanted.isEmpty && wanted != index)
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16&tab=entry") { page in
                try await page.click("#panel-entry button", saying: "/posts/cleo.1.0/comments/0")
                try await page.until(
                    "String(\(Self.chapters("place"))) === '\(wanted.map(String.init).joined(separator: ","))'"
                )
                let input = "document.querySelector('#place-input').value"
                #expect(try await page.string(input) == place)
            }
        }

        // MARK: 8. The overlay

        @Test(arguments: Shown.feed)
        func `the overlay is in order, with conflicts and reasons`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=15&tab=overlay") { page in
                let heads = "#panel-overlay li .overlay-head button"
                try await page.until("document.querySelectorAll('\(heads)').length === 2")
                #expect(try await page.texts(heads) == ["intent 6", "intent 7"])
                try await page.select(20)
                try await page.until("document.querySelectorAll('\(heads)').length === 1")
                let overlay = try await page.text("#panel-overlay")
                #expect(overlay.contains("conflicted"))
                #expect(overlay.contains("Does not count: bo deleted it"))
                try await page.select(36)
                try await page.until(
                    "document.querySelector('#panel-overlay').innerText.includes('The overlay is empty')"
                )
            }
        }

        // MARK: 9. Play

        @Test(arguments: Shown.feed)
        func `the keys of step walk through the entries`(shown: Shown) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=16") { page in
                let shows = { (sequence: Int) in
                    try await page.until(
                        "document.documentElement.dataset.selected === '\(sequence)'")
                }
                for (keys, sequence) in [
                    ("n", 17), ("nn", 19), ("p", 18), ("g", 0), ("n", 1), ("p", 0), ("e", 36),
                    ("n", 36),
                ] as [(String, Int)] {
                    for key in keys {
                        let before = try await page.selected
                        try await page.browser.press(String(key))
                        if sequence != before {
                            try await page.until(
                                "document.documentElement.dataset.selected !== '\(before)'")
                        }
                    }
                    try await shows(sequence)
                }
                try await page.browser.press("12")
                #expect(try await page.text("#typed").contains("12"))
                try await page.browser.press(.enter)
                try await shows(12)
                try await page.browser.press(.arrowRight)
                try await shows(13)
                try await page.browser.press(.arrowLeft)
                try await shows(12)
                try await page.enter("30", into: "#jump")
                try await page.browser.press(.enter)
                try await shows(30)
                try await page.click("#play-first")
                try await shows(0)
                #expect(
                    try await page.text("#explanation")
                        == "This is the state before the first entry.")
            }
        }

        @Test(arguments: [Shown.feed[0], Shown.feed[2]])
        func `a step can skip entries of other replicas`(shown: Shown) async throws {
            let own = try await shown.run("log", "--json").lines.filter { entry in
                entry["kind"] != "confirmed"
                    || entry["events"]?.arrayValue?.contains {
                        $0["origin"]?["replica"] == "mia"
                    } == true
            }.compactMap { $0["sequence"]?.integerValue }
            try await ReportBrowserTests.withPage(shown, fragment: "entry=0") { page in
                try await page.click("#skip-others")
                var seen: [Int64] = []
                for sequence in own {
                    let before = try await page.selected
                    try await page.click("#play-next")
                    try await page.until(
                        "document.documentElement.dataset.selected !== '\(before)'")
                    seen.append(try await page.selected)
                    if seen.last != sequence { break }
                }
                #expect(seen == own)
            }
        }

        @Test(arguments: Shown.feed)
        func `play shows each entry at any speed, and stops at the end`(
            shown: Shown
        ) async throws {
            try await ReportBrowserTests.withPage(shown, fragment: "entry=33") { page in
                for (speed, start) in [("1", 35), ("10", 30), ("max", 0)] as [(String, Int64)] {
                    try await page.select(start)
                    try await page.choose(speed, in: "#speed")
                    try await page.browser.run(
                        """
                        window.shown = [];
                        window.watch?.disconnect();
                        window.watch = new MutationObserver(() =>
                            window.shown.push(Number(document.documentElement.dataset.selected)));
                        window.watch.observe(document.documentElement, { attributes: true });
                        document.querySelector("#list").focus();
                        """)
                    try await page.browser.press(.space)
                    try await page.until("document.documentElement.dataset.selected === '36'")
                    try await page.until(
                        "document.querySelector('#play-toggle').textContent === 'Play'")
                    #expect(
                        try await page.numbers("window.shown") == Array(start + 1...36),
                        "\(speed)")
                }
            }
        }

        @Test func `with reduced motion, play changes the picture twice a second at most`()
            async throws
        {
            try await ReportBrowserTests.withPage(
                Shown.feed[0], fragment: "entry=0", on: .init(hasReducedMotion: true)
            ) { page in
                try await page.choose("max", in: "#speed")
                try await page.browser.run(
                    """
                    window.shown = 0;
                    new MutationObserver(() => { window.shown += 1; })
                        .observe(document.documentElement, { attributes: true });
                    """)
                try await page.click("#play-toggle")
                try await page.until("document.documentElement.dataset.selected === '36'")
                #expect(try await page.number("window.shown") <= 2)
                let moving = try await page.number("document.getAnimations().length")
                #expect(moving == 0)
            }
        }
    }
}
