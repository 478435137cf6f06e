/// Every bound of the store in one place.
package enum Limits {
    /// Bytes of one event as its codec writes it. LMDB 0.9.24 cannot commit values near 2 GiB, and large
    /// ones fragment the file (overflow pages must be contiguous); anything beyond this belongs in a
    /// file of its own that the event names.
    package static let eventBytesMax = 16 << 20
    /// Bytes of the events of one batch together.
    package static let batchBytesMax = 64 << 20
    /// Bytes of an entry's `info`, as encoded.
    package static let infoBytesMax = 256
    /// Bytes of a once key, and of a rejection's code.
    package static let keyBytesMax = 1_024
    /// Bytes of a rejection's message.
    package static let messageBytesMax = 64 << 10
    /// Bytes of the reason why an attempt came to nothing.
    package static let reasonBytesMax = 1_024

    /// Bytes of one row of a stored projection, as its codec writes it.
    package static let rowBytesMax = 16 << 20
    /// Rows whose changes are kept for somebody who watches and does not take them.
    package static let rowChangesMax = 10_000
    /// Their bytes, old and new.
    package static let rowChangesBytesMax = 16 << 20
    /// Changed rows behind which a projection that gets up with its log writes them, or that one transaction
    /// removes of one that is not wanted any more. Catching up also writes behind ``commitBytesMax`` of rows, and
    /// so many entries. It looks behind each entry: what one of them changes is in one transaction, however
    /// much it is.
    package static let rowCatchUpCountMax = 8_192
    package static let rowCatchUpEntriesMax = 65_536
    package static let rowDropCountMax = 8_192

    /// How often a check follows a store that changes rows while they are compared.
    package static let verifyAttemptsMax = 64

    /// Entries of one transaction (L3): so that the first of them does not wait long for the last.
    package static let commitCountMax = 1_024
    /// Bytes of events in one transaction; one larger event goes alone. Far below LMDB's 131,071
    /// changed pages a transaction (midl.h), so entries never fill one up. Nothing bounds the rows that one
    /// event changes: one that is more than a transaction takes is an error of its command.
    package static let commitBytesMax = 4 << 20
    /// Requests that are queued; further callers wait (L3).
    package static let queueCountMax = 4_096
    package static let queueBytesMax = 32 << 20

    /// Bytes of a checkpoint that go into one transaction (L4): with their checksum just under 15 of
    /// LMDB's pages.
    package static let checkpointPieceBytes = 61_376
    /// What a checkpoint leaves free on the disk, beside its own bytes again.
    package static let checkpointReserveBytes = 8 << 20
    /// Rows of superseded checkpoints that one transaction removes.
    package static let checkpointDropCountMax = 64

    /// Records copied out of one read transaction, and their bytes: reads stay short (L8).
    package static let readCountMax = 512
    package static let readBytesMax = 1 << 20
}

/// What a caller, or a history's file, may give of something.
package struct Limit: Sendable {
    let what: String
    let bytesMax: Int

    package static let event = Limit(what: "an event", bytesMax: Limits.eventBytesMax)
    package static let batch = Limit(what: "a batch", bytesMax: Limits.batchBytesMax)
    package static let info = Limit(what: "info", bytesMax: Limits.infoBytesMax)
    package static let once = Limit(what: "a once key", bytesMax: Limits.keyBytesMax)
    package static let code = Limit(what: "a rejection's code", bytesMax: Limits.keyBytesMax)
    package static let message = Limit(
        what: "a rejection's message", bytesMax: Limits.messageBytesMax)

    /// - Throws: `.tooLarge`.
    package func require(_ bytes: Int) throws(FoldbackError) {
        guard bytes <= bytesMax else {
            throw .tooLarge(what: what, bytes: bytes, bytesMax: bytesMax)
        }
    }
}
