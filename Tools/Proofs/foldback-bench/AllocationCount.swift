import CAllocationCount

/// The number of allocations of all threads of this process.
///
/// Counting makes each allocation slower, so it is off while times are measured.
enum AllocationCount {
    /// Why this build cannot count; nil if it can.
    static var obstacle: String? {
        foldback_can_count_allocations()
            ? nil : "only a build for Linux with glibc, without a sanitizer, can count them"
    }

    /// Returns the result of `body`, and the number of allocations meanwhile. Two calls at once
    /// would count each other's allocations.
    static func during<R>(_ body: () async throws -> R) async rethrows -> (R, count: UInt64) {
        foldback_start_counting_allocations()
        let result: R
        do { result = try await body() } catch {
            _ = foldback_stop_counting_allocations()
            throw error
        }
        return (result, foldback_stop_counting_allocations())
    }
}
