import BrowserDriver
import Foldback
import Testing

/// What each test requires of each page, whatever else it tests.
extension FeedPage {
    /// Checks ids, the console, names of controls, and the rules of axe-core. The end of each test
    /// checks the last state of its pages.
    func check(rules: Bool = true, at place: SourceLocation = #_sourceLocation) async throws {
        let faults = try await faults(rules: rules)
        #expect(faults == [], "\(replica)", sourceLocation: place)
    }

    /// Returns what is wrong with the page, in words.
    func faults(rules: Bool = true) async throws -> [String] {
        let faults = try await repeatedIDs() + consoleErrors() + namelessControls()
        return try await rules ? faults + axeViolations() : faults
    }

    /// Returns the ids that two elements have, and those that two rows have or had.
    private func repeatedIDs() async throws -> [String] {
        try await strings(
            """
            (ids => ids.filter((id, place) => ids.indexOf(id) !== place))(
                [...document.querySelectorAll("[id]")].map(node => "twice: #" + node.id).concat(
                    [...document.querySelectorAll("[data-id]")].map(
                        node => "twice: row " + node.dataset.id)))
                .concat(window.repeatedIDs.map(id => "twice before: row " + id))
            """)
    }

    private func consoleErrors() async throws -> [String] {
        try await browser.show(window)
        return try await browser.console().filter { line in
            let isNoise = line.source == "network" && noise.contains { line.text.contains($0) }
            return line.level == "SEVERE" && !isNoise
        }.map { "console: \($0.text)" }
    }

    /// Returns the controls without a name in the accessibility tree, and the rows without one that
    /// take the focus.
    private func namelessControls() async throws -> [String] {
        let controls: Set = [
            "button", "link", "textbox", "searchbox", "checkbox", "radio", "switch", "combobox",
            "slider", "spinbutton", "progressbar", "dialog", "article", "feed",
            "DisclosureTriangle",
        ]
        let nodes = try await accessibilityTree()
        if nodes.allSatisfy({ !controls.contains($0.role) }) { return ["a page without controls"] }
        return nodes.filter { controls.contains($0.role) && $0.name.isEmpty }
            .map { "a \($0.role) without a name" }
    }

    /// A node that assistive technology sees.
    struct AccessibleNode: Hashable, Sendable {
        let role: String
        let name: String
    }

    func accessibilityTree() async throws -> [AccessibleNode] {
        try await browser.show(window)
        let tree = try await browser.devTools("Accessibility.getFullAXTree")
        return tree["nodes"]?.arrayValue?.filter { $0["ignored"]?.boolValue != true }.map { node in
            AccessibleNode(
                role: node["role"]?["value"]?.stringValue ?? "",
                name: node["name"]?["value"]?.stringValue ?? "")
        } ?? []
    }

    private func axeViolations() async throws -> [String] {
        try await freeze()
        let violations = try await Axe.violations(in: browser, Self.pictures)
        try await unfreeze()
        return violations
    }
}
