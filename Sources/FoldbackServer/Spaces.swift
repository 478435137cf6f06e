import Foldback
import FoldbackSync

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The spaces of a server, each with a folder of its own. They are opened when they are used.
///
/// ```swift
/// let spaces = Spaces(in: directory, rules: FeedRules())
/// let authority = spaces.authority(for: account, in: space)
/// ```
/// At most 256 are open at once: to open another one, the one that was used least recently is closed. A
/// waiting long poll keeps no space open. A space whose log failed is closed, and opened again when it is
/// used next.
///
/// Each open space has one thread. The article Benchmarks of Foldback has what 256 of them cost.
public actor Spaces<R: Rules> {
    private final class Slot {
        let opening: Task<Result<Space<R>, AuthorityFailure>, Never>
        /// The open space; nil before it is open.
        var space: Space<R>?
        /// The calls that use the space now.
        var userCount = 0
        /// The count of all uses when it was used last.
        var lastUse = 0
        /// Closes the space; nil while it may be used.
        var closing: Task<Void, Never>?

        init(_ opening: Task<Result<Space<R>, AuthorityFailure>, Never>) { self.opening = opening }
    }

    /// The bell of a space, which outlives the open space: a closed space changes for nobody.
    private struct Bell {
        let signal = Signal()
        var waitingCount = 0
        /// The head of the space when it was closed.
        var head: Position = 0
    }

    nonisolated let rules: R
    nonisolated let sources: SyncSources
    private let directory: URL
    private let openMax: Int
    private let isAdopting: Bool
    private let table: (any DecisionTable)?
    private let log: LogSources
    private var slots: [SpaceName: Slot] = [:]
    /// Spaces that are on their way to be closed.
    private var closing: [SpaceName: Slot] = [:]
    /// Spaces that could not be opened, and when the next attempt may begin.
    private var refused: [SpaceName: (reason: String, until: Timestamp)] = [:]
    private var bells: [SpaceName: Bell] = [:]
    private var useCount = 0
    private var isClosed = false
    /// Brings open spaces up to date when the table has more; nil before the first space is used.
    private var following: Task<Void, Never>?

    /// - Parameters:
    ///   - directory: the file URL of the folder that has a folder for each space.
    ///   - rules: the app's decisions, for all spaces.
    ///   - openMax: the most spaces that are open at once, from 1.
    ///   - isAdopting: as for ``Space/open(at:named:rules:adopting:sources:log:)``, for all spaces.
    ///   - table: the decisions of all servers that share the spaces; nil if the logs in `directory` have
    ///     them. With a table, those logs are copies; see
    ///     ``Space/open(at:named:rules:over:sources:log:)``.
    ///   - sources: the source of time for decisions and long polls.
    ///   - log: the source of time and of fresh replica ids for the logs.
    public init(
        in directory: URL, rules: R, openMax: Int = 256, adopting isAdopting: Bool = false,
        over table: (any DecisionTable)? = nil,
        sources: SyncSources = .system,
        log: LogSources = .system
    ) {
        precondition(openMax >= 1, "openMax must be at least 1, not \(openMax)")
        self.directory = directory
        self.rules = rules
        self.openMax = openMax
        self.isAdopting = isAdopting
        self.table = table
        self.sources = sources
        self.log = log
    }

    /// Returns the authority that one user's devices use for a space.
    ///
    /// It asks ``Rules/access(of:to:)`` at each call, and opens or creates the space only after that.
    public nonisolated func authority(
        for account: Account, in space: SpaceName
    ) -> SpaceAuthority<R> {
        SpaceAuthority(account: account, of: NamedSpace(spaces: self, name: space))
    }

    /// Calls `body` with a space, which stays open meanwhile. It is created if it does not exist, and
    /// nobody is asked for access.
    ///
    /// - Throws: the errors of `body`; `.unavailable` if the space cannot be opened, if all spaces that may
    ///   be open are in use, or after ``close()``.
    public func using<T: Sendable>(
        _ name: SpaceName,
        _ body: @Sendable (Space<R>) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T {
        guard !isClosed else {
            throw .unavailable(after: .seconds(1), reason: "the server is closing")
        }
        let slot = try slot(name)
        useCount += 1
        slot.lastUse = useCount
        slot.userCount += 1
        defer { slot.userCount -= 1 }
        switch await slot.opening.value {
        case .success(let space):
            slot.space = space
            refused[name] = nil
            defer { if space.mustReopen { close(name, slot) } }
            return try await body(space)
        case .failure(let failure):
            close(name, slot)
            guard case .unavailable(_, let reason) = failure else { throw failure }
            refused[name] = (reason, sources.now().advanced(by: SpaceLimits.refusal))
            throw .unavailable(after: SpaceLimits.refusal, reason: reason)
        }
    }

    /// Returns what an operator needs to know of the spaces now.
    ///
    /// A space that could not be opened is tried again beside, if its next attempt may begin. So what an
    /// operator has put right is seen without a device that uses the space.
    public func status() -> SpacesStatus {
        var faults = refused.mapValues(\.reason)
        let now = sources.now()
        for (name, refusal) in refused where refusal.until <= now && !isClosed {
            Task { try? await using(name) { _ in } }
        }
        for (name, slot) in slots {
            let health = slot.space?.health.withLock { $0 }
            let trouble = health?.trouble ?? health?.appendTrouble
            if let reason = slot.space?.fault ?? trouble { faults[name] = reason }
        }
        return SpacesStatus(openCount: slots.count, faults: faults)
    }

    /// Closes all spaces. Calls that wait for an event or for their turn end.
    public func close() async {
        isClosed = true
        following?.cancel()
        for bell in bells.values { bell.signal.ring() }
        for (name, slot) in slots { close(name, slot, forAll: true) }
        while let next = closing.values.first { await next.closing?.value }
    }

    // MARK: Slots

    private func slot(_ name: SpaceName) throws(AuthorityFailure) -> Slot {
        if let slot = slots[name] { return slot }
        if let refusal = refused[name] {
            let left = refusal.until.duration(since: sources.now())
            guard left == .zero else {
                throw .unavailable(after: left, reason: refusal.reason)
            }
        }
        var evicted: Task<Void, Never>?
        if slots.count >= openMax {
            let unused = slots.filter { $0.value.userCount == 0 }
                .min { $0.value.lastUse < $1.value.lastUse }
            guard let unused else {
                throw .unavailable(
                    after: .seconds(1), reason: "all \(openMax) spaces that may be open are in use")
            }
            evicted = close(unused.key, unused.value)
        }
        follow()
        let before = closing[name]?.closing
        let bell = bells[name, default: Bell()]
        bells[name] = bell
        let slot = Slot(
            Task {
                await before?.value
                await evicted?.value
                do throws(AuthorityFailure) {
                    return .success(try await open(name, ringing: bell.signal))
                } catch { return .failure(error) }
            })
        slots[name] = slot
        return slot
    }

    private nonisolated func open(
        _ name: SpaceName, ringing bell: Signal
    ) async throws(AuthorityFailure) -> Space<R> {
        let place = directory.appending(path: name.folder, directoryHint: .isDirectory)
        if let table {
            return try await Space.open(
                at: place, named: name, rules: rules, over: table, sources: sources, log: log,
                ringing: bell)
        }
        do throws(LogError) {
            return try await Space.open(
                at: place, named: name, rules: rules, adopting: isAdopting, sources: sources,
                log: log, ringing: bell)
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
    }

    /// Closes a space.
    ///
    /// - Parameter isForAll: whether those who wait for an event wake up. If the space is only unused,
    ///   nothing has changed for them.
    /// - Returns: the task that closes it; nil if the slot is closed already.
    @discardableResult
    private func close(
        _ name: SpaceName, _ slot: Slot, forAll isForAll: Bool = false
    ) -> Task<Void, Never>? {
        guard slots[name] === slot else { return nil }
        slots[name] = nil
        bells[name]?.head = slot.space?.head ?? 0
        removeUnused(name)
        closing[name] = slot
        slot.closing = Task {
            if case .success(let space) = await slot.opening.value {
                if isForAll { await space.close() } else { await space.closeLog() }
            }
            if closing[name] === slot { closing[name] = nil }
        }
        return slot.closing
    }

    // MARK: The table

    private func follow() {
        guard let table, following == nil else { return }
        let hints = table.hints(past: { [weak self] in await self?.heads ?? [:] })
        following = Task { [weak self] in
            for await name in hints {
                guard let self else { return }
                await take(name)
            }
        }
    }

    /// The heads of the spaces that are open, and of those that polls wait for.
    private var heads: [SpaceName: Position] {
        var heads = bells.filter { $0.value.waitingCount > 0 }.mapValues(\.head)
        for (name, slot) in slots { heads[name] = slot.space?.head }
        return heads
    }

    /// - Parameter hint: the space to which others may have appended; nil for every space that is open.
    private func take(_ hint: SpaceName?) {
        for (name, slot) in slots where hint == nil || hint == name {
            guard let space = slot.space else { continue }
            slot.userCount += 1
            Task {
                await space.followHint()
                slot.userCount -= 1
                if space.mustReopen { close(name, slot) }
            }
        }
        // Those who wait for a space that is not open open it.
        if let hint, slots[hint] == nil { bells[hint]?.signal.ring() }
    }

    // MARK: Bells

    fileprivate func listening<T: Sendable>(
        to name: SpaceName, _ body: @Sendable (Signal) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T {
        var bell = bells[name, default: Bell()]
        bell.waitingCount += 1
        bells[name] = bell
        defer {
            bells[name]?.waitingCount -= 1
            removeUnused(name)
        }
        return try await body(bell.signal)
    }

    private func removeUnused(_ name: SpaceName) {
        if slots[name] == nil, bells[name]?.waitingCount == 0 { bells[name] = nil }
    }
}

/// How the spaces of a server are.
public struct SpacesStatus: Hashable, Sendable {
    /// The spaces that are open.
    public let openCount: Int
    /// The spaces that decide nothing, each with the reason (N9): those that are open with a fault, those
    /// whose table could not be read, or took no group, when it was used last, and those that could not be
    /// opened when they were used last.
    public let faults: [SpaceName: String]
}

/// One of a server's spaces.
private struct NamedSpace<R: Rules>: SpaceHost {
    let spaces: Spaces<R>
    let name: SpaceName

    var rules: R { spaces.rules }
    var sources: SyncSources { spaces.sources }

    func using<T: Sendable>(
        _ body: @Sendable (Space<R>) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T { try await spaces.using(name, body) }

    func listening<T: Sendable>(
        _ body: @Sendable (Signal) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T {
        try await spaces.listening(to: name, body)
    }
}
