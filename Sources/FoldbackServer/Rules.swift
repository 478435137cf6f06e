import Foldback
import FoldbackSync

/// The app's part of a server: what it decides, and who may see what.
///
/// ```swift
/// struct FeedRules: Rules {
///     func decide(
///         _ intent: Submission<Feed.Event>, by account: Account, on feed: Feed, at time: Timestamp
///     ) -> Ruling<Feed.Event> {
///         if case .deleted(let post) = intent.event, feed.author(of: post) != account.name {
///             return .reject(Rejection(code: "forbidden", message: "This post is not yours."))
///         }
///         return .accept
///     }
///
///     func access(of account: Account, to space: SpaceName) async -> Bool { true }
/// }
/// ```
/// A ``Space`` does everything else: it decides each intent once, in one order, keeps the decisions, and
/// delivers their effects.
///
/// If the app's state is rows, `State` is ``/Foldback/RowsInMemory`` of its stored projection.
public protocol Rules<State>: Sendable {
    /// The app's own projection. It runs on the server as on the devices.
    associatedtype State: Projection

    /// Decides on an intent.
    ///
    /// If the ruling is to accept, the event is applied to `state`. If `apply` throws, the intent is
    /// rejected with the code "inapplicable" (N1).
    ///
    /// Each intent is decided once, and nothing calls this again for a decided intent: replay folds the
    /// effects. But it must be a function of its arguments, without other state or effects, because the
    /// server calls it again if a decision could not be written. It blocks the space, so it must be short.
    ///
    /// - Parameters:
    ///   - intent: the intent as the device sent it. Its time is the device's (N7).
    ///   - account: the user who sent it.
    ///   - state: the fold of all earlier effects.
    ///   - time: the server's time. To keep it, put it into a replacing event.
    func decide(
        _ intent: Submission<State.Event>, by account: Account, on state: State, at time: Timestamp
    ) -> Ruling<State.Event>

    /// Returns whether an account may use a space. It is asked for each request (N8).
    func access(of account: Account, to space: SpaceName) async -> Bool

    /// Returns whether an account may see an event, as a `Bool`. The default shows all events to everyone.
    ///
    /// Must depend on its arguments alone, and always return the same (N8). An account always sees the
    /// effects of its own intents.
    func shows(_ event: State.Event, to account: Account) -> _Shown

    // MARK: For FoldbackServer alone

    /// The answer of ``shows(_:to:)``: `Bool`, or a type that says that everything is shown. So a space
    /// knows from the type alone whether it must decode events to show them.
    ///
    /// Do not declare this. Swift infers it.
    associatedtype _Shown: _ShownOrHidden = _ShownAlways
}

extension Rules where _Shown == _ShownAlways {
    public func shows(_ event: State.Event, to account: Account) -> _ShownAlways { _ShownAlways() }
}

/// The answer of ``Rules/shows(_:to:)``.
public protocol _ShownOrHidden: Sendable {
    /// Whether every answer of this type is true.
    static var _isAlwaysTrue: Bool { get }
    var _isShown: Bool { get }
}

extension Bool: _ShownOrHidden {
    public static var _isAlwaysTrue: Bool { false }
    public var _isShown: Bool { self }
}

/// The answer of rules that show every event to everyone.
public struct _ShownAlways: _ShownOrHidden {
    public static var _isAlwaysTrue: Bool { true }
    public var _isShown: Bool { true }
}
