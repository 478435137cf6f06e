import BrowserDriver
import Foldback
import Testing

extension BrowserTests {
    /// What people do, and what the authority answers.
    @Suite struct IntentTests {
        @Test func `B1: a like is in the page with the first message after the click`() async throws
        {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let before = try await page.shown(post)
                #expect(before.liked == "false" && before.state == "settled")
                let likeCount = try #require(before.likes)
                try await page.browser.run(
                    """
                    window.messages = [];
                    new MutationObserver(() => messages.push({
                        ...\(FeedPage.shown(page.row(post))),
                        delay: Math.round(performance.now() - window.clickedAt),
                    })).observe(document.body, { attributeFilter: ["data-revision"] });
                    addEventListener("click", () => window.clickedAt = performance.now(), true);
                    """)
                try await page.click("[id='like-\(post)']")
                try await page.until("messages.length > 0")
                let first: ShownRow = try await page.decoded("messages[0]")
                #expect(first.likes == likeCount + 1 && first.liked == "true")
                #expect(first.state == "pending" && first.marks == ["pending"])
                #expect(first.birth == before.birth)
                print("B1: click to DOM in \(try await page.number("messages[0].delay")) ms")
                let stage = try await page.server.stage()
                #expect(stage["held"]?.arrayValue?.map { $0["id"] } == ["mia/1"])
            }
        }

