import Foldback
import FoldbackExamples
import FoldbackUI

/// Makes messages of rows and marks, for one user.
struct RowWriter {
    let user: String
    /// Why nothing is sent.
    let pause: WaitCause?
    /// The draft whose photo is being sent.
    let sending: IntentNumber?
    /// The drafts whose photos were not sent, with the reasons.
    let unsent: [IntentNumber: UnsentPhoto]
    /// What an intent does, in one word.
    let what: (IntentNumber) -> String

    func row(_ row: FeedSnapshot.Row) -> WireRow {
        let id = row.id.wireID
        guard let item = row.content else {
            let isItem = row.id == .item(id)
            return WireRow(
                id: id, kind: isItem ? "post" : "placeholder", post: isItem ? id : nil,
                loaded: false, state: "placeholder", ghost: false, marks: marks(row.status))
        }
        let isPost = item.kind == .post
        return WireRow(
            id: id, kind: item.kind.rawValue, post: item.post, by: item.by, text: item.text,
            likes: isPost ? item.likers.count : nil,
            liked: isPost ? item.likers.contains(user) : nil, likers: isPost ? item.likers : nil,
            comments: isPost ? item.commentCount : nil, reach: isPost ? item.reach : nil,
            photo: item.photo, loaded: true, mine: item.by == user,
            state: state(row.status), ghost: row.isGhost,
            marks: marks(row.status, isGone: item.isGone))
    }

    func person(isFollowed: Bool, _ status: ItemStatus) -> WirePerson {
        WirePerson(followed: isFollowed, state: state(status), marks: marks(status))
    }

    private func state(_ status: ItemStatus) -> String {
        status.worst.map(caseName) ?? "settled"
    }

    /// - Parameter isGone: whether the post is deleted, so that only a retry of a restoration can
    ///   succeed.
    private func marks(_ status: ItemStatus, isGone: Bool = false) -> [WireMark] {
        status.marks.map { mark in
            var actions = mark.actions
            if unsent[mark.number] != nil { actions.insert(.retry) }
            let what = what(mark.number)
            if isGone, what != "restore" { actions.remove(.retry) }
            return WireMark(
                number: mark.number.value, what: what, state: caseName(mark.state),
                text: text(mark), reason: mark.state.reason, attempts: mark.attempt?.count ?? 0,
                actions: MarkAction.allCases.filter(actions.contains).map(caseName))
        }
    }

    private func text(_ mark: IntentMark) -> String {
        switch mark.state {
        case .accepted: return "Accepted by the server"
        case .conflicted(let reason): return "Does not fit any more: \(reason)"
        case .rejected(let rejection): return rejection.message
        case .pending: break
        }
        if mark.isHeld {
            if let photo = unsent[mark.number] { return "The photo is not sent: \(photo.reason)" }
            return sending == mark.number ? "Sending the photo" : "Waiting to send the photo"
        }
        switch pause {
        case .offline: return "Waiting for the network"
        case .signedOut: return "Waiting until you sign in"
        case .failing(let reason): return "Trying again: \(reason)"
        case .serverBusy: return "Waiting for the server"
        case .unknown, .slow, nil: break
        }
        guard let attempt = mark.attempt else { return "Not sent yet" }
        if let failure = attempt.failure { return "Trying again: \(failure.reason)" }
        return attempt.count > 1 ? "Sending, attempt \(attempt.count)" : "Sending"
    }
}

extension MarkState {
    fileprivate var reason: String? {
        switch self {
        case .accepted, .pending: nil
        case .conflicted(let reason): reason
        case .rejected(let rejection): rejection.message
        }
    }
}
