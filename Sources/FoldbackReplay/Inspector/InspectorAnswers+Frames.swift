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
                var bytes = 0
                do {
                    // Large frames make fewer of them. The page asks for the rest if it needs it.
                    while frames.count < count, bytes < InspectorLimits.answerBytesMax,
                        let frame = try reader.nextFrame()
                    {
                        frames.append(frame.json)
                        bytes += frames.last?.approximateSize ?? 0
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
            guard sequence <= last else { throw LogError.beyondEnd(sequence, last: last) }
            let found = try await index.reader(at: sequence)
            return try await short.run {
                var reader = found
                return reader.state
            }
        }
    }

    extension JSON {
        /// The bytes of the value as text, without counting escapes.
        ///
        /// - Complexity: O(n) in the value, but much faster than printing it.
        var approximateSize: Int {
            switch self {
            case .null, .bool, .integer, .double: 8
            case .digits(let digits): digits.utf8.count
            case .string(let text): text.string.utf8.count + 2
            case .array(let items): items.reduce(2) { $0 + $1.approximateSize + 1 }
            case .object(let object):
                object.members.reduce(2) { $0 + $1.0.string.utf8.count + $1.1.approximateSize + 4 }
            }
        }
    }
#endif
