/// The reason why a list could not be built.
@nonexhaustive
public enum ListError: Error, Hashable, Sendable {
    /// Two rows have the same id (U19). The text is the id's description.
    case duplicateItem(String, first: RowPlace, second: RowPlace)
    /// Two sections have the same id (U19). The text is the id's description, and the numbers are
    /// the indexes of the sections.
    case duplicateSection(String, first: Int, second: Int)
    /// A difference was applied to a snapshot that it was not made from. The place is the first
    /// place found where the two do not fit, with row 0 for a section as a whole.
    case doesNotFit(RowPlace)
}
