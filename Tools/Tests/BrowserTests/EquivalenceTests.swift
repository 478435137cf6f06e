import BrowserDriver
import Foldback
import Foundation
import Testing

extension BrowserTests {
    /// Long lists and long histories.
    @Suite struct EquivalenceTests {
        @Test func `B14: a window over 10,000 rows moves both ways`() async throws {
            try await BrowserTests.withPage(query: "&scene=archive&auto=off") { page in
                try await page.loaded()
                // The rules of axe-core take 10 s over 500 rows.
                try await page.check()
                try await page.browser.run(
                    """
                    window.counts = [];
                    window.repeatedIDs = [];
                    window.wasBusy = 0;
                    const feed = document.querySelector("#feed");
                    new MutationObserver(() => {
                        const ids = [...feed.children].map(row => row.dataset.id);
                        counts.push(ids.length);
                        if (new Set(ids).size < ids.length) repeatedIDs.push(ids.length);
                    }).observe(feed, { childList: true });
                    new MutationObserver(() => wasBusy += feed.ariaBusy === "true" ? 1 : 0)
                        .observe(feed, { attributeFilter: ["aria-busy"] });
                    """)
                let first = try #require(try await page.rows("post").first)
                var pressed = 0
                for (edge, count) in [("end", 14), ("start", 14)] {
                    for _ in 0..<count {
                        guard
                            try await page.bool("!document.querySelector('#extend-\(edge)').hidden")
                        else { break }
                        let outer = edge == "end" ? "lastElementChild" : "firstElementChild"
                        let before = try await page.string(
                            "document.querySelector('#feed').\(outer).dataset.id")
                        pressed += 1
                        try await page.click("#extend-\(edge)")
                        try await page.until(
                            """
                            (feed => feed.ariaBusy === "false"
                                && feed.\(outer).dataset.id !== "\(before)")(
                                document.querySelector("#feed"))
                            """)
                        try await page.settle()
                    }
                    #expect(try await page.rows("post").contains(first) == (edge == "start"))
                }
                #expect(pressed > 14)
                #expect(try await page.number("Math.max(...window.counts)") <= 500)
                #expect(try await page.strings("window.repeatedIDs") == [])
                #expect(try await page.number("window.wasBusy") >= Int64(pressed))
                let state = try await page.server.state(of: "mia", "?scene=archive")
                let rows = state["rows"]?.arrayValue?.compactMap { $0["id"]?.stringValue }
                #expect(try await page.rows("post") == rows)
                try await page.checkWithoutRules()
            }
        }

        /// Property: after each four of 2,000 random actions, which are sent at once, the page shows
        /// exactly what the server says.
        @Test func `B14: the page equals the server's state at each revision`() async throws {
            var random = RandomNumbers.printed(for: "B14")
            var revisionCount = 0
            // Each of the servers gets 500 actions. With more rows, all of this takes longer.
            for _ in 0..<4 {
                let batches = (0..<10).map { _ in Comparison.actions(50, &random) }
                try await BrowserTests.withPage(ignoring: ["status of 409"]) { page in
                    try await page.loaded()
                    try await page.server.hold()
                    revisionCount += try await Comparison.run(batches, in: page)
                }
            }
            print("B14: the page was compared at \(revisionCount) revisions")
            #expect(revisionCount >= 400)
        }
    }
}

/// Random actions, and the comparison of the page with the server's state.
private enum Comparison {
    /// The names of the actions, the frequent ones several times.
    private static let names = [
        "like", "like", "like", "unlike", "comment", "comment", "post", "delete", "follow",
        "unfollow", "retry", "dismiss", "withdraw", "accept", "accept", "accept", "accept",
        "reject", "reword", "friend", "advance",
    ]

    /// Returns random actions. Each is a name and a number that selects what the action is about.
    static func actions(_ count: Int, _ random: inout RandomNumbers) -> JSON {
        .array(
            (0..<count).map { _ in
                let name = names.randomElement(using: &random) ?? "like"
                return [.string(name), .integer(Int64.random(in: 0..<1_000, using: &random))]
            })
    }

    /// Does the actions, and compares the page with the server.
    ///
    /// - Returns: the number of compared revisions.
    static func run(_ batches: [JSON], in page: FeedPage) async throws -> Int {
        try await page.browser.run(script)
        var revisionCount = 0
        for actions in batches {
            let result = try await page.browser.wait(
                "compare(arguments[0]).then(done, error => done({ error: String(error) }))",
                actions)
            try #require(result["error"] == nil, "\(result)")
            revisionCount += Int(result["revisions"]?.integerValue ?? 0)
            #expect(try await page.repeatedIDs() == [])
        }
        // The server refuses actions on what was deleted at the same moment.
        try await page.checkWithoutRules()
        return revisionCount
    }

