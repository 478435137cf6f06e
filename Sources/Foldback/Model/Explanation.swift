/// The words of an error for people: what happened, and what to do about it.
package struct Explanation: Sendable {
    private let problem: String
    private let advice: String?
    private let code: String

    /// - Parameters:
    ///   - problem: what happened, to what. In lower case, without a period.
    ///   - advice: what to do; nil if nothing helps in general.
    ///   - code: what the app's code can do, in words of the API. It is in `line` only.
    package init(_ problem: String, _ advice: String? = nil, code: String = "") {
        self.problem = problem
        self.advice = advice
        self.code = code
    }

    /// Both on one line, for logs and terminals.
    package var line: String { advice.map { "\(problem); \($0)\(code)" } ?? problem }

    /// The problem as a sentence, for a screen.
    package var sentence: String { problem.asSentence }

    /// The advice as a sentence.
    package var suggestion: String? { advice?.asSentence }
}

extension Explanation {
    /// The words for data that is larger than a log accepts.
    static func tooLarge(_ what: String, _ bytes: Int, _ bytesMax: Int) -> Explanation {
        Explanation(
            "\(what) has \(bytes) bytes, and a log accepts at most \(bytesMax)",
            "make it smaller")
    }
}

extension String {
    /// The text with a capital letter at its start and a period at its end.
    package var asSentence: String {
        let end = last.map { ".!?".contains($0) } ?? true ? "" : "."
        return prefix(1).uppercased() + dropFirst() + end
    }
}
