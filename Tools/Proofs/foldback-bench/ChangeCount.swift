import Observation

/// Counts how often an observed value changes.
@MainActor final class ChangeCount {
    private(set) var count = 0
    /// When the value changed.
    private(set) var times: [ContinuousClock.Instant] = []

    init(_ read: @escaping @MainActor () -> Void) { observe(read) }

    private func observe(_ read: @escaping @MainActor () -> Void) {
        withObservationTracking(read) { [weak self] in
            MainActor.assumeIsolated {
                guard let self else { return }
                self.count += 1
                self.times.append(.now)
                self.observe(read)
            }
        }
    }
}
