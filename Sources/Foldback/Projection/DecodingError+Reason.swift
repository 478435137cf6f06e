extension DecodingError {
    /// Returns the error in one sentence that names the place and what is there: "at /liked/how: no
    /// case "celebrated" is known".
    ///
    /// The description of `DecodingError` does not name an unknown case, and is several lines long.
    /// It is kept in each fault.
    ///
    /// - Parameter bytes: the JSON that was decoded. Other bytes are not looked at.
    func reason(in bytes: [UInt8]) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        let place = JSONPointer(path.map { ExactString($0) })
        let value = (try? JSON(parsing: bytes))?[at: place]
        let sentence = sentence(about: value)
        return path.isEmpty ? sentence : "at \(place): \(sentence)"
    }

    private var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    private func sentence(about value: JSON?) -> String {
        switch self {
        case .keyNotFound(let key, _): return "the member \"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context):
            // A synthesized enum says that it found no key, and not which key there was.
            guard context.debugDescription.hasPrefix("Invalid number of keys"),
                case .object(let object) = value, object.members.count == 1
            else { return Self.plain(context) }
            return "no case \"\(object.members[0].name.string.prefix(100))\" is known"
        default: return Self.plain(context)
        }
    }

    private static func plain(_ context: Context) -> String {
        let text = context.debugDescription
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
