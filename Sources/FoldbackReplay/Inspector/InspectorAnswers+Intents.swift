#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns the entries that recorded intents, by their numbers. Unknown intents are absent.
        func intents(_ query: InspectorQuery) async throws -> JSON {
            let numbers = try Self.numbers(try query.required("numbers"))
            var places = try await short.run { try self.settled(numbers) }
            let rest = numbers.filter { places[$0] == nil }
            if !rest.isEmpty, let more = try await overlay(rest) {
                places.merge(more) { own, _ in own }
            }
            let found = places
            return try await short.run {
                var entries = JSON.Object()
                var bytes = 0
                for number in numbers where bytes < InspectorLimits.answerBytesMax {
                    guard let sequence = found[number],
                        let entry = try self.log.entries(from: sequence, countMax: 1).first,
                        case .intent(let intent) = entry.content, intent.number == number
                    else { continue }
                    let json = self.log.json(of: entry)
                    entries[ExactString("\(number)")] = json
                    bytes += json.approximateSize
                }
                return ["intents": .object(entries)]
            }
        }

        /// Returns the server's decisions after a position. An answer with many has only the first, and
        /// whole positions.
        func decisions(_ query: InspectorQuery) async throws -> JSON {
            let after = Position(try query.number("after") ?? 0)
            return try await long.run { [log] in
                guard let space = log.space else {
                    throw InspectorError.wrongUse("this inspector has no --space")
                }
                let rest = try space.decisions(beside: log.reader).drop { $0.position <= after }
                var found: [JSON] = []
                var bytes = 0
                var last: Position?
                for decision in rest {
                    if bytes >= InspectorLimits.answerBytesMax, decision.position != last { break }
                    found.append(decision.json)
                    bytes += decision.json.approximateSize
                    last = decision.position
                }
                return [
                    "decisions": .array(found), "isWhole": .bool(found.count == rest.count),
                ]
            }
        }

        private static func numbers(_ text: String) throws -> [IntentNumber] {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count <= InspectorLimits.intentCountMax else {
                throw ValidationError(
                    "there are at most \(InspectorLimits.intentCountMax) numbers, not \(parts.count)"
                )
            }
            return try parts.map { part in
                guard let number = UInt64(part) else {
                    throw ValidationError("numbers must be numbers with commas, not \(part)")
                }
                return IntentNumber(number)
            }
        }

        /// Returns the places of intents from their own rows, and those that are known already.
        private func settled(_ numbers: [IntentNumber]) throws -> [IntentNumber: LogSequence] {
            var places = recordings.withLock { known in
                Dictionary(numbers.map { ($0, known[$0]) }) { first, _ in first }
            }.compactMapValues { $0 }
            for number in numbers where places[number] == nil {
                do {
                    places[number] = try log.reader.settledEntries(of: number)?.recorded
                } catch {
                    guard log.note(error) else { throw error }
                }
            }
            return places
        }

        /// Returns the places of intents in the overlay. It keeps them all, so that the next
        /// question about them needs no fold. Nil if the log is damaged.
        private func overlay(
            _ numbers: [IntentNumber]
        ) async throws -> [IntentNumber: LogSequence]? {
            try await long.run { [log] in
                do {
                    let found = try log.reader.overlayRecordings()
                    self.recordings.withLock { $0.merge(found) { own, _ in own } }
                    return found
                } catch {
                    guard log.note(error) else { throw error }
                    return nil
                }
            }
        }
    }
#endif
