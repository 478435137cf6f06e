/// How the writer carries out one request of the transaction in preparation.
extension LogWriter {
    /// Carries out the work of a request.
    func carryOut(
        _ work: Request.Work, in working: inout WorkingLog
    ) -> Result<RequestResult, CommandError> {
        do throws(CommandError) {
            switch work {
            case .sync: return .success(.done)
            case .recordAttempts(let attempts, _):
                return .success(.attempted(working.recordAttempts(attempts)))
            case .writeCheckpointRow(let row):
                working.writeCheckpointRow(row)
                return .success(.done)
            case .removeCheckpointRows(let keys):
                working.removeCheckpointRows(keys)
                return .success(.done)
            case .command(let command, let isForced):
                return .success(try carryOut(command, isForced: isForced, in: &working))
            case .recordRejected(let proposal, let rejection):
                return .success(try record(proposal, rejectedBy: rejection, in: &working))
            case .answer(let command, let lineage, let digest):
                return outcome(of: command, from: lineage, at: digest, in: &working)
            case .answers(let commands, let lineage):
                return .success(
                    .answers(commands.map { outcome(of: $0, from: lineage, in: &working) }))
            case .noteLineage(let lineage):
                try working.requireSame(lineage)
                working.noteLineage(lineage)
                return .success(.done)
            case .noteLostData(let lostData):
                working.noteLostData(lostData)
                // With the same events, what differs is not visible to this log.
                if lostData == nil { working.forgetDigest() }  // mutant: kept-digest
                return .success(.done)
            case .noteSeenFaults(let seen):
                working.noteSeenFaults(seen)
                return .success(.done)
            case .noteContinued(let continued):
                working.noteContinued(continued)
                return .success(.done)
            }
        } catch {
            working.noteRefusal(error)
            return .failure(error)
        }
    }

    /// Records an intent and its rejection, unless an intent with its once key is in the overlay.
    private func record(
        _ proposal: Proposal, rejectedBy rejection: Rejection, in working: inout WorkingLog
    ) throws(CommandError) -> RequestResult {
        let result = try carryOut(.record(proposal), isForced: true, in: &working)
        guard case .recorded(let id, _) = result else { return result }
        return try carryOut(  // mutant: brought-rejection
            .reject(id.number, rejection), isForced: true, in: &working)
    }

    /// Carries out one answer of the authority with this lineage and digest.
    private func outcome(
        of answer: Command, from lineage: Lineage?, at digest: NotedDigest? = nil,
        in working: inout WorkingLog
    ) -> Result<RequestResult, CommandError> {
        do throws(CommandError) {
            try working.requireSame(lineage, digest)
            let result = try carryOut(answer, isForced: true, in: &working)
            working.noteLineage(lineage)
            if let digest { working.noteDigest(digest) }
            return .success(result)
        } catch {
            working.noteRefusal(error)
            return .failure(error)
        }
    }

    /// Carries out a command at the present time; see ``WorkingLog/time(by:)``.
    private func carryOut(
        _ command: Command, isForced: Bool, in working: inout WorkingLog
    ) throws(CommandError) -> RequestResult {
        let time = working.time(by: clock)
        return try working.carryOut(
            command, isForced: isForced, at: time, reading: storage, codec)
    }
}
