#if canImport(SwiftUI)
    import SwiftUI

    extension View {
        /// Announces and focuses what the cues say, each once, while the view exists.
        ///
        /// ```swift
        /// @AccessibilityFocusState private var focus: FocusTarget?
        ///
        /// Button("Follow") { follow() }
        ///     .accessibilityFocused($focus, equals: .origin("follow"))
        /// List { … }.cues(model.cues, focus: $focus)
        /// ```
        ///
        /// Use it at the root of a screen, and of each sheet. The view that appeared last reads the
        /// cues that several views share, and the view before it goes on when it has disappeared.
        ///
        /// - Parameters:
        ///   - cues: the cues of a model, or those that several models share.
        ///   - focus: where the focus of assistive technology is. Controls that begin waits have
        ///     the value `.origin(name)`, and the first element of the screen `.top`.
        ///   - texts: the words for announcements.
        public func cues(
            _ cues: Cues, focus: AccessibilityFocusState<FocusTarget?>.Binding,
            texts: ProgressTexts = .english
        ) -> some View {
            task(id: ObjectIdentifier(cues)) {
                for await cue in cues {
                    switch cue {
                    case .announce(let text, let politeness):
                        var words = AttributedString(texts.words(for: text))
                        words.accessibilitySpeechAnnouncementPriority =
                            switch politeness {
                            case .polite: .low
                            case .assertive: .high
                            }
                        AccessibilityNotification.Announcement(words).post()
                    case .moveFocus, .restoreFocus:
                        focus.wrappedValue = cues.focus(for: cue, from: focus.wrappedValue)
                    }
                }
            }
        }
    }
#endif
