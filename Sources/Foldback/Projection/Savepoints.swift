/// Views as they were after some intent of the overlay, at distances from its end that double.
///
/// Which of them are kept is decided over numbers alone: a store asks at each commit, and code over views would
/// look their type up each time.
struct Savepoints<View: Sendable>: Sendable {
    /// Rising: the last intent that the view at the same place has, or could have had.
    private var numbers: [IntentNumber] = []
    private var views: [View] = []

    var last: (number: IntentNumber, view: View)? {
        numbers.last.map { ($0, views[views.count - 1]) }
    }

    /// - Parameter number: behind those of all others.
    mutating func append(_ number: IntentNumber, _ view: View) {
        numbers.append(number)
        views.append(view)
    }

    mutating func remove(from number: IntentNumber) {
        var count = 0
        while count < numbers.count, numbers[numbers.count - 1 - count] >= number { count += 1 }
        guard count > 0 else { return }
        numbers.removeLast(count)
        views.removeLast(count)
    }

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

    /// Drops each mark whose neighbours are close enough to serve in its place: distances from the end at least
    /// double over two marks, so there are about 2 log2(n).
    mutating func thin() {
        guard let last = numbers.last else { return }
        var nearer = numbers.count - 1
        for place in stride(from: numbers.count - 2, to: 0, by: -1) {
            // The one behind is the nearest that was kept.
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
