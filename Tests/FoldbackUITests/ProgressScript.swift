import FoldbackUI

extension Moment {
    /// The moment this many milliseconds after the clock's start.
    static func ms(_ milliseconds: Int) -> Moment {
        Moment(sinceStart: .milliseconds(milliseconds))
    }

    static func seconds(_ seconds: Double) -> Moment { Moment(sinceStart: .seconds(seconds)) }
}

extension ProgressState {
    /// A wait that starts with the clock.
    init(_ wait: Wait, _ policy: ProgressPolicy = ProgressPolicy()) {
        self.init(wait, policy: policy, at: .zero)
    }

    /// The state at a moment, without its cues.
    func at(_ moment: Moment) -> ProgressState {
        var later = self
        _ = later.advance(to: moment)
        return later
    }

    /// The state after an input, without its cues.
    func after(_ input: ProgressInput, at moment: Moment) -> ProgressState {
        var later = self
        _ = later.handle(input, at: moment)
        return later
    }

    /// The cues up to a moment.
    func cues(to moment: Moment) -> [Cue] {
        var later = self
        return later.advance(to: moment)
    }
}

/// A wait with its inputs, written as what a person hears and where the focus goes.
struct ProgressScript {
    let wait: Wait
    var policy = ProgressPolicy()
    /// In order of time.
    let inputs: [(at: Moment, ProgressInput)]
    let until: Moment

    /// One line for each cue, with its time in milliseconds.
    var lines: [String] {
        var state = ProgressState(wait, policy)
        var lines: [String] = []
        func add(_ cues: [Cue], at moment: Moment) {
            let time = moment.sinceStart / .milliseconds(1)
            lines += cues.map { "\(Int(time)) \($0.line)" }
        }
        for (moment, input) in inputs + [(until, nil)] {
            while let next = state.nextChange, next <= moment {
                add(state.advance(to: next), at: next)
            }
            if let input { add(state.handle(input, at: moment), at: moment) }
        }
        return lines
    }
}

extension Cue {
    var line: String {
        switch self {
        case .announce(let text, .polite): "polite: \(ProgressTexts.english.words(for: text))"
        case .announce(let text, .assertive):
            "assertive: \(ProgressTexts.english.words(for: text))"
        case .moveFocus(let target): "focus: \(target)"
        case .restoreFocus(let target): "focus back: \(target)"
        }
    }
}
