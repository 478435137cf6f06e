/// The place of a row in a list: the index of its section, and its index in the section.
///
/// Places are ordered from the top of the list to its end. UIKit's index paths have the same two
/// numbers.
public struct RowPlace: Hashable, Comparable, Sendable {
    /// From 0 up.
    public let section: Int
    /// From 0 up, within the section.
    public let row: Int

    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    public static func < (first: RowPlace, second: RowPlace) -> Bool {
        (first.section, first.row) < (second.section, second.row)
    }
}
