import Foldback
import FoldbackExamples
import FoldbackUI

extension FeedScreen {
    /// Carries out what a page asks for. On return, it is durable, and a message shows it.
    ///
    /// - Parameter control: the id of the control that began it.
    /// - Returns: the number of the recorded intent; nil if there is none.
    func perform(
        _ command: ReplicaCommand, from control: String?
    ) async throws -> IntentNumber? {
        let initiator = Initiator.user(origin: control)
        defer {
            followDrafts(by: initiator)
            show()
        }
        switch command {
        case .like(let post):
            return try await toggle(.liked(post: post), back: .unliked(post: post), initiator)
        case .unlike(let post):
            return try await toggle(.unliked(post: post), back: .liked(post: post), initiator)
        case .delete(let post): return try await perform(.deleted(post: post), initiator)
        case .comment(let post, let text):
            return try await comment(try checked(text), on: post, initiator)
        case .post(let text): return try await perform(.posted(try checked(text)), initiator)
        case .follow(let name):
            return try await toggle(.followed(name), back: .unfollowed(name), initiator)
        case .unfollow(let name):
            return try await toggle(.unfollowed(name), back: .followed(name), initiator)
        case .boost(let post): return try await boost(post, initiator)
        case .retry(let number): return try await retry(number, initiator)
        case .dismiss(let number):
            try await model.dismiss(number)
            endBoost(number)
        case .withdraw(let number): try await model.withdraw(number)
        case .undo: announce("Undone", try await undo.undo())
        case .redo: announce("Redone", try await undo.redo())
        case .open(let post): try await open(post, initiator)
        case .upload(let text): return try await post(photo: try checked(text), initiator)
        case .load: await load(by: initiator)
        case .extend(let edge): try extend(edge)
        case .wait(let name, let action): try await act(action, on: name, initiator)
        case .motion(let isReduced): waits.reduceMotion(isReduced)
        case .signIn: signIn(initiator)
        case .signOut: setSignedIn(false)
        case .chart: loadChart(initiator)
        }
        return nil
    }

    func perform(
        _ action: FeedAction, _ initiator: Initiator, held: Bool = false
    ) async throws(CommandError) -> IntentNumber {
        try await undo.perform(
            FeedEvent(by: user, did: action), named: action.name, from: initiator, held: held
        ).number
    }

    /// Records an action, or takes the opposite action back if that was not sent. So quick presses of
    /// a toggle leave one intent or none.
    private func toggle(
        _ action: FeedAction, back opposite: FeedAction, _ initiator: Initiator
    ) async throws(CommandError) -> IntentNumber? {
        let last = replica.store.overlay.last {
            $0.event?.did == action || $0.event?.did == opposite
        }
        if let last, last.event?.did == opposite,
            (try? await model.withdraw(last.number)) != nil
        {
            return nil
        }
        return try await perform(action, initiator)
    }

    private func comment(
        _ text: String, on post: String, _ initiator: Initiator
    ) async throws(CommandError) -> IntentNumber {
        let event = FeedEvent(by: user, did: .commented(post: post, text: text))
        return try await model.perform(event, from: initiator).number
    }

    private func announce(_ what: String, _ action: String?) {
        if let action { tell("\(what): \(action)", isAssertive: false) }
    }

    private func extend(_ edge: ListEdge) throws(Refusal) {
        guard let archive else {
            throw Refusal(.conflict, "the feed has no more posts")
        }
        archive.pages.extend(edge)
    }

    /// Carries out an action of a wait.
    private func act(
        _ action: WaitAction, on name: String, _ initiator: Initiator
    ) async throws {
        guard let offered = waits.actions(of: name) else { throw Self.noWait(name) }
        guard offered.contains(action) else {
            throw Refusal(.conflict, "the wait \"\(name)\" does not offer \(caseName(action)) now")
        }
        if let post = name.split(separator: ":").dropFirst().first.map(String.init) {
            if name.hasPrefix("boost:") {
                return try await act(action, onBoostOf: post, initiator)
            }
            try Self.known(opened[post], name).perform(action)
            if action == .cancel { await close(post) }
            return
        }
        switch (name, action) {
        case ("feed", .restart): await load(by: initiator)
        case ("feed", _): try Self.known(feed, name).perform(action)
        case ("chart", _): try Self.known(chart, name).perform(action)
        case ("signIn", _): try Self.known(signIn, name).perform(action)
        case ("upload", _): act(action, onUpload: try Self.known(upload, name), initiator)
        default: throw Self.noWait(name)
        }
    }

    static func noWait(_ name: String) -> Refusal {
        Refusal(.conflict, "the wait \"\(name)\" does not exist")
    }

    private static func known<Model>(_ model: Model?, _ name: String) throws(Refusal)
        -> Model
    {
        guard let model else { throw noWait(name) }
        return model
    }
}
