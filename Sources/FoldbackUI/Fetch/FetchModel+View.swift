import Observation

/// What a view shows.
extension FetchModel {
    /// The data to show; see ``FetchState/data``.
    public var data: RemoteData<Value, Failure> { state.data }

    /// Returns the data of a view whose log may not have everything yet (U9); see
    /// ``FetchState/data(known:absent:)``.
    public func data<Shown>(
        known: Shown?, absent: @autoclosure () -> Shown
    ) -> RemoteData<Shown, Failure> {
        state.data(known: known, absent: absent())
    }

    /// Returns when no request runs, or earlier if the task is canceled.
    ///
    /// ```swift
    /// .refreshable { menu.refresh(); await menu.waitUntilIdle() }
    /// ```
    ///
    /// A request that ``pause(_:)`` holds back does not run, so a person who pulls down a list
    /// while the device is offline sees no spinner until ``resume()``. A request that has begun
    /// runs until its answer, also if it has reported why it waits.
    public func waitUntilIdle() async {
        while isRunning, !Task.isCancelled {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            withObservationTracking {
                _ = isRunning
            } onChange: {
                continuation.yield()
            }
            for await _ in changes { break }
        }
    }
}
