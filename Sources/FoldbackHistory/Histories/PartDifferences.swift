/// The keys whose parts differ between two states, followed event by event. The states are of two
/// versions of a projection that have the same types of keys and parts.
///
/// One version notes the parts of the keys that an event touches, and the other version compares
/// them with its own. If the other version touches more keys, the same is done the other way round:
///
/// ```
///  old._noteParts(touchedBy: event)   ──▶  (a, 1)  (b, 7)
///  new._compareParts()                ──▶  a: 1 = 1    b: 7 ≠ 8
///  new._noteParts(touchedBy: event)   ──▶  (c, 4)
///  old._compareParts()                ──▶  c: 4 = 4
/// ```
///
/// Both steps are hidden requirements of ``TraceableProjection``, so that the compiler specializes
/// them for the app's types. This class is what the code that follows a log knows of them.
public class _PartDifferences {
    /// Whether a part that was compared since the last ``begin(isDifferent:)`` differs, or differed
    /// before.
    @usableFromInline package var isFound = false
    /// Whether an event touched unknown keys since the described states were last equal. Then some
    /// keys may be missing.
    @usableFromInline package var isIncomplete = false
    /// Whether any key is known to differ.
    @usableFromInline package var hasKeys = false
    /// Whether parts are noted that the other version has not compared yet.
    @usableFromInline package var hasNoted = false
    /// Whether the parts that were noted last belong to an earlier event.
    @usableFromInline package var isNewEvent = true

    init() {}

    /// Begins the comparison after an entry.
    ///
    /// - Parameter isDifferent: whether the described states differed before the entry.
    package func begin(isDifferent: Bool) {
        // Where the described states are equal, law P16 says that an entry which makes them differ
        // touches a key whose part differs after it. So earlier keys do not matter.
        if isIncomplete, !isDifferent { forgetKeys() }
        isFound = isIncomplete
    }

    /// Begins the comparison for one event of an entry.
    package func beginEvent() {
        isNewEvent = true
        hasNoted = false
    }

    /// Notes that an event touches keys which it does not name.
    @usableFromInline
    package func noteUnknownKeys() {
        isIncomplete = true
        isFound = true
    }

    func forgetKeys() {
        isIncomplete = false
        hasKeys = false
    }
}

/// ``_PartDifferences`` for one type of keys and one type of parts.
public final class _KeyedPartDifferences<
    Key: Hashable & Sendable, Part: Equatable & Sendable
>: _PartDifferences {
    /// The keys that the present event touches, with the parts of one version.
    @usableFromInline var noted: [(key: Key, part: Part?)] = []
    private var keys: Set<Key> = []

    package override init() {}

    override func forgetKeys() {
        super.forgetKeys()
        keys.removeAll()
    }

    /// Takes the result of a comparison, which can be left out if the parts are equal and no key
    /// differs.
    @usableFromInline
    func take(_ key: Key, isDifferent: Bool) {
        if isDifferent {
            keys.insert(key)
            isFound = true
        }
        if !isDifferent, keys.remove(key) != nil {  // mutant: equal-parts
            isFound = true
        }
        hasKeys = !keys.isEmpty
    }
}
