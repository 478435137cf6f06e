import Foldback
import FoldbackHistory
import Testing

@testable import FoldbackTesting

/// Two states with equal lines would hide a difference; equal states with other lines would report one.
@Suite struct StateTextTests {
    struct Post {
        var likes: Set<String>
        var text: String?
        var counts: [String: Int]
    }

    @Test func `equal values have equal lines in any order of insertion`() {
        let names = (0..<40).map { "name \($0)" }
        let one = Post(
            likes: Set(names), text: "a\tb\n",
            counts: .init(uniqueKeysWithValues: names.map { ($0, 1) }))
        let other = Post(
            likes: Set(names.reversed()), text: "a\tb\n",
            counts: .init(uniqueKeysWithValues: names.reversed().map { ($0, 1) }))
        #expect(StateText(one) == StateText(other))
        #expect(StateText(parsing: StateText(one).text) == StateText(one))
    }

    @Test func `differences are lines by path`() {
        let old = Post(likes: ["b", "a"], text: nil, counts: ["x": 1, "y": 2])
        let new = Post(likes: ["a"], text: "hi", counts: ["x": 1, "y": 3, "z": 0])
        #expect(
            StateText.differences(from: StateText(old), to: StateText(new)) == [
                #"- counts["y"]: 2"#, #"+ counts["y"]: 3"#, #"+ counts["z"]: 0"#,
                #"- likes: {"a", "b"}"#, #"+ likes: {"a"}"#, "- text: nil", #"+ text: "hi""#,
            ])
    }

    private enum Wordy: CustomStringConvertible {
        case one
        var description: String { "one\n\ttwo" }
    }

    @Test func `an enum whose description has several lines has one line`() {
        let text = StateText([Wordy.one])
        #expect(text.lines.count == 1)
        #expect(StateText(parsing: text.text) == text)
    }
}
