import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A data file's pages in memory, for reading only and beside LMDB's own map.
///
/// LMDB believes every byte of its file: a damaged one can end the process. So everything is read
/// here, where each number is looked at before it is followed, and LMDB gets to see what has been
/// looked at. Nothing behind the file's end is touched, for that would end the process too; a file that
/// another process cuts off while it is open still can.
///
/// `@unchecked Sendable`: `base` is memory that nobody writes to through it and that is unmapped when
/// nobody has the object any more; the file's size as it was known last is atomic.
final class PageMap: @unchecked Sendable {
    private let base: UnsafeRawPointer
    private let mappedBytes: Int
    private let descriptor: Int32
    private let fileBytes: Atomic<Int>

    /// - Parameter bytesMin: how far pages may be asked for.
    init(_ path: String, bytesMin: Int) throws(LMDBError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw LMDBError(.openEnvironment, .system(errno: errno)) }
        var info = stat()
        guard fstat(file, &info) == 0 else {
            let code = errno
            close(file)
            throw LMDBError(.openEnvironment, .system(errno: code))
        }
        // As much again as there is, so that a growing file is mapped anew a few times only.
        let bytes = max(2 * Int(info.st_size), bytesMin, 1 << 20)
        let place = mmap(nil, bytes, PROT_READ, MAP_SHARED, file, 0)
        guard place != MAP_FAILED, let place else {
            let code = errno
            close(file)
            throw LMDBError(.growMap, .system(errno: code))
        }
        base = UnsafeRawPointer(place)
        mappedBytes = bytes
        descriptor = file
        fileBytes = Atomic(Int(info.st_size))
    }

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: base), mappedBytes)
        close(descriptor)
    }

    /// Whether that part of the file could be seen through this map, if it is there.
    func reaches(_ end: Int) -> Bool { end <= mappedBytes }

    /// Bytes of the file; nil where it ends before them.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer? {
        guard range.upperBound <= mappedBytes, range.upperBound <= size(atLeast: range.upperBound)
        else { return nil }
        return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// The file's size, as it was when it was known to reach so far, or as it is.
    private func size(atLeast wanted: Int) -> Int {
        let known = fileBytes.load(ordering: .relaxed)
        if known >= wanted { return known }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return known }
        fileBytes.store(Int(info.st_size), ordering: .relaxed)
        return Int(info.st_size)
    }
}
