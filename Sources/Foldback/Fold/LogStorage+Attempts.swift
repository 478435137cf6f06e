/// What table `attempts` has.
extension LogStorage {
    /// All of them, as they stand.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the intent; `.closed`, `.storage`.
    /// - Complexity: O(n) in rows, of which there are at most as many as pending intents.
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

    /// Those of pending intents: an older Foldback that answers an intent leaves its row behind, which
    /// says nothing any more.
    package func attempts(of overlay: Overlay) throws(FoldbackError) -> Attempts {
        var attempts = try attempts()
        for number in attempts.keys where overlay[number]?.state != .pending {
            attempts[number] = nil
        }
        return attempts
    }
}
