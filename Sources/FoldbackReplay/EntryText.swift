#if ReplayTool
    import Foldback
    import FoldbackHistory

    extension LogEntry {
        /// The entry as one line of text. On a terminal, it is cut to the width.
        var line: String { line(words, "") }

        /// The line of a batch with some of its events, and with the count of the others.
        ///
        /// - Parameter places: the places in ``LogEntry/events``. If it is empty, all are printed.
        func line(ofEvents places: [Int]) -> String {
            guard case .confirmed(let events, let through) = content, !places.isEmpty,
                places.count < events.count
            else { return line }
            let some = LogEntry(
                sequence: sequence, time: time, replica: replica, info: info,
                content: .confirmed(places.map { events[$0] }, through: through))
            let others = events.count - places.count
            return some.line(some.words, "  and \(others) other event\(others == 1 ? "" : "s")")
        }

        /// - Parameter end: what is not cut.
        private func line(_ words: String, _ end: String) -> String {
            let number = String(sequence.value)
            let left = String(repeating: " ", count: max(0, 7 - number.count)) + number
            let stamp = "\(left)  \(time.text)"
            let width = Output.width.map { max(20, $0 - stamp.count - 2 - end.count) } ?? .max
            return "\(Ink.dim(stamp))  \(words.cut(to: width))\(Ink.dim(end))"
        }

        /// The line without the sequence and the time.
        var words: String {
            let detail = detail.visible
            return detail.isEmpty ? what : what.padded(to: 18) + detail
        }

        /// The kind of the entry and its number, in two words.
        var what: String {
            switch content {
            case .intent(let intent): "intent \(intent.number)"
            case .acknowledged(let number, _, _): "acknowledged \(number)"
            case .changed(let number, let change): "\(change.kind.rawValue) \(number)"
            case .confirmed(_, let through): "confirmed \u{2264} \(through)"
            }
        }

        var detail: String {
            switch content {
            case .intent(let intent):
                let marks = intent.marks.joined(separator: ", ")
                var parts = [intent.event.sentence + (marks.isEmpty ? "" : " (\(marks))")]
                if !info.isEmpty {
                    let pairs = info.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                    parts.append("info \(pairs.joined(separator: " "))")
                }
                return parts.joined(separator: "  ")
            case .acknowledged(_, let position, let replacement):
                return [
                    position.map { "at position \($0)" }, replacement.map { "as: \($0.sentence)" },
                ]
                .compactMap { $0 }.joined(separator: "  ")
            case .changed(_, let change):
                return change.detail
            case .confirmed(let events, _):
                return events.map { event in
                    "\(event.position)\(event.origin.map { " (\($0))" } ?? "") \(event.event.sentence)"
                }.joined(separator: "  ")
            }
        }

        /// The kind as `--kind` names it.
        var kindName: String {
            switch content {
            case .intent: "intent"
            case .acknowledged: "acknowledged"
            case .changed(_, let change): change.kind.rawValue
            case .confirmed: "confirmed"
            }
        }
    }

    extension LoggedIntent {
        /// What the intent has beside its event, in words.
        fileprivate var marks: [String] {
            [
                isConfirmOnly ? "shows only when confirmed" : nil, isHeld ? "a draft" : nil,
                once.map { "once \($0)" }, replacingKey.map { "replaceable by \($0)" },
                retries.map { "retries intent \($0)" }, replaces.map { "replaces intent \($0)" },
                undoes.map { "undoes intent \($0)" },
                group.map {
                    $0 == number ? "first of several together" : "together with intent \($0)"
                },
            ].compactMap { $0 }
        }
    }

    extension IntentChange {
        /// What the change says beside its kind.
        fileprivate var detail: String {
            switch self {
            case .rejected(let rejection):
                [rejection.code ?? "", rejection.message].filter { !$0.isEmpty }
                    .joined(separator: ": ")
            case .withdrawn: "taken back before it was sent"
            case .abandoned: "given up, although it may have been sent"
            case .dismissed: "its rejection is no longer listed"
            case .released: "it may be sent"
            case .undone: "taken back by undo or redo"
            case .lapsed: "the intent that it undoes is gone"
            case .restored: "pending again, because the intent that it undoes came back"
            }
        }
    }

    extension JSON {
        /// The value as a line of output.
        var line: String { String(decoding: printed, as: UTF8.self) }
    }

    extension JSONDifference {
        var lines: [String] {
            let place = place.names.isEmpty ? "(all)" : "\(place)"
            switch (old, new) {
            case (nil, let new?): return [Ink.new("+ \(place)  \(new)".visible)]
            case (let old?, nil): return [Ink.old("- \(place)  \(old)".visible)]
            case let (old, new) where old == new:
                let value = new.map { "\($0)" } ?? "no value"
                return [Ink.dim("= \(place)  equal again: \(value)".visible)]
            default:
                return [
                    Ink.old("- \(place)  \(old.map { "\($0)" } ?? "")".visible),
                    Ink.new("+ \(place)  \(new.map { "\($0)" } ?? "")".visible),
                ]
            }
        }

        /// The difference as an object. An absent value has no member, so it is not confused with
        /// null.
        var json: JSON {
            var object: JSON.Object = ["place": .string("\(place)")]
            object["old"] = old
            object["new"] = new
            return .object(object)
        }
    }

    extension [JSONDifference] {
        func lines(indented: String = "  ") -> [String] {
            flatMap(\.lines).map { indented + $0 }
        }
        var json: JSON { .array(map(\.json)) }
    }
#endif
