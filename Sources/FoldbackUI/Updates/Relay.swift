import Synchronization

/// A value on its way from the reader of updates to the main actor: a view, the result of a read, or
/// a list.
///
/// The reader sends whole values, whatever the main actor has taken so far. It compares them, so that
/// the main actor does not: equal values have the same version (U25, U28).
final class Relay<Value: Sendable>: Sendable {
    /// A value with an identity.
    final class Version: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private struct Content {
        var shown: Version
        var sent: Version
        var sendCount = 0
        /// Versions that are not shown any more. The reader frees them, because freeing a long list
        /// takes the main actor longer than showing the next.
        var replaced: [Version] = []
    }

    private let areEqual: @Sendable (_ old: Value, _ new: Value) -> Bool
    private let content: Mutex<Content>

    /// - Parameters:
    ///   - first: the value that is shown at first.
    ///   - areEqual: returns whether two values are known to be equal.
    init(_ first: Value, areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool) {
        self.areEqual = areEqual
        let version = Version(first)
        content = Mutex(Content(shown: version, sent: version))
    }

    convenience init(_ first: Value) where Value: Equatable { self.init(first, areEqual: ==) }

    /// The version that was sent last.
    var sent: Version { content.withLock { $0.sent } }

    /// How many times the version that was sent last has changed.
    var sendCount: Int { content.withLock { $0.sendCount } }

    /// Sends a value, and returns whether it differs from the value sent before. Only the reader may
    /// call it, so that ``sent`` has the value afterwards.
    func send(_ value: Value) -> Bool {
        let (shown, sent, replaced) = content.withLock { content in
            defer { content.replaced = [] }
            return (content.shown, content.sent, content.replaced)
        }
        defer { withExtendedLifetime(replaced) {} }
        // The value can change and change back before the main actor shows any of it. If another
        // version is shown meanwhile, it is the version that was sent before.
        let known = shown === sent ? [sent] : [sent, shown]  // mutant: relay-shown
        let version = known.first { areEqual($0.value, value) } ?? Version(value)
        if version === sent { return false }
        content.withLock { content in
            content.sent = version
            content.sendCount += 1
        }
        return true
    }

    /// Notes that a version is shown, and returns its value; nil if it was shown before.
    @MainActor func show(_ version: Version) -> Value? {
        content.withLock { content in
            if content.shown === version { return nil }
            content.replaced.append(content.shown)
            content.shown = version  // mutant: shown-base
            return version.value
        }
    }
}
