#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns the state before an entry, and what that entry and the next entries change.
        func frames(_ query: InspectorQuery) async throws -> JSON {
            let start = max(try query.sequence("from"), 1)
            let count = try query.count("count", atMost: InspectorLimits.frameCountMax)
            let index = index(of: try projection(query))
            let first = try await index.reader(at: LogSequence(start.value - 1))
            return try await short.run {
                var reader = first
                let state = reader.state
                var frames: [JSON] = []
                do {
                    while frames.count < count, let frame = try reader.nextFrame() {
                        frames.append(frame.json)
                    }
                } catch {
                    // Frames before the damage are shown.
                    guard self.log.note(error) else { throw error }
                }
                return ["state": state, "frames": .array(frames)]
            }
        }

        /// Returns the state after an entry.
        func state(_ query: InspectorQuery) async throws -> JSON {
            let sequence = try query.sequence("sequence")
            let index = index(of: try projection(query))
            let last = try await short.run { [log] in try log.reader.lastSequence() }
            guard sequence <= last else { throw FoldbackError.beyondEnd(sequence, last: last) }
            let found = try await index.reader(at: sequence)
            return try await short.run {
                var reader = found
                return reader.state
            }
        }
    }
#endif
