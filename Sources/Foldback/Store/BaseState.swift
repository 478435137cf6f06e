/// The state or rows of one projection, as another place than a log has them: a server, or a database
/// that the app used before.
///
/// ```swift
/// let rows = try BaseState.rows(of: Inbox.self) { rows in
///     for message in old.messages { try rows.insert(message, at: message.id, in: Inbox.messages) }
/// }
/// try await Store<Likes>.begin(at: directory, from: [.value(likes), rows], through: 812, of: lineage)
/// ```
public struct BaseState<Event: Sendable>: Sendable {
    let projection: AdditionalProjection<Event>
    /// Encodes it for the log at a path.
    let section: @Sendable (String) throws(LogError) -> ProjectionSection

    /// The confirmed state of a projection whose state is a value.
    public static func value<P: Projection>(_ state: P) -> Self where P.Event == Event {
        Self(
            projection: AdditionalProjection(P.self),
            section: { path throws(LogError) in try state.baseSection(for: path) })
    }

    /// The confirmed rows of a stored projection.
    ///
    /// - Parameters:
    ///   - projection: the stored projection.
    ///   - write: writes the rows. Indexes follow. All rows are in memory until the log has them.
    /// - Throws: the errors of `write`.
    public static func rows<P: StoredProjection>(
        of projection: P.Type, _ write: (inout TouchedRows) throws -> Void
    ) throws -> Self where P.Event == Event {
        var rows = RowsInMemory<P>()
        try rows.change(write)
        let all = rows
        return Self(
            projection: AdditionalProjection(P.self),
            section: { path throws(LogError) in try all.baseSection(for: path) })
    }
}

extension Projection {
    /// Returns the section of a base with this state, after a look at what its codec makes of it (C7).
    ///
    /// - Throws: `.noCheckpoint`, `.notProven`.
    fileprivate func baseSection(for path: String) throws(LogError) -> ProjectionSection {
        let folded = FoldedState(
            view: self, confirmed: self,
            conflicted: Conflicts(NumberMap(), among: [Self.memberName], seenBy: 0), faults: [],
            counts: FoldCounts(), excerpt: StateExcerpt(Self.stateCodec))
        let section = try folded.checkpointSection()
        let comparison: Comparison
        do { comparison = try folded.compared(with: section) } catch {
            throw .notProven(
                path: path, reason: "the state of \(Self.identity) cannot be decoded: \(error)")
        }
        switch comparison {
        case .same: return section
        case .different:
            throw .notProven(
                path: path, reason: "the codec of \(Self.identity) does not keep the whole state")
        case .unknown:
            throw .notProven(
                path: path,
                reason: "the state of \(Self.identity) cannot be compared; make it Equatable")
        }
    }
}

extension AnyFoldedState {
    /// Returns the section for a checkpoint or a base.
    ///
    /// - Throws: `.noCheckpoint`.
    func checkpointSection() throws(LogError) -> ProjectionSection {
        guard isEncodable else {
            throw .noCheckpoint(
                reason: "\(identity) has no state codec; make the projection Codable")
        }
        do { return try section() } catch {
            throw .noCheckpoint(
                reason: "the state of \(identity) cannot be encoded: \(error)")
        }
    }
}
