/// The words for the texts of waits: English, or the app's own.
///
/// ```swift
/// let texts = ProgressTexts { text in
///     guard case .activity("signing in") = text else { return nil }
///     return "Checking your password"
/// }
/// ```
public struct ProgressTexts: Sendable {
    private let own: @Sendable (ProgressText) -> String?

    /// - Parameter words: returns the app's words for a text, for example localized; nil for the
    ///   English words.
    public init(_ words: @escaping @Sendable (ProgressText) -> String?) { own = words }

    /// The English words.
    public static let english = ProgressTexts { _ in nil }

    /// Returns the words for a text: one to three sentences. The last has a period if there are
    /// several.
    public func words(for text: ProgressText) -> String { own(text) ?? text.english }
}

extension ProgressText {
    fileprivate var english: String {
        switch self {
        case .activity(let kind): kind.capitalized
        case .still(let kind, let life, let apologizes):
            "Still \(kind.activity)\(life.english)" + (apologizes ? ". Sorry for the wait." : "")
        case .long(let kind, let life, let remaining?, let cause):
            "Still \(kind.activity)\(life.english), about \(remaining.english) left"
                + (cause.english.map { ". \($0.asSentence)" } ?? "")
        case .long(let kind, let life, nil, let cause):
            "Still \(kind.activity)\(life.english). \((cause.english ?? "This takes long").asSentence)"
        case .paused(let kind, let life, .signedOut):
            "\(kind.capitalized) continues when you are signed in\(life.english)"
        case .paused(let kind, let life, _):
            "\(kind.capitalized) continues when the device is online\(life.english)"
        case .stalled(let kind, let recovery):
            "\(kind.capitalized) has stalled. \(recovery.english)"
        case .ended(let kind, .succeeded): "Finished \(kind.activity)"
        case .ended(let kind, .failed(let recovery)):
            "\(kind.capitalized) failed. \(recovery.english)"
        case .ended(let kind, .cancelled): "Canceled \(kind.activity)"
        case .ended(let kind, .continuedInBackground):
            "\(kind.capitalized) continues in the background"
        }
    }
}

extension WaitKind {
    fileprivate var capitalized: String { activity.prefix(1).uppercased() + activity.dropFirst() }
}

extension ProofOfLife {
    fileprivate var english: String {
        (attempt.map { ", attempt \($0)" } ?? "") + (elapsed.map { ", \($0.english)" } ?? "")
    }
}

extension Recovery {
    fileprivate var english: String {
        let why = (reason ?? cause.english).map { "\($0.asSentence) " } ?? ""
        guard canRestart else { return why + "Trying again does not help." }
        return why + (reason != nil && cause == .unknown ? "Try again." : cause.instructions)
    }
}

extension WaitCause {
    /// A sentence, perhaps without a period; nil if nothing is known.
    fileprivate var english: String? {
        switch self {
        case .unknown: nil
        case .offline: "The device is offline"
        case .slow: "The connection is slow"
        case .serverBusy: "The server is busy"
        case .signedOut: "You are signed out"
        case .failing(let reason): reason
        }
    }

    fileprivate var instructions: String {
        switch self {
        case .unknown: "Check the connection, then try again."
        case .offline: "Connect the device to a network, then try again."
        case .slow: "Find a better connection, then try again."
        case .serverBusy: "Wait a few minutes, then try again."
        case .signedOut: "Sign in, then try again."
        case .failing: "Try again later."
        }
    }
}

extension String {
    fileprivate var asSentence: String {
        last.map { ".!?".contains($0) } ?? true ? self : self + "."
    }
}

extension Duration {
    /// The two largest units, rounded down: "1 minute 5 seconds".
    fileprivate var english: String {
        let seconds = components.seconds
        let units = [
            (seconds / 86_400, "day"), (seconds / 3_600 % 24, "hour"),
            (seconds / 60 % 60, "minute"),
            (seconds % 60, "second"),
        ]
        let parts = units.drop { $0.0 == 0 }.prefix(2).filter { $0.0 != 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return parts.isEmpty ? "0 seconds" : parts.joined(separator: " ")
    }
}
