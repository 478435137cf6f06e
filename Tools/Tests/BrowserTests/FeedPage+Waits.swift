import BrowserDriver
import Foldback
import Testing

/// What a person sees of a wait.
struct ShownWait: Decodable, Hashable, Sendable {
    var isBusy = false
    /// `spinner`, `bar` or `text`; nil if nothing is drawn.
    var indicator: String?
    var text = ""
    var actions: [String] = []
}

extension FeedPage {
    /// Returns what the page shows of a wait: of none, an empty value.
    func wait(_ name: String) async throws -> ShownWait {
        let shown: ShownWait? = try await decoded(
            """
            ((wait, control) => wait && {
                isBusy: control.ariaBusy === "true",
                indicator: wait.querySelector("[role=progressbar]")?.dataset.shows ?? null,
                text: [...wait.querySelectorAll("[role=progressbar], .wait-text")]
                    .map(node => node.textContent).join(""),
                actions: [...wait.querySelectorAll("button")].map(node => node.dataset.action),
            })(document.querySelector("[data-wait='\(name)']"),
                document.getElementById(
                    document.querySelector("[data-slot='\(name)']").dataset.control))
            """)
        return shown ?? ShownWait()
    }

    /// Presses a button, and returns when the server has begun and holds the request.
    func begin(_ control: String, holding id: String) async throws {
        try await click(control)
        try await until("document.querySelector('#stage-accept-\(id)')")
    }

    /// Lets the upload reach a fraction.
    func fraction(_ fraction: Double) async throws {
        try await server.stage(["do": "fraction", "wait": "upload", "value": .double(fraction)])
        try await settle()
    }
}

extension BrowserTests {
    /// Runs a test whose upload has just begun.
    static func withUpload(_ test: (FeedPage) async throws -> Void) async throws {
        try await withFeed(isHolding: true) { page, _ in
            try await page.browser.type("A picture", into: "#post-text")
            try await page.begin("#upload-send", holding: "mia-upload")
            try await test(page)
        }
    }
}