        @Test func `B2: an accepted like loses its mark, and nothing else changes`() async throws {
            try await BrowserTests.withFeed(isHolding: true, at: 1) { page, post in
                try await page.click("[id='like-\(post)']")
                try await page.until(post, is: "pending")
                let pending = try await page.shown(post)
                let parts =
                    "[\(page.row(post)), '.like', '.text'].map((part, index, all) => "
                    + "index ? all[0].querySelector(part) : part)"
                try await page.browser.run("window.kept = \(parts)")
                try await page.browser.run(
                    """
                    window.touched = new Set();
                    new MutationObserver(records => {
                        for (const { target } of records) {
                            const node = target.closest ? target : target.parentElement;
                            // A node that was taken out since is a part of what changed.
                            if (node?.isConnected)
                                touched.add(node.closest("article")?.dataset.id ?? "#" + node.id);
                        }
                    }).observe(document.querySelector("#feed"),
                        { subtree: true, childList: true, attributes: true, characterData: true });
                    """)
                try await page.server.stage(["do": "release", "id": "mia/1"])
                try await page.until(post, is: "settled")
                let settled = try await page.shown(post)
                #expect(settled.marks == [])
                #expect(settled.birth == pending.birth)
                #expect(
                    try await page.bool("\(parts).every((part, index) => part === kept[index])"))
                #expect(settled.likes == pending.likes && settled.liked == "true")
                let touched = try await page.strings("[...touched]")
                #expect(touched == [post])
            }
        }

        @Test func `B3: a rejected comment stays as a ghost with its reason`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let before = try await page.shown(post)
                let comment = try await page.comment("Is this allowed?", on: post)
                let pending = try await page.shown(comment)
                #expect(pending.state == "pending")
                #expect(try await page.shown(post).comments != before.comments)
                let picture = try await page.picture("B3-pending")
                #expect(try await page.bool("!\(page.row(comment)).hasAttribute('data-ghost')"))
                try await page.browser.run(
                    """
                    window.changes = [];
                    const count = \(page.row(post)).querySelector(".comments");
                    const alert = document.querySelector("#alert");
                    new MutationObserver(records => {
                        for (const { target, addedNodes } of records) {
                            if (count.contains(target)) changes.push("count");
                            if (alert.contains(target) && addedNodes.length) changes.push("alert");
                        }
                    }).observe(document,
                        { subtree: true, childList: true, attributes: true, characterData: true });
                    """)
                try await page.server.stage([
                    "do": "reject", "id": "mia/1", "reason": "Comments are closed.",
                ])
                try await page.until(comment, is: "rejected")
                let ghost = try await page.shown(comment)
                #expect(ghost.birth == pending.birth)
                #expect(ghost.text == "Is this allowed?" && ghost.marks == ["rejected"])
                #expect(try await page.bool("\(page.row(comment)).hasAttribute('data-ghost')"))
                // The count is back no later than the words about it.
                let changes = try await page.strings("window.changes")
                #expect(changes.first == "count" && changes.contains("alert"), "\(changes)")
                #expect(try await page.shown(post).comments == before.comments)
                let alerts = try await page.announcements().filter { $0.region == "alert" }
                #expect(alerts.count == 1)
                #expect(alerts.allSatisfy { $0.text.contains("Comments are closed.") }, "\(alerts)")
                #expect(try await page.picture("B3-rejected") != picture)
                try await page.check()

                // From the ghost, Tab goes to its buttons.
                try await page.browser.run("\(page.row(comment)).focus()")
                var stops: [String] = []
                for _ in 0..<2 {
                    try await page.browser.press(.tab)
                    stops.append(try await page.focus())
                }
                #expect(stops == ["retry-1", "dismiss-1"])
                try await page.browser.run("document.querySelector('#retry-1').focus()")
                try await page.browser.press(.enter)
                try await page.until("!document.querySelector('#retry-1')")
                let again = try await page.row(saying: "Is this allowed?")
                #expect(try await page.shown(again).marks == ["pending"])
                #expect(try await page.bool("!\(page.row(again)).hasAttribute('data-ghost')"))
                #expect(try await page.focus() == again)
                try await page.check()

                try await page.server.stage([
                    "do": "reject", "id": "mia/2", "reason": "Comments are still closed.",
                ])
                try await page.until("document.querySelector('#dismiss-2')")
                let refused = try await page.row(saying: "Is this allowed?")
                let next = try await page.string(
                    "\(page.row(refused)).nextElementSibling.dataset.id")
                try await page.click("#dismiss-2")
                try await page.until("!document.querySelector('#dismiss-2')")
                #expect(try await page.focus() == next)
                #expect(try await page.rows(saying: "Is this allowed?") == [])
                #expect(try await page.shown(post) == before)
            }
        }

        @Test func `B3: a comment that is not recorded stays in its field`() async throws {
            try await BrowserTests.withFeed(ignoring: ["status of 400"]) { page, post in
                let field = "document.getElementById('comment-text-\(post)')"
                try await page.browser.run("\(field).value = 'long '.repeat(1_000)")
                try await page.click("[id='comment-\(post)']")
                try await page.until("\(page.row(post)).querySelector('.refused')")
                #expect(try await page.number("\(field).value.length") == 5_000)
                let said = try await page.announcements()
                #expect(said.map(\.region) == ["alert"] && said[0].text.contains("4096 bytes"))
                try await page.check()
                try await page.browser.run("\(field).value = 'short'")
                try await page.click("[id='comment-\(post)']")
                _ = try await page.row(saying: "short")
                #expect(try await page.string("\(field).value") == "")
                #expect(
                    try await page.value("\(page.row(post)).querySelector('.refused')") == .null)
            }
        }

        @Test func `B4: a rejected comment takes nothing else with it`() async throws {
            try await BrowserTests.withFeed(isHolding: true) { page, post in
                let before = try await page.shown(post)
                let likeCount = try #require(before.likes)
                try await page.click("[id='like-\(post)']")
                try await page.until(post, is: "pending")
                let first = try await page.comment("First", on: post)
                let second = try await page.comment("Second", on: post)
                let pending = try await page.shown(second)

                try await page.server.stage(["do": "reject", "id": "mia/2", "reason": "No."])
                try await page.until(first, is: "rejected")
                let liked = try await page.shown(post)
                #expect(liked.likes == likeCount + 1 && liked.liked == "true")
                #expect(liked.marks == ["pending"] && liked.birth == before.birth)
                #expect(try await page.shown(second) == pending)
                try await page.check()

                try await page.server.stage([
                    "do": "reword", "id": "mia/3", "text": "Second, with better words",
                ])
                try await page.until(second, is: "settled")
                let reworded = try await page.shown(second)
                #expect(reworded.text == "Second, with better words")
                #expect(reworded.birth == pending.birth && reworded.marks == [])
                try await page.server.stage(["do": "release", "id": "mia/1"])
                try await page.until(post, is: "settled")
                #expect(try await page.shown(post).likes == liked.likes)
            }
        }

        @Test func `a conflict stays where it was done, is told, and leads to the log`()
            async throws
        {
            try await BrowserTests.withFeed(isHolding: true, at: 1) { page, post in
                let comment = try await page.comment("Too late", on: post)
                let pending = try await page.shown(comment)
                try await page.server.stage(["do": "conflict", "replica": "mia"])
                try await page.until(comment, is: "conflicted")
                #expect(try await page.rows("gone") == [post])
                #expect(try await page.shown(comment).birth == pending.birth)
                let before = "\(page.row(comment)).previousElementSibling.dataset.id"
                #expect(try await page.string(before) == post)
                let said = try await page.announcements()
                #expect(said.map(\.region) == ["alert"])
                let told = said.first?.text ?? ""
                #expect(told.hasPrefix("Your comment does not fit any more: "), "\(said)")
                let counts = "[...document.querySelectorAll('#account .badge')]"
                #expect(
                    try await page.strings(
                        "\(counts).filter(node => node.checkVisibility({ visibilityProperty: true })).map(node => node.innerText)"
                    ) == ["1 conflicted"])
                try await page.picture("conflict")
                try await page.check()

                // The page of the log is another program's, and opens in a window of its own.
                let windows = try await page.browser.windows
                try await page.click("[data-mark='1'] .why")
                var opened: WebDriver.Window?
                while opened == nil {
                    opened = try await page.browser.windows.first { !windows.contains($0) }
                }
                try await page.browser.show(try #require(opened))
                for condition in [
                    "location.hash.includes('story=1')",
                    "document.body.innerText.includes('Too late')",
                    "document.body.innerText.includes('conflicted')",
                ] { try await page.browser.wait(until: condition) }
                try await page.browser.closeWindow()
            }
        }
    }
}
