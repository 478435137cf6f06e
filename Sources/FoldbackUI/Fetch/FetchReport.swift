/// How the function of a ``FetchModel`` says that its work goes on.
///
/// ```swift
/// FetchModel("loading the menu") { report in
///     try await download(menu) { received, total in report.fraction(received / total) }
/// }
/// ```
///
/// All methods may be called on any task, as often as the work likes: reports between two turns of
/// the main actor are shown together. Reports of a fetch that was superseded, was canceled or has
/// answered change nothing (U8).
public struct FetchReport: Sendable {
    let mailbox: Mailbox<FetchNews>
    /// Takes the news from the mailbox.
    let deliver: @MainActor @Sendable () -> Void

    /// Reports the part of the work that is done, from 0 to 1. Of several reports that are shown
    /// together, the highest counts (U13).
    public func fraction(_ fraction: Double) {
        add { news in
            // It is a sign of life, whatever the number.
            news.isAlive = true
            if fraction > news.fraction ?? -.infinity { news.fraction = fraction }
        }
    }

    /// Reports that the work goes on: a byte, an answer, a message.
    public func signOfLife() {
        add { $0.isAlive = true }
    }

    /// Reports why the work takes long; `.unknown` if nothing is in its way any more.
    ///
    /// The fetch is paused while the device is offline, nobody is signed in, or the server is busy.
    /// During a hold (``FetchModel/pause(_:)``), the cause of the hold is shown, and the report
    /// counts afterwards.
    public func cause(_ cause: WaitCause) {
        add { $0.cause = cause }
    }

    private func add(_ report: (inout FetchNews) -> Void) {
        let isFirst = mailbox.add { content in
            var news = content ?? FetchNews()
            report(&news)
            content = news
        }
        // Later reports are taken in the same turn of the main actor.
        if isFirst { Task { @MainActor [deliver] in deliver() } }
    }
}

/// The reports of one fetch since the main actor looked.
struct FetchNews {
    fileprivate(set) var cause: WaitCause?
    fileprivate var fraction: Double?
    fileprivate var isAlive = false

    var signsOfLife: [ProgressInput] {
        (fraction.map { [.fraction($0)] } ?? []) + (isAlive ? [.signOfLife] : [])
    }
}
