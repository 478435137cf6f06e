/// One edit of a list, for a list that accepts one edit at a time.
///
/// ```swift
/// for step in difference.steps {
///     switch step {
///     case .moveRow(_, let from, let to):
///         let row = sections[from.section].rows.remove(at: from.row)
///         sections[to.section].rows.insert(row, at: to.row)
/// ```
/// Each place is a place at the time of the step, after all steps before it. The target of a move is
/// a place after the row or section was removed from its source. The ids are for lists that find
/// their rows by id, such as a web page.
public enum ListStep<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
>: Sendable, Equatable where Item.ID: Sendable {
    public typealias RowID = ListSnapshot<SectionID, Item>.RowID
    public typealias Row = ListSnapshot<SectionID, Item>.Row

    /// Inserts a section without rows.
    case insertSection(SectionID, at: Int)
    /// Moves a section with its rows.
    case moveSection(SectionID, from: Int, to: Int)
    /// Deletes a section that has no rows.
    case deleteSection(SectionID, at: Int)
    case insertRow(Row, at: RowPlace)
    case moveRow(RowID, from: RowPlace, to: RowPlace)
    case deleteRow(RowID, at: RowPlace)
    /// Draws a row again.
    case changeRow(Row, at: RowPlace, ListChangeKinds)
}
