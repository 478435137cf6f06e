/// All limits of the store.
package enum Limits {
    /// Bytes of one event as its codec writes it.
    ///
    /// LMDB 0.9.24 cannot commit values near 2 GiB. Large values fragment the file, because
    /// overflow pages must be contiguous. Put larger data in a separate file that the event names.
    package static let eventBytesMax = 16 << 20
    /// Bytes of all events of one batch.
    package static let batchBytesMax = 64 << 20
    /// Bytes of an entry's `info`, as encoded.
    package static let infoBytesMax = 256
    /// Bytes of a once key, of a replacing key, and of a rejection's code.
    package static let keyBytesMax = 1_024
    /// Bytes of a rejection's message.
    package static let messageBytesMax = 64 << 10
    /// Bytes of the reason for an attempt's failure.
    package static let reasonBytesMax = 1_024

    /// Bytes of a line in a history file, and of a command for a tool.
    ///
    /// The largest entry is a batch of ``batchBytesMax``. JSON needs at most six bytes for each
    /// byte of an event (`\u007F`). For each event a batch counts 32 bytes more, and 192 bytes of
    /// the line hold its position and its origin with a replica's name of 60 bytes. The remaining
    /// MiB is for the members of the entry itself. Only a full batch of tiny events from a replica
    /// with a longer name does not fit; exporting it is an error.
    package static let lineBytesMax = 6 * batchBytesMax + 1 << 20
    /// Bytes of the first line of a history file, which has some hundred.
    package static let historyHeadBytesMax = 1 << 20

    /// Bytes of one row of a stored projection, as its codec writes it.
    package static let rowBytesMax = 16 << 20
    /// Row changes that are kept for a watcher that does not take them.
    package static let rowChangesMax = 10_000
    /// Bytes of these changes, old and new rows together.
    package static let rowChangesBytesMax = 16 << 20
    /// Changed rows after which a stored projection that catches up commits. It also commits after
    /// ``commitBytesMax`` bytes of rows and after ``rowCatchUpEntriesMax`` entries.
    ///
    /// The limits are checked after each entry. All changes of one entry go into one transaction,
    /// however many there are.
    package static let rowCatchUpCountMax = 8_192
    /// Entries after which a stored projection that catches up commits.
    package static let rowCatchUpEntriesMax = 65_536
    /// Rows of a dropped stored projection that one transaction removes.
    package static let rowDropCountMax = 8_192

    /// Entries that a store removes by itself at least, so that it seldom does (C10).
    package static let compactionEntriesMin = 100_000
    /// Entries that an opening adds to a compacted log that was prepared before: about 0.1 s (C10).
    package static let preparedTailMax = 4_096

    /// Comparisons that a verification tries while a store changes the rows.
    package static let verifyAttemptsMax = 64

    /// Commands of one transaction (L3). The limit keeps the first entry from waiting long for the
    /// last.
    package static let commitCountMax = 1_024
    /// Bytes of events in one transaction. A larger event goes alone.
    ///
    /// This is far below LMDB's limit of 131,071 changed pages in a transaction (midl.h), so
    /// entries never fill a transaction. The rows that one event changes have no limit. If they
    /// exceed what a transaction can hold, the event's command fails.
    package static let commitBytesMax = 4 << 20
    /// Nanoseconds without an arrival after which the writer no longer waits for callers that it has
    /// resumed (L3). A flush takes 100,000 or more.
    package static let quietNanosecondsMax: UInt64 = 30_000
    /// Nanoseconds that one transaction waits for such callers in all, as the clock shows between
    /// looks at the queue.
    package static let gatherNanosecondsMax: UInt64 = 100_000
    /// Nanoseconds after which a caller that was resumed is not expected back.
    package static let returnNanosecondsMax: UInt64 = 500_000
    /// Answers of one request, half of a transaction.
    package static let answersCountMax = 512
    /// Commands that are queued. Further callers wait (L3).
    package static let queueCountMax = 4_096
    /// Bytes of the queued requests. Further callers wait (L3).
    package static let queueBytesMax = 32 << 20

    /// Bytes of a checkpoint that go into one transaction (L4). With their checksum they take just
    /// under 15 of LMDB's pages.
    package static let checkpointPieceBytes = 61_376
    /// Bytes that must be free on disk to write a checkpoint, in addition to twice the checkpoint's
    /// bytes.
    package static let checkpointReserveBytes = 8 << 20
    /// Rows of superseded checkpoints that one transaction removes.
    package static let checkpointDropCountMax = 64

    /// Superseded logs that are kept beside the log that continued them (N6).
    package static let keptLogsMax = 3

    /// The time between two notes that a projection was opened: one day.
    package static let registrationMillisecondsMin: Int64 = 86_400_000

    /// The time since a projection was opened after which a compaction need not keep its state: 30 days.
    package static let projectionMillisecondsMax: Int64 = 30 * 86_400_000

    /// Groups of faults that a summary has.
    package static let faultGroupsMax = 1_000

    /// Records that one read transaction copies. The limit keeps reads short (L8).
    package static let readCountMax = 512
    /// Bytes of these records.
    package static let readBytesMax = 1 << 20
}

/// A size limit for data from a caller or from a file.
package struct Limit: Sendable {
    let what: String
    let bytesMax: Int

    package static let event = Limit(what: "an event", bytesMax: Limits.eventBytesMax)
    package static let batch = Limit(what: "a batch", bytesMax: Limits.batchBytesMax)
    package static let info = Limit(what: "info", bytesMax: Limits.infoBytesMax)
    package static let once = Limit(what: "a once key", bytesMax: Limits.keyBytesMax)
    package static let replacingKey = Limit(
        what: "a replacing key", bytesMax: Limits.keyBytesMax)
    package static let together = Limit(
        what: "the events of one action", bytesMax: Limits.commitBytesMax)
    package static let code = Limit(what: "a rejection's code", bytesMax: Limits.keyBytesMax)
    package static let message = Limit(
        what: "a rejection's message", bytesMax: Limits.messageBytesMax)

    package static let line = Limit(what: "a line", bytesMax: Limits.lineBytesMax)

    /// Checks a size.
    ///
    /// - Throws: `.tooLarge` if it is more than ``bytesMax``.
    package func require(_ bytes: Int) throws(CommandError) {
        guard bytes <= bytesMax else {
            throw .tooLarge(what: what, bytes: bytes, bytesMax: bytesMax)
        }
    }
}
