import FoldbackUI
import TestSupport
import Testing

/// Born from examples that did not compile: each block of code in an article is code of this
/// target.
@Suite struct ArticleTests {
    @Test(arguments: [("Accessibility", 1), ("BuildAScreen", 23), ("FoldbackUI", 3)])
    func `an article shows code of this target`(article: String, countMin: Int) throws {
        let code = try ArticleCode(of: "Sources/FoldbackUI/FoldbackUI.docc/\(article).md")
        #expect(code.blocks.count >= countMin)
        #expect(try code.missing(in: "Tests/FoldbackUITests") == [])
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
