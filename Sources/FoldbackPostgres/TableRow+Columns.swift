#if Postgres
    import Foldback
    import FoldbackServer
    import FoldbackSync

    /// The rows of a group, column by column.
    struct RowColumns {
        var outcomes: [String?] = []
        var replicas: [String?] = []
        var numbers: [Int64?] = []
        var accounts: [String?] = []
        var digests: [Int64?] = []
        var versions: [Int64?] = []
        var codecs: [Int64?] = []
        var codecVersions: [Int64?] = []
        var effects: [[UInt8]?] = []
        var bytes: [[UInt8]?] = []
        var rejections: [[UInt8]?] = []
        var foundings: [[UInt8]?] = []

        /// - Parameter withJSON: whether events that are JSON are written as such.
        init(_ rows: [TableRow], withJSON: Bool) {
            for row in rows {
                let (intent, decision) = (row.intent, row.decision)
                outcomes.append(row.outcome)
                replicas.append(intent?.replica.name.string)
                numbers.append(intent.map { Int64(bitPattern: $0.number.value) })
                accounts.append(decision?.account.description)
                digests.append(decision.map { Int64(bitPattern: $0.digest) })
                versions.append(decision.map { Int64($0.version) })
                let effect = decision?.effect
                codecs.append(effect.map { Int64($0.format.codec) })
                codecVersions.append(effect.map { Int64($0.format.version) })
                let isJSON = withJSON && effect?.format.codec == EventFormat.json.codec
                effects.append(isJSON ? effect?.bytes : nil)
                bytes.append(isJSON ? nil : effect?.bytes)
                rejections.append(decision?.rejection.map { $0.json })
                foundings.append(row.founding?.json)
            }
        }
    }

    extension TableRow {
        var intent: IntentID? { if case .decided(let intent, _) = self { intent } else { nil } }
        fileprivate var decision: DecidedRow? {
            if case .decided(_, let decision) = self { decision } else { nil }
        }
        fileprivate var founding: Founding? {
            if case .founded(let founding) = self { founding } else { nil }
        }
        fileprivate var outcome: String {
            switch self {
            case .founded(let founding): founding.loss == nil ? "founded" : "lost"
            case .decided(_, let decision):
                switch decision.outcome {
                case .accepted: "accepted"
                case .reworded: "reworded"
                case .rejected: "rejected"
                }
            }
        }
    }

    extension DecidedRow {
        fileprivate var effect: RecordedEvent? {
            switch outcome {
            case .accepted(let event): event
            case .reworded(let event): event
            case .rejected: nil
            }
        }
        fileprivate var rejection: Rejection? {
            if case .rejected(let rejection) = outcome { rejection } else { nil }
        }
    }

    // MARK: Reading

    extension PostgresRows {
        /// Returns a row of the table.
        ///
        /// - Throws: a failure if another program wrote something else there.
        func row(_ row: Int) throws(PostgresFailure) -> TableRow {
            if let founded = bytes(row, 15) { return .founded(try Founding(json: founded)) }
            guard let replica = text(row, 5).flatMap(ReplicaID.init), let number = number(row, 6),
                let account = text(row, 7).flatMap({ Account($0) }),
                let digest = self.number(row, 8),
                let version = self.number(row, 9).flatMap(UInt32.init(exactly:)),
                let outcome = try outcome(row)
            else {
                let position = self.number(row, 3) ?? 0
                throw PostgresFailure(
                    TableFailure("the row at position \(position) is not a decision"))
            }
            return .decided(
                IntentID(replica: replica, number: IntentNumber(UInt64(bitPattern: number))),
                DecidedRow(
                    account: account, version: version, digest: UInt64(bitPattern: digest),
                    outcome: outcome))
        }

        private func outcome(_ row: Int) throws(PostgresFailure) -> DecidedRow.Outcome? {
            switch text(row, 10) {
            case "accepted": effect(row).map { .accepted($0) }
            case "reworded": .reworded(effect(row))
            case "rejected":
                try bytes(row, 14).map { json throws(PostgresFailure) in
                    .rejected(try Rejection(json: json))
                }
            default: nil
            }
        }

        private func effect(_ row: Int) -> RecordedEvent? {
            guard let codec = number(row, 11).flatMap(UInt8.init(exactly:)),
                let version = number(row, 12).flatMap(UInt16.init(exactly:)),
                let bytes = bytes(row, 13)
            else { return nil }
            return RecordedEvent(
                format: EventFormat(codec: codec, version: version), bytes: bytes)
        }
    }

    // MARK: JSON

    extension Rejection {
        fileprivate var json: [UInt8] {
            var object: JSON.Object = ["message": .string(message)]
            object["code"] = code.map { .string($0) }
            return JSON.object(object).encoded
        }

        fileprivate init(json bytes: [UInt8]) throws(PostgresFailure) {
            guard case .object(let object)? = try? JSON(parsing: bytes),
                case .string(let message)? = object["message"]
            else { throw PostgresFailure(TableFailure("a rejection has no message")) }
            self.init(code: object["code"]?.string, message: message.string)
        }
    }

    extension Founding {
        fileprivate var json: [UInt8] {
            var object: JSON.Object = [
                "lineage": .string("\(lineage)"), "replica": .string("\(replica)"),
            ]
            object["timeline"] = timeline.map { .integer(Int64($0)) }
            object["loss"] = loss.map { .string($0) }
            return JSON.object(object).encoded
        }

        /// The founding of a backend names no replica.
        init(json bytes: [UInt8]) throws(PostgresFailure) {
            guard case .object(let object)? = try? JSON(parsing: bytes),
                let lineage = object["lineage"]?.string.flatMap({ Lineage($0) }),
                let replica = ReplicaID(object["replica"]?.string ?? "backend")
            else { throw PostgresFailure(TableFailure("a founding has no lineage")) }
            var timeline: UInt32?
            if case .integer(let number)? = object["timeline"] {
                timeline = UInt32(exactly: number)
            }
            self.init(
                lineage: lineage, replica: replica, timeline: timeline,
                loss: object["loss"]?.string)
        }
    }

    extension JSON {
        fileprivate var string: String? {
            if case .string(let text) = self { text.string } else { nil }
        }
    }
#endif
