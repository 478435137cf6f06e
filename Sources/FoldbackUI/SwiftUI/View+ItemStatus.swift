#if canImport(SwiftUI)
    import SwiftUI

    extension View {
        /// Adds a badge that shows and says the item's worst mark; nothing if it has none.
        ///
        /// ```swift
        /// PostRow(post).itemStatus(model.status(of: post.id))
        /// ```
        ///
        /// What a person can do about the marks is in ``IntentMark/actions``. The app draws the
        /// buttons.
        ///
        /// The badge of a new mark appears after `delay`, so that nothing flickers at work that is
        /// answered at once. A badge goes away without delay, and one that is there when the view
        /// appears is drawn at once.
        ///
        /// - Parameters:
        ///   - status: the status of the item.
        ///   - delay: the time from the mark to its badge.
        ///   - words: returns the app's words for a state, for example localized; nil for English.
        public func itemStatus(
            _ status: ItemStatus, after delay: Duration = ProgressPolicy().busyAfter,
            words: (MarkState) -> String? = { _ in nil }
        ) -> some View {
            let badge = status.worst.map { (symbol: $0.symbol, words: words($0) ?? $0.english) }
            // The animation waits, so the view needs no state and no timer.
            let appearance = Animation.linear(duration: 0.05).delay(delay / .seconds(1))
            return overlay(alignment: .topTrailing) {
                if let badge {
                    Image(systemName: badge.symbol).accessibilityLabel(Text(badge.words))
                        .transition(
                            .asymmetric(
                                insertion: .opacity.animation(appearance), removal: .identity))
                }
            }
        }
    }

    extension MarkState {
        fileprivate var symbol: String {
            switch self {
            case .accepted: "checkmark.circle"
            case .pending: "clock"
            case .conflicted: "exclamationmark.triangle"
            case .rejected: "xmark.octagon"
            }
        }

        fileprivate var english: String {
            switch self {
            case .accepted: "Sent"
            case .pending: "Not sent yet"
            case .conflicted(let reason): "Not possible now: \(reason)"
            case .rejected(let rejection): "Refused: \(rejection.message)"
            }
        }
    }
#endif
