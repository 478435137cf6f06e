import Foldback

/// The note of shared conflicts in the first line of a history file.
extension SharedConflicts {
    package var fileJSON: JSON {
        .array(
            periods.map { period in
                [
                    "from": .of(period.start),
                    "projections": .array(
                        period.members.map { member in
                            [
                                "name": .string(member.name.string),
                                "kind": .string(member.kind.fileName),
                            ]
                        }),
                ]
            })
    }

    /// - Throws: ``HistoryFileError/Flaw`` if the JSON is not such a note.
    init(fileJSON json: JSON) throws {
        let flaw = HistoryFileError.Flaw("\"conflicts\" is not a list of projections by entry")
        guard let list = json.arrayValue else { throw flaw }
        var periods: [Period] = []
        for json in list {
            guard let start = json["from"]?.integerValue.flatMap({ UInt64(exactly: $0) }),
                let members = json["projections"]?.arrayValue,
                periods.last.map({ $0.start.value < start }) ?? true
            else { throw flaw }
            periods.append(
                Period(
                    start: LogSequence(start),
                    members: try members.map { json in
                        guard let name = json["name"]?.stringValue,
                            let kind = json["kind"]?.stringValue.flatMap({
                                RegisteredProjection.Kind(fileName: $0)
                            })
                        else { throw flaw }
                        return Member(name: ExactString(name), kind: kind)
                    }))
        }
        self.init(periods: periods)
    }
}

extension RegisteredProjection.Kind {
    fileprivate var fileName: String {
        switch self {
        case .value: "value"
        case .rows: "rows"
        }
    }

    fileprivate init?(fileName: String) {
        switch fileName {
        case "value": self = .value
        case "rows": self = .rows
        default: return nil
        }
    }
}
