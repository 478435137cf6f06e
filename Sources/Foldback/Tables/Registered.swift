// Table `registered`: the key is a number, the value is a projection with which the log was opened.

/// A projection with which the log was opened.
package struct RegisteredProjection: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// The state is a value in memory.
        case value = 1
        /// The state is rows.
        case rows = 2
    }

    private static let format: UInt8 = 1

    package let number: UInt32
    package let identity: ProjectionIdentity
    package let kind: Kind
    package let firstOpened: Timestamp
    /// The last noted opening. The first transaction after a later opening notes it, once a day.
    package var lastOpened: Timestamp

    package init(
        number: UInt32, identity: ProjectionIdentity, kind: Kind, openedAt time: Timestamp
    ) {
        self.number = number
        self.identity = identity
        self.kind = kind
        firstOpened = time
        lastOpened = time
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writer.fixed(kind.rawValue)
        writer.fixed(identity.version)
        writer.fixed(firstOpened.millisecondsSince1970)
        writer.fixed(lastOpened.millisecondsSince1970)
        writer.sized(identity.name.string)
        _ = writer.seal(seed: UInt64(number))
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of number: UInt32) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: UInt64(number))
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("registered projection format \(format)") }
        let code = try reader.fixed(UInt8.self)
        guard let kind = Kind(rawValue: code) else { throw .newer("kind of projection \(code)") }
        self.number = number
        self.kind = kind
        let version = try reader.fixed(UInt32.self)
        firstOpened = Timestamp(millisecondsSince1970: try reader.fixed())
        lastOpened = Timestamp(millisecondsSince1970: try reader.fixed())
        identity = ProjectionIdentity(
            name: ExactString(try reader.sizedString()), version: version)
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
    }
}

// MARK: Read

extension LogStorage {
    /// Returns the rows of table `registered`, not verified.
    package func registeredRows()
        throws(LogError) -> [(number: UInt32, bytes: [UInt8])]
    { try all(of: .registered) }

    /// Returns the readable rows of table `registered`, in the order of registration. The log is
    /// complete without them, so an unreadable row is not an error.
    ///
    /// - Parameter refused: called with the number of each unreadable row, and the reason.
    /// - Throws: `.damaged` if the table cannot be read; `.closed`, `.storage`.
    package func registeredProjections(
        refused: (UInt32, FormatError) -> Void = { _, _ in }
    ) throws(LogError) -> [RegisteredProjection] {
        var projections: [RegisteredProjection] = []
        for (number, bytes) in try registeredRows() {
            do throws(FormatError) {
                projections.append(try RegisteredProjection(decoding: bytes, of: number))
            } catch {
                refused(number, error)
            }
        }
        return projections
    }

    /// Checks that the log is not another app's.
    ///
    /// A downgraded app may be unable to read any event, and so may an old client whose first
    /// events are all new cases. Both have been on the log before.
    ///
    /// - Throws: `.otherApp` if the log has events, `codec` reads none of them, and no projection
    ///   of these names is registered or has a checkpoint or rows. The errors of reading these
    ///   tables.
    /// - Complexity: O(1) if a projection is registered. Otherwise reads the log up to the first
    ///   event that `codec` reads.
    package func requireOwnLog(
        of names: Set<ExactString>, codec: any PayloadCodec
    ) throws(LogError) {
        var others = try registeredProjections().map(\.identity.name)
        guard names.isDisjoint(with: others) else { return }
        others += try storedRows().map(\.identity.name)
        others += try checkpointedNames()
        guard names.isDisjoint(with: others), try hasOnlyUnreadableEvents(codec) else { return }
        throw .otherApp(path: path, projections: Set(others.map(\.string)).sorted())
    }

    private func checkpointedNames() throws(LogError) -> [ExactString] {
        try checkpointSequences().flatMap { sequence -> [ExactString] in
            do throws(CheckpointRefusal) {
                let manifest = try checkpointManifest(at: sequence)
                return manifest?.sections.compactMap { $0.projection?.name } ?? []
            } catch {
                // A checkpoint that cannot be read is not used, so it says nothing.
                return []
            }
        }
    }

    /// Returns false if the log has no events. Damage ends the search: folding the log reports it.
    private func hasOnlyUnreadableEvents(_ codec: any PayloadCodec) throws(LogError) -> Bool {
        var hasEvents = false
        var next = baseSequence.next
        while true {
            let records = try records(from: next, countMax: Limits.readCountMax)
            guard let last = records.last?.0 else { return hasEvents }
            for (sequence, bytes) in records {
                let entry: Entry
                do throws(FormatError) {
                    entry = try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: header.replicas,
                        codec: codec
                    ).record.entry
                } catch {
                    return false
                }
                for payload in entry.payloads {
                    guard payload.isUnreadable else { return false }
                    hasEvents = true
                }
            }
            next = last.next
        }
    }
}

extension Entry {
    /// The events in the entry, of whatever kind.
    fileprivate var payloads: [Payload] {
        switch self {
        case .intent(let intent): [intent.payload]
        case .acknowledged(let answer): answer.replacement.map { [$0] } ?? []
        case .confirmed(let batch): batch.events.map(\.payload)
        case .changed: []
        }
    }
}

// MARK: Write

extension WriteBatch {
    package mutating func writeRegistered(_ projection: RegisteredProjection) {
        registered.append(
            TableWrite(.registered, .number(UInt64(projection.number)), projection.encoded))
    }
}

extension LogStorage {
    /// Notes the projections that are new to the log, in one transaction.
    ///
    /// If a note cannot be written because the disk is full, the next opening writes it: the log's
    /// entries do not need it.
    ///
    /// - Returns: the notes of the other projections with this time, if they are a day old. They are
    ///   not written here, because a write would make opening check the whole file.
    /// - Throws: `.storage` for every other failure; the errors of
    ///   ``registeredProjections(refused:)``.
    package func register(
        _ projections: [(ProjectionIdentity, RegisteredProjection.Kind)], at time: Timestamp
    ) throws(LogError) -> [RegisteredProjection] {
        let known = try registeredProjections()
        var renewed: [RegisteredProjection] = []
        var batch = WriteBatch()
        var last = try registeredRows().last?.number ?? 0
        for (identity, kind) in projections {
            if var old = known.last(where: { $0.identity == identity && $0.kind == kind }) {
                guard time >= old.lastOpened.adding(Limits.registrationMillisecondsMin) else {
                    continue
                }
                old.lastOpened = time
                renewed.append(old)
            } else {
                last += 1
                batch.writeRegistered(
                    RegisteredProjection(
                        number: last, identity: identity, kind: kind, openedAt: time))
            }
        }
        guard !batch.isEmpty else { return renewed }
        do throws(StorageFailure) { try write(batch) } catch {
            switch error.reason {
            case .diskFull, .fileSizeLimit: break
            default: throw error.unwritten
            }
        }
        return renewed
    }
}

extension Timestamp {
    fileprivate func adding(_ milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(milliseconds)
        return Timestamp(millisecondsSince1970: overflow ? .max : sum)
    }
}
