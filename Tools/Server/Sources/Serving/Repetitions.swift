import Synchronization

/// Which lines of the log were written a moment ago.
///
/// While a disk is full, or a database is away, every request fails in the same way, and one line for each
/// would hide everything else.
final class Repetitions: Sendable {
    private struct Line {
        var written: ContinuousClock.Instant
        var leftOut = 0
    }

    private static let pause: Duration = .seconds(10)
    private static let linesMax = 256
    private let lines = Mutex<[String: Line]>([:])

    /// Returns how often the line was left out since it was written; nil if it is left out now too.
    func note(_ text: String, at now: ContinuousClock.Instant) -> Int? {
        lines.withLock { lines in
            if let line = lines[text], line.written.duration(to: now) < Self.pause {
                lines[text]?.leftOut += 1
                return nil
            }
            let leftOut = lines[text]?.leftOut ?? 0
            if lines.count >= Self.linesMax { lines = [:] }
            lines[text] = Line(written: now)
            return leftOut
        }
    }
}
