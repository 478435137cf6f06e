#if ReplayTool
    import ArgumentParser
    import Foldback

    /// The options of a command that looks at a window of history.
    public struct WindowOption: ParsableArguments {
        @Option(help: "Keep this many of the last entries.")
        public var keepEntries: Int?

        @Option(help: "Keep the entries of this many last days.")
        public var keepDays: Int?

        public init() {}

        /// The window; nil if no option is given.
        public var window: HistoryWindow? {
            keepEntries.map { .entries($0) } ?? keepDays.map { .days($0) }
        }

        public func validate() throws {
            guard keepEntries == nil || keepDays == nil else {
                throw ValidationError("give --keep-entries or --keep-days, not both")
            }
            guard keepEntries ?? keepDays ?? 1 >= 1 else {
                throw ValidationError("a window is from 1 up")
            }
        }
    }
#endif
