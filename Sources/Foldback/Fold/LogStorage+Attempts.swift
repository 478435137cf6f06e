/// Reads of table `attempts`.
extension LogStorage {
    /// Returns all rows of the table, also rows of intents that are not pending.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the intent; `.closed`, `.storage`.
    /// - Complexity: O(n) in rows. There are at most as many as pending intents, except after a
    ///   write by an older Foldback.
    package func attempts() throws(FoldbackError) -> Attempts {
        var attempts = Attempts()
        try scanAttempts { number, bytes throws(FoldbackError) in
            do throws(FormatError) {
                attempts[number] = try Attempt(decoding: bytes, for: number)
            } catch {
                throw FoldbackError(
                    error, at: "\(path), table attempts, intent \(number)", sequence: nil)
            }
        }
        return attempts
    }

    /// Returns the attempts of pending intents. An older Foldback does not remove an intent's row
    /// when it records an answer, so this call ignores such rows.
    package func attempts(of overlay: Overlay) throws(FoldbackError) -> Attempts {
        var attempts = try attempts()
        for number in attempts.keys where overlay[number]?.state != .pending {
            attempts[number] = nil
        }
        return attempts
    }
}
