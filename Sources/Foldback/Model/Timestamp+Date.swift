#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Timestamp {
    /// The moment as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1_000) }

    /// Creates the moment of a date, rounded to a millisecond. A date that no timestamp can hold
    /// becomes the nearest timestamp.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        let nearest = milliseconds < 0 ? Int64.min : .max
        self.init(millisecondsSince1970: Int64(exactly: milliseconds) ?? nearest)
    }
}
