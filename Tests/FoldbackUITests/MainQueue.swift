import Dispatch

/// Tells whether code runs on the main actor. On Linux, the main actor is not bound to a thread, so
/// `Thread.isMainThread` does not tell it.
enum MainQueue {
    private static let key = DispatchSpecificKey<Bool>()
    private static let mark: Void = DispatchQueue.main.setSpecific(key: key, value: true)

    static var isCurrent: Bool {
        mark
        return DispatchQueue.getSpecific(key: key) ?? false
    }
}
