import FoldbackUI

/// All that a page shows at one moment.
struct ScreenContent: Equatable, Sendable {
    var list = FeedSnapshot()
    /// The rows of the list as messages have them.
    var rows: [WireRow] = []
    var feed: WireFeed
    var waits: [String: WireWait]
    var blocked: [String]
    var people: [String: WirePerson]
    var known: [WireKnownPost]
    var chart: WireChart?
    var signedIn: Bool
    var account: WireAccount
    var stage: WireStage
}

extension Message {
    /// The whole content.
    init(_ content: ScreenContent) {
        reset = true
        rows = content.rows
        feed = content.feed
        waits = content.waits
        blocked = content.blocked
        people = content.people
        known = content.known
        chart = .some(content.chart)
        signedIn = content.signedIn
        account = content.account
        stage = content.stage
    }

    /// What has changed.
    init(from old: ScreenContent, to new: ScreenContent, _ cues: [WireCue]) {
        let difference = new.list.difference(from: old.list)
        let steps = ScreenContent.steps(difference, from: old.rows, to: new.rows)
        self.steps = steps.isEmpty ? nil : steps
        let pairs = difference.replacements.map { pair in
            WireReplacement(
                old: old.rows[pair.deletion.row].id, new: new.rows[pair.insertion.row].id)
        }
        replacements = pairs.isEmpty ? nil : pairs
        if new.feed != old.feed { feed = new.feed }
        if new.waits != old.waits { waits = new.waits }
        if new.blocked != old.blocked { blocked = new.blocked }
        if new.people != old.people { people = new.people }
        if new.known != old.known { known = new.known }
        if new.chart != old.chart { chart = .some(new.chart) }
        if new.signedIn != old.signedIn { signedIn = new.signedIn }
        if new.account != old.account { account = new.account }
        if new.stage != old.stage { stage = new.stage }
        self.cues = cues.isEmpty ? nil : cues
    }
}

extension ScreenContent {
    /// The edits of the rows. The list has one section.
    ///
    /// The changes are those of the messages' rows, because a mark's text also depends on the
    /// network.
    fileprivate static func steps(
        _ difference: ListDifference<String, FeedItem>, from old: [WireRow], to new: [WireRow]
    ) -> [WireStep] {
        let before = Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0) })
        let after = Dictionary(uniqueKeysWithValues: new.map { ($0.id, $0) })
        var steps: [WireStep] = difference.steps.compactMap { step in
            switch step {
            case .insertRow(let row, let place):
                after[row.id.wireID].map { .insert(place.row, $0) }
            case .deleteRow(_, let place): .delete(place.row)
            case .moveRow(_, let from, let to): .move(from.row, to: to.row)
            case .changeRow, .insertSection, .moveSection, .deleteSection: nil
            }
        }
        for (index, row) in new.enumerated() {
            if let last = before[row.id], last != row { steps.append(.change(index, row)) }
        }
        return steps
    }
}

extension FeedSnapshot.RowID {
    /// The id of the row in messages.
    var wireID: String {
        switch self {
        case .item(let id): id
        case .placeholder(_, let edge, let slot): "placeholder-\(edge)-\(slot)"
        }
    }
}
