import Foldback

/// What a compacted log no longer has, for checks that compare it with a log that has all entries.
extension Store {
    /// Whether a command answers an intent that was taken back before it was sent, and whose entry is
    /// gone. No server has such an intent, so no answer to it comes (C4).
    package func isAnswerToRemoved(_ command: LogCommand<P.Event>) throws(LogError) -> Bool {
        let named: [IntentNumber] =
            switch command {
            case .acknowledge(let number, _, _): [number]
            case .confirm(let events, _): events.compactMap { $0.origin?.number }
            default: []
            }
        for number in named {
            do throws(LogError) { _ = try intent(number) } catch {
                switch error {
                case .compactedIntent(_, .withdrawn): return true
                case .compactedIntent, .unknownIntent: continue
                default: throw error
                }
            }
        }
        return false
    }

    /// Whether a command may need an entry that a compaction removes: it names an intent that was
    /// confirmed or withdrawn, or undoes or redoes an action, which may have several intents (C4).
    ///
    /// The store is of a log that has all entries.
    package func mayNeedRemoved(_ command: LogCommand<P.Event>) throws(LogError) -> Bool {
        let number: IntentNumber
        switch command {
        case .record, .together, .confirm: return false
        case .change(_, .undo, _), .change(_, .redo, _): return true
        case .change(let named, _, _), .retry(let named, _, _), .acknowledge(let named, _, _),
            .reject(let named, _), .attempt(let named):
            number = named
        }
        switch try intent(number).state {
        case .confirmed, .withdrawn: return true
        case .pending, .accepted, .rejected: return false
        }
    }
}

extension CommandResult {
    /// The refusal of a command that needs an entry which a compaction has removed.
    package static let removed = CommandResult.refused("compactedIntent")
}
