/// The reason why a list could not be built.
@nonexhaustive
public enum ListError: Error, Hashable, Sendable {
    /// Two rows have the same id (U19). The text is the id's description.
    case duplicateItem(String, first: RowPlace, second: RowPlace)
    /// Two sections have the same id (U19). The text is the id's description, and the numbers are
    /// the indexes of the sections.
    case duplicateSection(String, first: Int, second: Int)
    /// The rows function of a ``ListModel`` has added no section, and there is a ghost (U32) or a
    /// placeholder (U23) to show. The text names it, such as "the ghost me.1.0" or "placeholders at
    /// the end".
    case missingSection(for: String)
    /// A difference was applied to a snapshot that it was not made from. The place is the first
    /// place found where the two do not fit, with row 0 for a section as a whole.
    case doesNotFit(RowPlace)

    /// The error in words.
    public var description: String {
        switch self {
        case .duplicateItem(let id, let first, let second):
            "\(id) is in the list twice, at \(first.words) and at \(second.words);"
                + " give each row an id of its own"
        case .duplicateSection(let id, let first, let second):
            "section \(id) is in the list twice, at \(first) and at \(second);"
                + " give each section an id of its own"
        case .missingSection(let subject):
            "the list has no section for \(subject); begin a section, also for an empty list"
        case .doesNotFit(let place):
            "the difference does not fit the list at \(place.words);"
                + " apply it to the list that it was made from"
        }
    }
}

extension RowPlace {
    fileprivate var words: String { "row \(row) of section \(section)" }
}
