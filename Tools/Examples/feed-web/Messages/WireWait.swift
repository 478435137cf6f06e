import FoldbackUI

/// A wait as a page shows it.
struct WireWait: Encodable, Equatable, Sendable {
    let phase: String
    /// `spinner`, `bar`, or `text`, which is the text of the wait.
    let indicator: String?
    /// The part of the bar that is full.
    let fraction: Double?
    let text: String?
    let remaining: String?
    let actions: [String]
    /// Whether the overlay of an obstructive wait is shown.
    let overlay: Bool
    let busy: Bool
    /// What a person can do about a wait that has stalled or failed.
    let recovery: String?
}

extension WireWait {
    /// Nil if the view does not show the wait any more.
    init?(_ shown: ProgressAppearance, _ texts: ProgressTexts) {
        let words = shown.text.map(texts.words)
        switch shown.phase {
        case .busy, .waiting, .long: (busy, recovery) = (true, nil)
        case .stalled, .ended(.failed): (busy, recovery) = (false, words)
        case .ended where shown.indicator == nil: return nil
        case .instant, .ended: (busy, recovery) = (false, nil)
        }
        phase = caseName(shown.phase)
        indicator = shown.indicator.map(caseName)
        fraction = shown.indicator == .bar ? shown.fraction : nil
        text = words
        remaining = shown.remaining.map { "About \($0.words)" }
        actions = WaitAction.allCases.filter(shown.actions.contains).map(caseName)
        overlay = shown.isOverlayVisible
    }
}

extension Duration {
    /// Whole seconds or minutes: the estimate is rounded already.
    fileprivate var words: String {
        let seconds = components.seconds
        let (count, unit) =
            seconds < 120 && seconds % 60 != 0
            ? (seconds, "second") : (seconds / 60, "minute")
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
