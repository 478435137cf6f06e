/// What the models of rejections need of a log, beside its published states.
extension Store {
    /// Returns a rejected intent as it was recorded, and its rejection.
    ///
    /// May block on the disk for short reads.
    ///
    /// - Parameter sequence: the entry that rejected the intent, as a published state has it.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func rejectedIntent(
        _ number: IntentNumber, at sequence: LogSequence
    ) throws(LogError) -> (recorded: RecordedIntent, rejection: Rejection) {
        let rejection = try core.rejection(of: number, at: sequence)
        return (try core.recorded(number), rejection)
    }

    /// The place of a projection in the views or in the rows of a published state. Traps if the
    /// store was opened without it.
    package func index(of projection: any EventFold.Type) -> Int {
        core.projections.place(of: projection, at: core.storage.path)
    }
}
