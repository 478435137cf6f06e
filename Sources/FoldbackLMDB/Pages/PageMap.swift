import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A read-only memory map of a data file, separate from LMDB's own map.
///
/// Page.swift explains why Foldback reads the file itself. A read beyond the end of the file would
/// end the process, so ``bytes(_:)`` checks the file's size first, and each read begins with
/// ``DataFile/requireWhole(_:)``. One case remains: another process truncates the file during a
/// read.
///
/// `@unchecked Sendable`: the memory at `base` is never written through this object, and is
/// unmapped in `deinit`, when no reference is left. The last known file size is atomic.
final class PageMap: @unchecked Sendable {
    private let base: UnsafeRawPointer
    private let mappedBytes: Int
    private let file: DataFile
    private let fileBytes: Atomic<Int>

    /// - Parameter bytesMin: the least number of bytes that the map covers.
    init(_ file: DataFile, bytesMin: Int) throws(LMDBError) {
        let size = try FileStatus(of: file.descriptor).bytes
        // Map twice the file's size, so that a growing file is rarely mapped again.
        let bytes = max(2 * size, bytesMin, 1 << 20)
        let place = mmap(nil, bytes, PROT_READ, MAP_SHARED, file.descriptor, 0)
        guard place != MAP_FAILED, let place else {
            throw LMDBError(.growMap, .system(errno: errno))
        }
        base = UnsafeRawPointer(place)
        mappedBytes = bytes
        self.file = file
        fileBytes = Atomic(size)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: base), mappedBytes) }

    /// Returns whether the map covers the file up to `end`. The file may be shorter.
    func reaches(_ end: Int) -> Bool { end <= mappedBytes }

    /// Returns bytes of the file; nil if the range exceeds the map or the file.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer? {
        guard range.upperBound <= mappedBytes, range.upperBound <= size(atLeast: range.upperBound)
        else { return nil }
        return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// Returns the last known size if that is at least `wanted`, else asks the system.
    private func size(atLeast wanted: Int) -> Int {
        let known = fileBytes.load(ordering: .relaxed)
        if known >= wanted { return known }
        guard let size = try? FileStatus(of: file.descriptor).bytes else { return known }
        fileBytes.store(size, ordering: .relaxed)
        return size
    }
}
