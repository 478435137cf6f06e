import Foundation

/// axe-core, the rules of Deque Systems for accessible pages. `Tools/test --all` downloads it.
package enum Axe {
    /// axe-core is not where `Tools/test --all` puts it.
    struct Missing: Error, CustomStringConvertible {
        let directory: URL

        var description: String {
            "\(directory.path) does not contain axe.min.js. Run Tools/test --all, or copy the file "
                + "from the PyPI package axe-playwright-python there"
        }
    }

    /// Returns the violations that axe-core finds in the page that the window shows, in words.
    ///
    /// - Parameter pictures: the folder `.build/browser`, which has axe-core too.
    package static func violations(
        in browser: WebDriver, _ pictures: URL
    ) async throws -> [String] {
        if try await browser.run("return typeof window.axe === 'object'") != true {
            try await browser.run(source(in: pictures.appending(path: "axe")))
        }
        let violations = try await browser.wait(
            """
            const nodes = rule => rule.nodes.slice(0, 3).map(node => node.html.slice(0, 200));
            axe.run(document, { resultTypes: ["violations"] }).then(
                results => done(results.violations.map(
                    rule => rule.id + ": " + rule.help + ": " + nodes(rule).join(" "))),
                error => done(["axe failed: " + error]));
            """)
        return violations.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private static func source(in directory: URL) throws -> String {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.lastPathComponent == "axe.min.js" {
                return try String(contentsOf: file, encoding: .utf8)
            }
        }
        throw Missing(directory: directory)
    }
}
