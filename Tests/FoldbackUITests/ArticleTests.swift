import FoldbackUI
import Foundation
import Testing

/// Born from examples that did not compile: each block of code in an article is code of this
/// target.
@Suite struct ArticleTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let articles = tests.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/FoldbackUI/FoldbackUI.docc")

    /// Returns a file's lines without indentation.
    private static func text(_ file: URL) throws -> String {
        try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test(arguments: [("Accessibility", 1), ("BuildAScreen", 20), ("FoldbackUI", 3)])
    func `an article shows code of this target`(article: String, countMin: Int) throws {
        let code = try FileManager.default
            .contentsOfDirectory(at: Self.tests, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }.map(Self.text).joined(separator: "\n")
        let blocks = try Self.text(Self.articles.appending(path: "\(article).md"))
            .components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count >= countMin)
        for block in blocks { #expect(code.contains(block), "not in a test") }
    }

    @Test func `a slow upload is announced, and the focus stays`() {
        var upload = ProgressState(
            Wait("uploading the photo", style: .bar), policy: ProgressPolicy(), at: .zero)
        let cues =
            upload.advance(to: Moment(sinceStart: .seconds(4)))
            + upload.handle(.succeeded, at: Moment(sinceStart: .seconds(5)))
        let heard = cues.map { cue in
            guard case .announce(let text, .polite) = cue else { return "\(cue)" }
            return ProgressTexts.english.words(for: text)
        }
        #expect(
            heard == [
                "Uploading the photo", "Still uploading the photo", "Finished uploading the photo",
            ])
    }
}
