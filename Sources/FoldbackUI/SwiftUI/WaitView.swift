#if canImport(SwiftUI)
    import SwiftUI

    /// Draws a parallel wait: the indicator, the text, and buttons for what a person can do.
    ///
    /// ```swift
    /// ChartCard(points)
    /// WaitView(chart.progress)
    /// ```
    ///
    /// Put it beside the content that it belongs to. It has no height while there is nothing to
    /// show. For an obstructive wait, use `waiting(_:focus:texts:perform:)`.
    public struct WaitView: View {
        private let progress: ProgressModel
        private let texts: ProgressTexts
        private let perform: (WaitAction) -> Void

        /// - Parameters:
        ///   - progress: the model of the wait.
        ///   - texts: the words for its texts.
        ///   - perform: what to do when a button is pressed; nil for what the wait itself does
        ///     (``ProgressModel/press(_:)``).
        public init(
            _ progress: ProgressModel, texts: ProgressTexts = .english,
            perform: ((WaitAction) -> Void)? = nil
        ) {
            self.progress = progress
            self.texts = texts
            self.perform = perform ?? progress.press
        }

        public var body: some View {
            VStack {
                if let wait = progress.appearance {
                    WaitDescription(wait: wait, texts: texts)
                    WaitButtons(actions: wait.actions, perform: perform)
                }
            }
            .reducesMotion(of: progress)
        }
    }

    extension View {
        /// Covers the view during an obstructive wait, and disables it from the wait's start to its
        /// end (U16). After a failure, the error is below the view, which can be used again.
        ///
        /// ```swift
        /// SignInForm()
        ///     .waiting(signIn, focus: $focus)
        ///     .cues(signIn.cues, focus: $focus)
        /// ```
        ///
        /// Attach it to the view of the wait's scope. The error stays until the model starts a wait
        /// or finishes.
        ///
        /// - Parameters:
        ///   - progress: the model of the wait.
        ///   - focus: where the focus of assistive technology is. A cue moves it to the overlay.
        ///   - texts: the words for the wait's texts.
        ///   - perform: what to do when a button is pressed; nil for what the wait itself does
        ///     (``ProgressModel/press(_:)``).
        public func waiting(
            _ progress: ProgressModel, focus: AccessibilityFocusState<FocusTarget?>.Binding,
            texts: ProgressTexts = .english, perform: ((WaitAction) -> Void)? = nil
        ) -> some View {
            let perform = perform ?? progress.press
            return disabled(progress.appearance?.isBlocking ?? false)
                .overlay {
                    if let wait = progress.appearance, wait.isOverlayVisible {
                        VStack {
                            WaitDescription(wait: wait, texts: texts)
                                .accessibilityElement(children: .combine)
                                .accessibilityFocused(focus, equals: .indicator)
                            WaitButtons(actions: wait.actions, perform: perform)
                        }
                        .padding()
                        .background(.regularMaterial, in: RoundedRectangle(cornerRadius: 12))
                        .accessibilityElement(children: .contain)
                        .accessibilityAddTraits(.isModal)
                    }
                }
                .safeAreaInset(edge: .bottom, spacing: 0) {
                    if let wait = progress.appearance, case .ended(.failed) = wait.phase {
                        VStack {
                            WaitDescription(wait: wait, texts: texts)
                            WaitButtons(actions: wait.actions, perform: perform)
                        }
                        .padding()
                        .accessibilityElement(children: .contain)
                    }
                }
                .reducesMotion(of: progress)
        }

        /// Tells the model the person's setting for motion, now and when it changes (U17).
        fileprivate func reducesMotion(of progress: ProgressModel) -> some View {
            modifier(MotionSetting(progress: progress))
        }
    }

    private struct MotionSetting: ViewModifier {
        let progress: ProgressModel
        @Environment(\.accessibilityReduceMotion) private var isMotionReduced

        /// A view that stays may get another model, which does not know the setting.
        private struct Change: Equatable {
            let model: ObjectIdentifier
            let isReduced: Bool
        }

        private var change: Change {
            Change(model: ObjectIdentifier(progress), isReduced: isMotionReduced)
        }

        func body(content: Content) -> some View {
            content.onChange(of: change, initial: true) { _, change in
                progress.handle(.reduceMotion(change.isReduced))
            }
        }
    }

    /// The indicator and the text.
    private struct WaitDescription: View {
        let wait: ProgressAppearance
        let texts: ProgressTexts

        var body: some View {
            VStack {
                if let label = wait.wait.accessibilityLabel {
                    indicator.accessibilityLabel(Text(label))
                } else {
                    indicator
                }
                if let text = wait.text { Text(texts.words(for: text)) }
            }
        }

        @ViewBuilder private var indicator: some View {
            switch wait.indicator {
            case .spinner: ProgressView(value: wait.fraction).progressViewStyle(.circular)
            case .bar: ProgressView(value: wait.fraction).progressViewStyle(.linear)
            case .text, nil: EmptyView()
            }
        }
    }

    private struct WaitButtons: View {
        let actions: Set<WaitAction>
        let perform: (WaitAction) -> Void

        var body: some View {
            ForEach(WaitAction.allCases.filter(actions.contains), id: \.self) { action in
                Button(action.title) { perform(action) }
            }
        }
    }

    extension WaitAction {
        /// A key of the app's strings.
        fileprivate var title: LocalizedStringKey {
            switch self {
            case .cancel: "Cancel"
            case .continueInBackground: "Continue in Background"
            case .restart: "Try Again"
            }
        }
    }
#endif
