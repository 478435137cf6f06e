import FoldbackUI
import Observation

/// The waits of a screen by name, with their cues.
@MainActor @Observable final class Waits {
    private var models: [String: ProgressModel] = [:]
    @ObservationIgnored var policy = ProgressPolicy()
    @ObservationIgnored private let sources: UISources
    @ObservationIgnored private let texts: ProgressTexts
    @ObservationIgnored private let hear: @MainActor (WireCue) -> Void
    @ObservationIgnored private var listening: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private var isMotionReduced = false

    /// - Parameter hear: gets each cue once.
    init(
        _ sources: UISources, _ texts: ProgressTexts, hear: @escaping @MainActor (WireCue) -> Void
    ) {
        (self.sources, self.texts, self.hear) = (sources, texts, hear)
    }

    /// All waits that a view shows.
    var shown: [String: WireWait] {
        models.compactMapValues { model in
            model.appearance.flatMap { WireWait($0, texts) }
        }
    }

    /// The appearances of all waits, for what they block.
    var appearances: [ProgressAppearance] { models.values.compactMap(\.appearance) }

    /// Starts a wait.
    func start(_ name: String, _ wait: Wait) -> ProgressModel {
        let model = models[name] ?? ProgressModel(policy: policy, sources: sources)
        add(model, name)
        model.start(wait)
        return model
    }

    /// Shows the waits of another model.
    func add(_ model: ProgressModel, _ name: String) {
        guard models[name] !== model else { return }
        model.handle(.reduceMotion(isMotionReduced))
        models[name] = model
        listening[name]?.cancel()
        listening[name] = Task { [hear, texts] in
            for await cue in model.cues { hear(WireCue(cue, of: name, texts)) }
        }
    }

    subscript(name: String) -> ProgressModel? { models[name] }

    func reduceMotion(_ isReduced: Bool) {
        isMotionReduced = isReduced
        for model in models.values { model.handle(.reduceMotion(isReduced)) }
    }
}

extension WireCue {
    /// - Parameter wait: the name of the wait whose indicator may get the focus.
    init(_ cue: Cue, of wait: String, _ texts: ProgressTexts) {
        switch cue {
        case .announce(let text, let politeness):
            self = .announce(texts.words(for: text), isAssertive: politeness == .assertive)
        case .moveFocus(.indicator), .restoreFocus(.indicator): self = .focus(wait: wait)
        case .moveFocus(.origin(let id)), .restoreFocus(.origin(let id)): self = .restore(id)
        case .moveFocus(.top), .restoreFocus(.top): self = .top
        }
    }
}
