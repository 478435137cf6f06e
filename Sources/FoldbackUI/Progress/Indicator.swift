/// What a view draws to show that work goes on.
///
/// It is determinate if ``ProgressState/fraction`` is not nil.
public enum Indicator: Hashable, Sendable {
    /// A circle that turns, or fills.
    case spinner
    /// A bar that moves, or fills.
    case bar
    /// The person wants less motion: ``ProgressState/text`` is the indicator (U17).
    case text
}

/// The indicator of a wait. It does not change during the wait, because a change from one to the
/// other looks like the start of other work (U13).
public enum IndicatorStyle: Hashable, Sendable {
    /// A circle that turns, or fills.
    case spinner
    /// A bar that moves, or fills.
    case bar
    /// The app shows the wait by other means, for example with placeholders. Texts still appear.
    case none
}
