#if ReplayTool
    import Foldback
    import FoldbackHistory

    /// The frames of a log without the types of its projection: each entry with its effect on the
    /// states, as the page shows it. This is a value: a copy continues from the same place by
    /// itself.
    protocol FrameReader: Sendable {
        /// The sequence of the last entry that was applied.
        var sequence: LogSequence { get }
        /// The state after that entry, as `at --json` prints it.
        var state: JSON { mutating get }
        /// What does not fit that state.
        var troubles: Troubles { mutating get }
        /// Applies the next entry, and returns what it changed; nil at the end.
        mutating func nextFrame() throws -> SeenFrame?
        /// Applies the next entry without telling what it changed. Returns false at the end.
        mutating func skip() throws -> Bool
    }

    /// An entry with its effect on the states.
    struct SeenFrame: Sendable {
        let sequence: LogSequence
        /// The entry as `log --json` prints it.
        let entry: JSON
        /// The change of the state of `at --json`, without its member `sequence`.
        let patch: JSONPatch
        /// Intents of the overlay whose effect changed, as `why --intent --json` prints them.
        let others: JSON
        let viewChangeCount: Int

        /// The frame as an object. `others` is absent if there are none.
        var json: JSON {
            var object: JSON.Object = ["entry": entry, "patch": patch.json]
            if others != [] { object["others"] = others }
            return .object(object)
        }
    }

    extension LogFrames: FrameReader {
        mutating func nextFrame() throws -> SeenFrame? {
            guard let frame = try next() else { return nil }
            return SeenFrame(
                sequence: frame.entry.sequence, entry: frame.entry.json, patch: frame.patch,
                others: .array(frame.others.map { SeenIntent($0).json }),
                viewChangeCount: frame.viewChangeCount)
        }
    }
#endif
