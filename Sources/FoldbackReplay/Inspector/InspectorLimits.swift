#if ReplayTool
    import Foundation

    /// The bounds of an inspector's queues, memory and answers.
    enum InspectorLimits {
        static let bodyBytesMax = 1 << 20
        /// Longer bodies are not even read.
        static let bytesReadMax = 2 << 20
        /// Bodies of refused requests up to this size are read, so that the connection can go on.
        static let drainedBytesMax = 1 << 16
        /// Connections that wait for their client at the same time.
        static let connectionsMax = 256
        /// The longest time that a connection waits for its client.
        static let clientWaitMax = Duration.seconds(60)
        /// The time before the server listens again after it could not accept a connection.
        static let acceptPause = Duration.seconds(1)
        /// The longest time that the file for the browser exists.
        static let openingWaitMax = Duration.seconds(60)
        static let openingPause = Duration.milliseconds(100)
        /// The longest time of an answer. Only a computation over the whole log takes that long.
        static let answerSecondsMax: TimeInterval = 3_600
        /// The longest time that a request for changes waits.
        static let changesWaitMax = Duration.seconds(20)
        /// The time between two looks at the log while a request waits for changes.
        static let changesPause = Duration.milliseconds(150)
        /// The longest time that an answer about filtered entries waits for the scan.
        static let scanWaitMax = Duration.milliseconds(200)
        /// The longest time that a place among filtered entries waits for the scan.
        static let placeWaitMax = Duration.seconds(10)
        static let rowCountMax = 500
        static let frameCountMax = 500
        /// The approximate size of an answer with rows or frames, which then has fewer of them.
        static let answerBytesMax = 8 << 20
        /// Intents that are looked up by one request.
        static let intentCountMax = 100
        /// Entries that are decoded at once.
        static let pieceCount = 512
        /// Copies of a frame reader that an index keeps.
        static let copiesMax = 128
        /// Copies of a frame reader whose states are large.
        static let copiesOfLargeMax = 16
        /// The approximate size of the states of all copies, if copies shared nothing.
        static let copiedBytesMax = 256 << 20
        /// The smallest number of entries between two copies.
        static let strideMin: UInt64 = 256
        /// Entries that an answer folds at most while the first pass of an index goes on.
        static let foldCountMax: UInt64 = 40_000
        /// The time between two looks at an index that is not far enough.
        static let indexPause = Duration.milliseconds(20)
        /// The longest time that a head waits for counts that need a fold.
        static let statusWaitMax = Duration.milliseconds(150)
        /// Filters whose matching sequences are kept.
        static let scansMax = 4
        /// What-if branches that are kept.
        static let branchesMax = 4
        static let editsMax = 100
        /// Rows, and divergences, of an answer about a branch.
        static let branchRowsMax = 20_000
        /// Copies of a frame reader that a branch keeps.
        static let branchCopiesMax = 64
        static let minimizeTriesMax = 1_000
        /// Entries of an export that is sent as one answer.
        static let exportCountMax = 50_000
        /// Short computations that run at the same time, and those that wait for it.
        static let shortWorkers = 4
        static let shortWaitingMax = 256
        /// Computations over the whole log that run at the same time, and those that wait for it.
        static let longWorkers = 2
        static let longWaitingMax = 8
    }
#endif
