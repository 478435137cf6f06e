/// Views of one projection from which a rollback can start.
///
/// Invariant: the savepoint with number n is the view after the intent with number n, and is valid
/// as long as no intent up to n changed. The numbers rise. ``Fold`` removes savepoints when they
/// become invalid.
///
/// ``thin()`` keeps the distances from the newest savepoint at about powers of two. A rollback of m
/// intents, each of its own commit, then folds at most a small multiple of m, and n pending intents need
/// about 2 log2(n) views.
///
/// ```
///  before thin   1 2 3 4 5 6 7 8 9 10 11 12
///  after         1     4       8   10 11 12
/// ```
///
/// Numbers and views are in separate arrays. Each commit decides which savepoints to keep by
/// numbers alone, and unspecialized code over views would look up their type each time.
struct Savepoints<View: Sendable>: Sendable {
    /// The number of each savepoint, rising. The view at the same index includes all optimistic
    /// intents up to this number. The intent with the number itself may be confirm-only,
    /// conflicted, or gone.
    private var numbers: [IntentNumber] = []
    private var views: [View] = []

    var last: (number: IntentNumber, view: View)? {
        numbers.last.map { ($0, views[views.count - 1]) }
    }

    /// Returns the newest savepoint before `number`.
    func last(before number: IntentNumber) -> (number: IntentNumber, view: View)? {
        numbers.lastIndex { $0 < number }.map { (numbers[$0], views[$0]) }
    }

    /// Adds the newest savepoint.
    ///
    /// - Parameter number: a number after the numbers of all others.
    mutating func append(_ number: IntentNumber, _ view: View) {
        numbers.append(number)
        views.append(view)
    }

    /// Removes the savepoints at and after `number`: that intent changed.
    mutating func remove(from number: IntentNumber) {
        var count = 0
        while count < numbers.count, numbers[numbers.count - 1 - count] >= number { count += 1 }
        guard count > 0 else { return }
        numbers.removeLast(count)
        views.removeLast(count)
    }

    /// Removes the savepoints before `number`: intents up to it have left the overlay.
    mutating func remove(before number: IntentNumber) {
        var count = 0
        while count < numbers.count, numbers[count] < number { count += 1 }
        guard count > 0 else { return }
        numbers.removeFirst(count)
        views.removeFirst(count)
    }

    mutating func removeAll() {
        guard !numbers.isEmpty else { return }
        numbers.removeAll(keepingCapacity: true)
        views.removeAll(keepingCapacity: true)
    }

    /// Removes savepoints between two neighbors that are close to each other. The first and the
    /// last are always kept.
    ///
    /// Distances are counted from the newest savepoint. The neighbors are close if the older one's
    /// distance is at most twice the newer one's. Otherwise the distance more than doubles from one
    /// neighbor to the other, so about 2 log2(n) savepoints are left.
    mutating func thin() {
        guard let last = numbers.last else { return }
        var nearer = numbers.count - 1
        for place in stride(from: numbers.count - 2, to: 0, by: -1) {
            // `nearer` is the index of the oldest savepoint that is kept so far.
            let near = last.value - numbers[nearer].value
            let far = last.value - numbers[place - 1].value
            if far > 2 * near {
                nearer = place
            } else {
                numbers.remove(at: place)
                views.remove(at: place)
                nearer -= 1
            }
        }
    }
}
