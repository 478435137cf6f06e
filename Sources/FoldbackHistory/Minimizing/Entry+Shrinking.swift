import Foldback

/// Changes that make an entry smaller without removing it.
extension Entry {
    /// Copies of the entry that lack one term each, for every term that can change the fold,
    /// or that a later command reads.
    ///
    /// Times, `info` and the words of a rejection stay in every copy. They do not change the fold,
    /// and they help people to read the entry.
    var simpler: [Entry] {
        switch self {
        case .intent(let intent):
            var simpler: [RecordedIntent] = []
            if intent.retries != nil { simpler.append(intent.replacing(retries: nil)) }
            if intent.once != nil { simpler.append(intent.replacing(once: nil)) }
            if intent.isConfirmOnly { simpler.append(intent.replacing(isConfirmOnly: false)) }
            simpler += intent.terms.simpler.map { intent.replacing(terms: $0) }
            return simpler.map(Entry.intent)
        case .acknowledged(let answer):
            var simpler: [Acknowledged] = []
            if answer.replacement != nil { simpler.append(answer.replacing(replacement: nil)) }
            if answer.position != nil { simpler.append(answer.replacing(position: nil)) }
            return simpler.map(Entry.acknowledged)
        case .confirmed(let batch):
            guard let highest = batch.events.map(\.position).max(), highest < batch.through else {
                return []
            }
            return [.confirmed(batch.replacing(through: highest))]
        case .changed: return []
        }
    }
}
