#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The two meta pages at the start of the file. Commits write them alternately.
struct MetaPages {
    private static let version: UInt32 = 1
    /// The number of pages by which the last page may exceed the file's end.
    ///
    /// A transaction can allocate pages and free them before they are written. LMDB changes fewer
    /// pages than this in one transaction (midl.h).
    private static let unwrittenPagesMax: UInt64 = 131_072
    /// MDB_INTEGERKEY: the keys of the free tree are transaction numbers.
    private static let freeFlags: UInt16 = 8
    /// MDB_NOSUBDIR. Tools that write a single file leave it there.
    private static let harmlessFlags: UInt16 = 0x4000

    private let metas: [Meta]
    /// For each of the two pages: whether its flags and magic number are those of a meta page.
    private let isMeta: [Bool]
    private let fileBytes: Int

    /// Reads both pages; nil if the file does not exist or is empty.
    init?(_ path: String) throws(LMDBError) {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw LMDBError(.openEnvironment, .system(errno: errno))
        }
        defer { close(file) }
        fileBytes = try FileStatus(of: file).bytes
        guard fileBytes > 0 else { return nil }
        let first = try Self.page(at: 0, of: file)
        let pageSize = Meta(first).pageSize
        let second = try Self.page(
            at: Meta.pageSizes.contains(pageSize) ? pageSize : 4_096, of: file)
        metas = [Meta(first), Meta(second)]
        isMeta = [first, second].map {
            $0.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == 8
                && Meta($0).magic == Meta.magic
        }
        first.deallocate()
        second.deallocate()
    }

    private static func page(
        at offset: Int, of file: Int32
    ) throws(LMDBError) -> UnsafeRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.headerBytes + Meta.bytes, alignment: 8)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        guard pread(file, bytes.baseAddress, bytes.count, off_t(offset)) >= 0 else {
            bytes.deallocate()
            throw LMDBError(.openEnvironment, .system(errno: errno))
        }
        return UnsafeRawBufferPointer(bytes)
    }

    /// Checks the numbers that LMDB follows without a check.
    ///
    /// A file that is not LMDB's, or that has another data format, passes. LMDB reports it on
    /// opening.
    /// - Throws: `.damagedPage`.
    func requireSound() throws(LMDBError) {
        guard isMeta.contains(true) else { return }
        for page in [0, 1] where !isMeta[page] { throw damage(page, "it is not a meta page") }
        for page in [0, 1] where metas[page].version != Self.version {
            guard metas[1 - page].version == Self.version else { return }
            throw damage(page, "it has data format \(metas[page].version)")
        }
        let size = metas[0].pageSize
        guard size == metas[1].pageSize, Meta.pageSizes.contains(size), size.nonzeroBitCount == 1
        else { throw damage(0, "its page size is \(size), page 1 has \(metas[1].pageSize)") }
        let transactions = metas.map(\.transaction)
        guard
            transactions == [0, 0]
                || transactions[0] % 2 == 0 && transactions[1] % 2 == 1
                    && max(transactions[0], transactions[1])
                        == min(transactions[0], transactions[1]) &+ 1
        else {
            throw damage(0, "commits \(transactions[0]) and \(transactions[1]) do not match")
        }
        let newest = transactions[0] < transactions[1] ? 1 : 0
        let meta = metas[newest]
        guard meta.free.flags & ~Self.harmlessFlags == Self.freeFlags, meta.main.flags == 0 else {
            throw damage(newest, "it has tree flags \(meta.free.flags) and \(meta.main.flags)")
        }
        guard meta.lastPage >= 1,
            meta.lastPage < UInt64(fileBytes / size) + Self.unwrittenPagesMax
        else { throw damage(newest, "its last page number \(meta.lastPage) is invalid") }
    }

    // MARK: Files without a commit

    /// Returns whether neither meta page of a file names a commit. Each is all zeros, or from
    /// before the first commit.
    ///
    /// The second page begins at the page size, which the machine that made the file chose. If the
    /// first page does not name it, every page size is tried.
    static func haveNoCommit(_ file: [UInt8], systemPageSize: Int) -> Bool {
        let known = meta(file[...]).map(\.pageSize)
        let size = known ?? systemPageSize
        guard [0, size].allSatisfy({ hasNoCommit(file.dropFirst($0).prefix(size)) }) else {
            return false
        }
        guard known == nil else { return true }
        let sizes = (9...16).map { 1 << $0 }
        return !sizes.contains { meta(file.dropFirst($0)).map { $0.transaction > 0 } ?? false }
    }

    private static func hasNoCommit(_ page: ArraySlice<UInt8>) -> Bool {
        if page.allSatisfy({ $0 == 0 }) { return true }  // mutant: zero-page
        return meta(page).map { $0.transaction == 0 } ?? false
    }

    /// Returns the meta page that the bytes begin with; nil if it is not a meta page.
    private static func meta(_ bytes: ArraySlice<UInt8>) -> Meta? {
        guard bytes.count >= Page.headerBytes + Meta.bytes else { return nil }
        let meta = bytes.withUnsafeBytes { Meta($0) }
        return meta.isMeta ? meta : nil
    }

    /// Returns whether both reads saw the same pages. Then no process wrote between them.
    func isSame(as other: MetaPages) -> Bool { metas == other.metas && isMeta == other.isMeta }

    private func damage(_ page: Int, _ what: String) -> LMDBError {
        LMDBError(.openEnvironment, .damagedPage(UInt64(page), what))
    }
}
