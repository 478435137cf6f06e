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
            let event = FeedEvent(by: user, did: .commented(post: post, text: try checked(text)))
            return try await model.perform(event, from: initiator).number
        case .post(let text): return try await perform(.posted(try checked(text)), initiator)
        case .follow(let name):
            return try await toggle(.followed(name), back: .unfollowed(name), initiator)
        case .unfollow(let name):
            return try await toggle(.unfollowed(name), back: .followed(name), initiator)
        case .boost(let post): return try await boost(post, initiator)
        case .retry(let number): return try await retry(number)
        case .dismiss(let number):
            try await model.dismiss(number)
            boost(of: number)?.value.progress.finish()
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

    private func announce(_ what: String, _ action: String?) {
        if let action { tell("\(what): \(action)", isAssertive: false) }
    }

    private func extend(_ edge: ListEdge) throws(Refusal) {
        guard let archive else { throw Refusal(.conflict, "the feed has no more posts") }
        archive.pages.extend(edge)
    }

    /// Carries out an action of a wait.
    private func act(
        _ action: WaitAction, on name: String, _ initiator: Initiator
    ) async throws {
        guard let progress = waits[name], let offered = progress.appearance?.actions else {
            throw Refusal(.conflict, "the wait \"\(name)\" does not exist")
        }
        guard offered.contains(action) else {
            throw Refusal(
                .conflict, "the wait \"\(name)\" does not offer \(caseName(action)) now")
        }
        // The name may end with the id of a post.
        let parts = name.split(separator: ":").map(String.init)
        switch (parts[0], action) {
        case ("feed", .restart): await load(by: initiator)
        case ("upload", .restart) where upload?.isOver ?? false: sendPhotoAgain(initiator)
        case ("boost", .restart): _ = try await restartBoost(of: parts[1])
        default:
            await progress.perform(action)
            if parts[0] == "open", action == .cancel { await close(parts[1]) }
        }
    }
}
