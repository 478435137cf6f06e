extension DecodingError {
    /// Returns the error in one sentence that names the place and what is there: "at /liked/how: no
    /// case "celebrated" is known".
    ///
    /// The description of `DecodingError` does not name an unknown case, and is long.
    /// Each fault keeps the reason, so it has at most 300 characters, and an ellipsis for the rest.
    ///
    /// - Parameter bytes: the bytes that were decoded. They are parsed only to name a case.
    func reason(in bytes: [UInt8]) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        let place = JSONPointer(path.map { ExactString($0) })
        let sentence = unknownCase(in: bytes, at: place) ?? sentence
        let reason = path.isEmpty ? sentence : "at \(place): \(sentence)"
        return reason.count > 300 ? reason.prefix(299) + "\u{2026}" : reason
    }

    private var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    private var sentence: String {
        if case .keyNotFound(let key, _) = self {
            return "the member \"\(key.stringValue)\" is missing"
        }
        let text = context.debugDescription
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Names the case that a synthesized enum does not know. Its error says that it found no key,
    /// and not which key there was.
    private func unknownCase(in bytes: [UInt8], at place: JSONPointer) -> String? {
        guard case .typeMismatch(_, let context) = self,
            context.debugDescription.hasPrefix("Invalid number of keys"),
            case .object(let object)? = (try? JSON(parsing: bytes))?[at: place],
            object.members.count == 1
        else { return nil }
        return "no case \"\(object.members[0].name)\" is known"
    }
}
