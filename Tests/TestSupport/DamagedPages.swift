import Foundation

/// Damage to a closed data file, page by page (mdb.c 0.9.24: MDB_meta, MDB_page, MDB_node, MDB_db).
package struct DamagedPages {
    private static let pageBytes = 4_096
    private let file: URL
    private var bytes: Data

    package init(of file: URL) throws {
        self.file = file
        bytes = try Data(contentsOf: file)
    }

    /// Names the root page of a table as a free page. LMDB would overwrite it.
    package mutating func listRootAsFree(of table: String) throws {
        try listAsFree(try tree(of: table).root)
    }

    /// Names the first leaf of a table as a free page. LMDB would overwrite it.
    ///
    /// The table must have two levels. Then only a check of the table's branches finds the damage.
    package mutating func listLeafAsFree(of table: String) throws {
        try listAsFree(try firstLeaf(of: table))
    }

    /// Names the first page of a value on separate pages as a free page: the value of a byte alone.
    package mutating func listValueAsFree(filledWith byte: UInt8) throws {
        let pages = bytes.count / Self.pageBytes
        let page = (2..<pages).first { page in
            // P_OVERFLOW
            int16(page * Self.pageBytes + 10) == 4
                && bytes[page * Self.pageBytes + 16 + 100] == byte
        }
        guard let page else { throw UnexpectedPages(reason: "no value is on separate pages") }
        try listAsFree(UInt64(page))
    }

    /// Fills the first leaf of a table with zeros. The table must have two levels.
    package mutating func zeroFirstLeaf(of table: String) throws {
        let start = place(of: try firstLeaf(of: table))
        bytes.resetBytes(in: start..<start + Self.pageBytes)
        try write()
    }

    private func firstLeaf(of table: String) throws -> UInt64 {
        let (root, depth) = try tree(of: table)
        guard depth == 2 else { throw UnexpectedPages(reason: "\(table) has \(depth) levels") }
        let node = node(0, of: root)
        return UInt64(int16(node)) | UInt64(int16(node + 2)) << 16
    }

    /// Fills the root of the list of tables with zeros.
    package mutating func zeroListOfTables() throws {
        let start = place(of: int64(meta + 128))
        bytes.resetBytes(in: start..<start + Self.pageBytes)
        try write()
    }

    private mutating func listAsFree(_ page: UInt64) throws {
        let root = int64(meta + 80)
        guard root != .max, int16(place(of: root) + 10) == 2 else {
            throw UnexpectedPages(reason: "the list of free pages is empty, or has branches")
        }
        // The key is a commit's number. The value is the number of free pages, and these pages.
        let value = node(0, of: root) + 16
        set(1, at: value)
        set(page, at: value + 8)
        try write()
    }

    private func tree(of table: String) throws -> (root: UInt64, depth: Int) {
        let list = int64(meta + 128)
        let count = (int16(place(of: list) + 12) - 16) / 2
        for index in 0..<count {
            let node = node(index, of: list)
            let key = bytes[node + 8..<node + 8 + int16(node + 6)]
            guard key.elementsEqual(table.utf8) else { continue }
            return (int64(key.endIndex + 40), int16(key.endIndex + 6))
        }
        throw UnexpectedPages(reason: "the file has no table \(table)")
    }

    // MARK: Bytes

    /// The place of the newest commit's meta page.
    private var meta: Int {
        int64(144) < int64(Self.pageBytes + 144) ? Self.pageBytes : 0
    }

    private func place(of page: UInt64) -> Int { Int(page) * Self.pageBytes }

    private func node(_ index: Int, of page: UInt64) -> Int {
        place(of: page) + int16(place(of: page) + 16 + 2 * index)
    }

    private func int16(_ place: Int) -> Int { Int(bytes[place]) | Int(bytes[place + 1]) << 8 }

    private func int64(_ place: Int) -> UInt64 {
        bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func set(_ number: UInt64, at place: Int) {
        for index in 0..<8 {
            bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// Writes into the file, so that it stays the same file for the store.
    private func write() throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }
}

private struct UnexpectedPages: Error {
    let reason: String
}
