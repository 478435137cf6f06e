import Foldback
import Foundation

extension Timestamp {
    /// The moment in UTC, to the millisecond.
    var text: String {
        let date = Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1_000)
        return date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .dash, dateTimeSeparator: .space, timeSeparator: .colon,
                includingFractionalSeconds: true, timeZone: .gmt))
    }
}
