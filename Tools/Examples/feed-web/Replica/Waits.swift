import FoldbackUI
import Observation

/// The waits of a screen by name, with their cues.
@MainActor @Observable final class Waits {
    private var models: [String: ProgressModel] = [:]
    @ObservationIgnored var policy = ProgressPolicy()
    @ObservationIgnored private let texts = ProgressTexts.english
    /// Gets each cue once.
    @ObservationIgnored var hear: @MainActor (WireCue) -> Void = { _ in }
    @ObservationIgnored private var isMotionReduced = false

    /// All waits that a view shows.
    var shown: [String: WireWait] {
        models.compactMapValues { model in
            model.appearance.flatMap { WireWait($0, texts) }
        }
    }

    /// The appearances of all waits, for what they block.
    var appearances: [ProgressAppearance] { models.values.compactMap(\.appearance) }

    subscript(name: String) -> ProgressModel? { models[name] }

    /// Shows the waits of another model.
    func add(_ model: ProgressModel, _ name: String) {
        guard models[name] !== model else { return }
        model.handle(.reduceMotion(isMotionReduced))
        models = models.filter { $0.value.isVisible }
        models[name] = model
        // Ends with the model.
        Task { [weak self, texts, cues = model.cues] in
            for await cue in cues {
                if let cue = WireCue(cue, of: name, texts) { self?.hear(cue) }
            }
        }
    }

    /// The names of the waits that have not ended.
    var running: [String] { models.filter(\.value.isRunning).map(\.key) }

    func reduceMotion(_ isReduced: Bool) {
        isMotionReduced = isReduced
        for model in models.values { model.handle(.reduceMotion(isReduced)) }
    }
}

extension ProgressModel {
    var isRunning: Bool {
        if case .ended? = appearance?.phase { false } else { appearance != nil }
    }

    var hasFailed: Bool { if case .ended(.failed)? = appearance?.phase { true } else { false } }

    /// Whether a view shows the wait or its end.
    fileprivate var isVisible: Bool {
        appearance.flatMap { WireWait($0, .english) } != nil
    }
}

extension WireCue {
    /// Nil if the browser does it: a dialog that closes gives the focus back.
    ///
    /// - Parameter wait: the name of the wait whose indicator may get the focus.
    init?(_ cue: Cue, of wait: String, _ texts: ProgressTexts) {
        switch cue {
        case .announce(let text, let politeness):
            self.init(announce: texts.words(for: text), assertive: politeness == .assertive)
        case .moveFocus(.indicator), .restoreFocus(.indicator): self.init(focus: wait)
        case .moveFocus(.origin(let id)), .restoreFocus(.origin(let id)): self.init(restore: id)
        case .moveFocus(.previous), .restoreFocus(.previous): return nil
        case .moveFocus(.top), .restoreFocus(.top): self.init(top: true)
        }
    }
}