    /// Defines `compare(actions)`, which runs in the page and not here because it asks thousands of
    /// times.
    private static let script = """
        const body = document.body;
        const send = (path, request) => fetch(path, {
            method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify(request),
        }).then(answer => answer.json());
        const state = () => fetch("/r/mia/state").then(answer => answer.json());
        const pick = (list, number) => list[number % list.length];

        // Returns what to send; undefined if the action fits nothing.
        function request(name, number, { rows, stage, people }) {
            const posts = rows.filter(row => row.kind === "post" && !row.ghost);
            const marks = rows.flatMap(row => row.marks).concat(
                Object.values(people).flatMap(person => person.marks));
            const post = pick(name === "delete" ? posts.filter(row => row.mine) : posts, number)?.post;
            const held = pick(stage.held, number)?.id;
            const mark = pick(marks.filter(mark => mark.actions.includes(name)), number)?.number;
            const person = pick(Object.keys(people), number);
            const text = `${name} ${number}`;
            const device = request => ["/r/mia/do", request];
            switch (name) {
                case "like": case "unlike": case "delete":
                    return post && device({ do: name, post });
                case "comment": return post && device({ do: name, post, text });
                case "post": return device({ do: name, text });
                case "follow": case "unfollow":
                    return person && device({ do: name, name: person });
                case "retry": case "dismiss": case "withdraw":
                    return mark && device({ do: name, number: mark });
                case "accept": return held && ["/stage", { do: "release", id: held }];
                case "reject": return held && ["/stage", { do: name, id: held, reason: text }];
                case "reword": {
                    const writing = pick(stage.held.filter(
                        held => ["post", "comment"].includes(held.what)), number)?.id;
                    return writing && ["/stage", { do: name, id: writing, text }];
                }
                case "friend":
                    return post && ["/r/ben/do", number % 3 === 0 ? { do: "post", text }
                        : { do: "comment", post, text }];
                case "advance": return ["/stage", { do: name, seconds: 0.05 }];
            }
        }

        // Returns a promise for the next message.
        const message = () => new Promise(resolve => {
            const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
            observer.observe(body, { attributeFilter: ["data-revision"] });
        });
        const numberOf = revision => Number(revision.split("-")[1]);

        // Returns the state of the revision that the page shows.
        async function shownState() {
            for (;;) {
                const latest = await state();
                while (numberOf(body.dataset.revision) < numberOf(latest.revision)) await message();
                if (body.dataset.revision === latest.revision) return latest;
            }
        }

        const expected = ({ rows }) => rows.map(row => ({
            id: row.id, kind: row.kind, state: row.state, text: row.text,
            likes: row.kind === "post" ? String(row.likes) : undefined,
            liked: row.kind === "post" ? String(row.liked) : undefined,
            comments: row.kind === "post" ? row.comments : undefined,
            marks: row.marks.map(mark => mark.number + " " + mark.state + " " + mark.actions),
        }));
        const shown = () => [...document.querySelectorAll("#feed article")].map(row => ({
            id: row.dataset.id, kind: row.dataset.kind, state: row.dataset.state,
            text: row.querySelector(".text")?.textContent,
            likes: row.querySelector(".likes")?.textContent,
            liked: row.querySelector(".like")?.ariaPressed,
            comments: row.dataset.kind === "post"
                ? parseInt(row.querySelector(".comments").textContent || "0") : undefined,
            marks: [...row.querySelectorAll("[data-mark]")].map(mark => mark.dataset.mark + " "
                + mark.dataset.state + " " + [...mark.querySelectorAll("[data-do]")].map(
                    button => button.dataset.do)),
        }));

        const differenceFrom = state => {
            const [right, own] = [expected(state), shown()].map(rows => rows.map(
                row => JSON.stringify(row)));
            const place = right.findIndex((row, place) => row !== own[place]);
            return place >= 0 || right.length !== own.length ? `at ${state.revision}, row ${place} `
                + `of ${right.length}: ${own[place]} instead of ${right[place]}` : undefined;
        };

        // A connection of the browser's six is for messages.
        const atOnceMax = 4;

        window.compare = async actions => {
            let revisions = 0;
            let last = await shownState();
            while (actions.length > 0) {
                const group = actions.splice(0, atOnceMax);
                const wanted = group.map(([name, number]) => request(name, number, last));
                await Promise.all(wanted.filter(Boolean).map(request => send(...request)));
                const before = last.revision;
                last = await shownState();
                revisions += last.revision !== before ? 1 : 0;
                const difference = differenceFrom(last);
                if (difference) return { error: `after ${JSON.stringify(group)}, ${difference}` };
            }
            return { revisions };
        };
        """
}
