#if ReplayTool
    import Foldback
    import FoldbackHistory
    import Foundation

    extension InspectedLog {
        /// Returns the facts about the log that the page shows first.
        ///
        /// - Parameter status: the status as far as it is known.
        func head(_ status: JSON.Object) throws -> JSON.Object {
            var head: JSON.Object = [
                "tool": .string(tool), "log": .string(URL(filePath: path).lastPathComponent),
                "isLive": .bool(isLive),
                "made": .string(ISO8601DateFormatter().string(from: Date())),
                "status": .object(status), "attempts": .object(try attempts()),
                "projections": .array(projections.map(\.headJSON)),
                "usualProjection": .string(listed.first?.name ?? ""),
                "reruns": .array(reruns.map { .string($0.name) }), "filters": [],
                "isRedacted": .bool(isRedacted),
            ]
            head["space"] = try space.map { space in
                [
                    "log": .string(URL(filePath: space.path).lastPathComponent),
                    "actors": .string(space.noun), "last": .of(try space.lastSequence()),
                ]
            }
            let last = entry(notAfter: try lastShown())
            head["last"] = .of(last)
            if last > 0, let entry = try entries(from: last, countMax: 1).first {
                head["lastWrite"] = .integer(entry.time.millisecondsSince1970)
            }
            head["file"] = try? reader.fileHead(try reader.firstFormat())
            head["damage"] = knownDamage.map { .string($0.text) }
            return head
        }

        /// The status; of a damaged log, what does not need its entries.
        ///
        /// - Complexity: reads the newest checkpoint and the entries after it.
        func status() throws -> JSON.Object {
            do { return try reader.status().json } catch {
                guard note(error) else { throw error }
                return try statusWithoutEntries()
            }
        }

        /// The part of the status that needs no entry.
        func statusWithoutEntries() throws -> JSON.Object {
            [
                "replica": .string(reader.replica.name), "kind": .string(reader.kind.rawValue),
                "entries": .integer(Int64(try reader.entryCount())),
                "sequence": .of(try reader.lastSequence()),
            ]
        }

        private func attempts() throws -> JSON.Object {
            var object = JSON.Object()
            do {
                for (number, attempt) in try reader.attempts() {
                    object[ExactString("\(number)")] = attempt.headJSON
                }
            } catch { guard note(error) else { throw error } }
            return object
        }
    }
#endif
