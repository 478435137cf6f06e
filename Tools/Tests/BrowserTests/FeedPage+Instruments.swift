import BrowserDriver
import Foldback

/// What a test adds to a page, so that it can wait for things and see all of them.
extension FeedPage {
    /// Runs before the page's own scripts. Counts the requests whose answers the page has not read,
    /// in an attribute that a test can wait for. Keeps all requests and all streams of messages, and
    /// calls `heard` with each message before the page gets it.
    ///
    /// Records what the live regions say in `said`, and the numbers of rows after the messages in
    /// `rowCounts`. The records of all mutations are replayed, so `repeatedIDs` also has the ids that
    /// two rows had only between two mutations of one message.
    static let instruments = """
        window.requests = [];
        (send => {
            const add = number => {
                const { dataset } = document.documentElement;
                dataset.requests = Number(dataset.requests ?? 0) + number;
            };
            window.fetch = async (...request) => {
                const action = JSON.parse(request[1]?.body ?? "{}");
                requests.push(action);
                add(1);
                // What waits for the answer runs before a timer does.
                const end = () => setTimeout(() => {
                    if (action.do === "motion")
                        document.documentElement.dataset.motion = action.reduce;
                    add(-1);
                });
                try {
                    const answer = await send(...request);
                    const read = () => Response.prototype.json.call(answer).finally(end);
                    return Object.defineProperty(answer, "json", { value: read });
                } catch (error) {
                    end();
                    throw error;
                }
            };
        })(window.fetch);
        window.streams = [];
        window.EventSource = class extends EventSource {
            constructor(...address) {
                super(...address);
                streams.push(this);
                this.addEventListener("message", ({ data }) => window.heard?.(JSON.parse(data)));
            }
        };
        Object.assign(window, { said: [], repeatedIDs: [], rowCounts: [] });
        document.addEventListener("DOMContentLoaded", () => {
            for (const region of document.querySelectorAll("#polite, #alert"))
                new MutationObserver(records => {
                    for (const record of records) for (const node of record.addedNodes)
                        if (node.textContent) said.push({ region: region.id, text: node.textContent });
                }).observe(region, { subtree: true, childList: true, characterData: true });
            const feed = document.querySelector("#feed");
            const counts = new Map();
            const count = (node, change) => {
                const id = node.dataset?.id;
                if (id === undefined) return;
                counts.set(id, (counts.get(id) ?? 0) + change);
                if (counts.get(id) > 1) repeatedIDs.push(id);
            };
            for (const row of feed.children) count(row, 1);
            new MutationObserver(records => {
                for (const { removedNodes, addedNodes } of records) {
                    for (const node of removedNodes) count(node, -1);
                    for (const node of addedNodes) count(node, 1);
                }
                rowCounts.push(feed.children.length);
            }).observe(feed, { childList: true });
        });
        """

    // MARK: Settings of the system

    /// What the system of the page's reader prefers, and the width of the window. Below 600 pixels,
    /// it is a phone.
    struct Display: Hashable, Sendable {
        var isDark = false
        var isMotionReduced = false
        /// In pixels; nil for the browser's own size.
        var width: Int?
    }

    static func setDisplay(_ display: Display, of browser: WebDriver) async throws {
        let scheme: JSON = display.isDark ? "dark" : "light"
        let motion: JSON = display.isMotionReduced ? "reduce" : "no-preference"
        try await browser.devTools(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": scheme],
                    ["name": "prefers-reduced-motion", "value": motion],
                ]
            ])
        guard let width = display.width else {
            try await browser.devTools("Emulation.clearDeviceMetricsOverride")
            return
        }
        try await browser.devTools(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(Int64(width)), "height": 900, "deviceScaleFactor": 1,
                "mobile": .bool(width < 600),
            ])
    }

    /// Changes the settings, and returns when the server knows them.
    func display(_ display: Display) async throws {
        try await browser.show(window)
        try await Self.setDisplay(display, of: browser)
        try await until("document.documentElement.dataset.motion === '\(display.isMotionReduced)'")
    }

    /// Switches the system's setting for less motion, and returns when the server knows it.
    func reduceMotion(_ isReduced: Bool) async throws {
        try await display(Display(isMotionReduced: isReduced))
    }

    // MARK: Records

    /// Begins to record the indicators of a wait, at each mutation: `none`, or what it shows with its
    /// value. The window keeps the record in `indicators`, without repetitions.
    func watchIndicators(of wait: String) async throws {
        try await browser.show(window)
        try await browser.run(
            """
            window.indicators = [];
            const note = () => {
                const node = document.querySelector("[data-wait='\(wait)'] [role=progressbar]");
                const value = node?.getAttribute("aria-valuenow") ?? "indeterminate";
                const words = node ? node.dataset.shows + " " + value : "none";
                if (indicators.at(-1) !== words) indicators.push(words);
            };
            note();
            new MutationObserver(note).observe(document.body, {
                subtree: true, childList: true, attributes: true, characterData: true,
            });
            """)
    }
}
