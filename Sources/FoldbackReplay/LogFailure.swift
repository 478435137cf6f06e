#if ReplayTool
    import Foldback
    import FoldbackHistory

    /// An error of a log or of its history, of whatever type the function that failed throws.
    struct LogFailure {
        /// The error of the log itself; nil if the log can be read, and a limit or its history is in
        /// the way.
        let logError: LogError?
        let description: String
        /// Whether the command or request is wrong, and not the log.
        let isWrongUse: Bool

        /// Returns nil if the error is another error.
        init?(_ error: any Error) {
            description = "\(error)"
            switch error {
            case let error as LogError: logError = error
            case HistoryError.log(let error), CommandError.log(let error): logError = error
            case is HistoryError, is CommandError: logError = nil
            default: return nil
            }
            if case HistoryError.invalidEdit = error {
                isWrongUse = true
            } else {
                isWrongUse = logError?.isWrongUse ?? false
            }
        }
    }

    extension LogError {
        fileprivate var isWrongUse: Bool {
            switch self {
            case .kindDiffers, .beyondEnd, .unknownIntent, .compacted, .compactedIntent,
                .needsArchive, .notABackup:
                true
            default: false
            }
        }
    }
#endif
