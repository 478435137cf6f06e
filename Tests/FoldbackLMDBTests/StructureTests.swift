import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Failure: the check of all pages made opening slower with each entry of the log.
///
/// Property: LMDB changes no page before Foldback has checked all tables. Opening checks the tables
/// that it does not leave for later, the list of tables, and the lists of free pages.
@Suite struct StructureTests {
    private let directory = TemporaryDirectory()
    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    private func open(later: Set<String> = []) throws -> Environment {
        var options = Environment.Options()
        options.tablesCheckedLater = later
        return try Environment.open(directory.log.path, options: options)
    }

    /// Makes a file with free pages, a large table `t` and a small table `u`, and damages it.
    ///
    /// - Returns: the bytes of the damaged file.
    private func makeFile(_ damage: (inout DamagedPages) throws -> Void) throws -> Data {
        let environment = try open()
        for step in 1...5 as ClosedRange<UInt64> {
            try environment.write { transaction throws(LMDBError) in
                let t: Table<UInt64> = try transaction.table("t")
                let u: Table<UInt64> = try transaction.table("u")
                for key in 0..<100 as Range<UInt64> {
                    let value = [UInt8](repeating: UInt8(step), count: 100)
                    try transaction.put(value, at: key, in: t)
                }
                try transaction.put([UInt8(step)], at: step, in: u)
            }
        }
        environment.close()
        var pages = try DamagedPages(of: dataFile)
        try damage(&pages)
        return try Data(contentsOf: dataFile)
    }

    private enum Change: CaseIterable {
        case put, append, delete, create

        func make(
            in transaction: borrowing WriteTransaction, _ table: Table<UInt64>
        ) throws(LMDBError) {
            switch self {
            case .put: try transaction.put([7], at: 3, in: table)
            case .append: try transaction.append([7], at: 9, to: table)
            case .delete: _ = try transaction.delete(3, from: table)
            case .create: _ = try transaction.table("new", of: UInt64.self)
            }
        }
    }

    private func error(of body: () throws -> Void) -> LMDBError? {
        do {
            try body()
            return nil
        } catch {
            return error as? LMDBError
        }
    }

    private func isDamage(_ error: LMDBError?, of operation: LMDBError.Operation) -> Bool {
        guard case .damagedPage? = error?.cause else { return false }
        return error?.operation == operation
    }

    @Test func `a used page in the list of free pages is found before the first change`() throws {
        let before = try makeFile { try $0.listLeafAsFree(of: "t") }
        #expect(isDamage(error { _ = try open() }, of: .openEnvironment))
        let environment = try open(later: ["t"])
        let table: Table<UInt64> = try environment.write { transaction throws(LMDBError) in
            try transaction.table("t")
        }
        let value = try environment.read { transaction throws(LMDBError) in
            try transaction.get(table, 3) { $0.withUnsafeBytes { $0[0] } }
        }
        #expect(value == 5)
        for change in Change.allCases {
            let refused = error {
                try environment.write { transaction throws(LMDBError) in
                    try change.make(in: transaction, table)
                }
            }
            #expect(isDamage(refused, of: .checkPages) && refused?.endsWriting == true)
        }
        #expect(isDamage(error { try environment.requireSoundStructure() }, of: .checkPages))
        environment.close()
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `opening finds damage in the list of tables and in the tables that it checks`()
        throws
    {
        let damages: [(inout DamagedPages) throws -> Void] = [
            { try $0.zeroListOfTables() }, { try $0.listRootAsFree(of: "u") },
            { try $0.listRootAsFree(of: "t") },
        ]
        for damage in damages {
            let before = try makeFile(damage)
            #expect(isDamage(error { _ = try open(later: ["t"]) }, of: .openEnvironment))
            #expect(try Data(contentsOf: dataFile) == before)
            try FileManager.default.removeItem(at: directory.log)
        }
    }

    /// Only the leaf of a value names its pages, so each leaf of such a table is looked at.
    @Test func `opening finds a free page in a value of a late leaf`() throws {
        let environment = try open()
        for step in 1...3 as ClosedRange<UInt64> {
            try environment.write { transaction throws(LMDBError) in
                let t: Table<UInt64> = try transaction.table("t")
                // The later steps make free pages.
                let keys: Range<UInt64> = step == 1 ? 0..<1_200 : 1_150..<1_152
                for key in keys {
                    let isLong = key == 1_150
                    let value = [UInt8](repeating: UInt8(step), count: isLong ? 9_000 : 1_500)
                    try transaction.put(value, at: key, in: t)
                }
            }
        }
        environment.close()
        let sound = try open()
        sound.close()
        var pages = try DamagedPages(of: dataFile)
        try pages.listValueAsFree(filledWith: 3)
        #expect(isDamage(error { _ = try open() }, of: .openEnvironment))
    }

    /// Settlements come after the last settlement of their table. A check for each of them took
    /// longer than LMDB's own work.
    @Test func `after keys at the end of a table, another key is still checked`() throws {
        _ = try makeFile { _ in }
        let environment = try open()
        defer { environment.close() }
        var pages = try DamagedPages(of: dataFile)
        try pages.zeroFirstLeaf(of: "t")
        func put(_ keys: [UInt64]) -> LMDBError? {
            error {
                try environment.write { transaction throws(LMDBError) in
                    let t: Table<UInt64> = try transaction.table("t")
                    for key in keys { try transaction.put([7], at: key, in: t) }
                }
            }
        }
        #expect(isDamage(put([200, 201, 3]), of: .put))
        #expect(isDamage(put([201, 200, 3]), of: .put))
        #expect(put([200, 202, 201]) == nil)
        let values = try environment.write { transaction throws(LMDBError) in
            try transaction.table("t", of: UInt64.self)
        }
        for key in [200, 201, 202] as [UInt64] {
            let value = try environment.read { transaction throws(LMDBError) in
                try transaction.get(values, key) { $0.withUnsafeBytes { $0[0] } }
            }
            #expect(value == 7)
        }
    }

    @Test func `a sound file is checked once`() throws {
        _ = try makeFile { _ in }
        let environment = try open(later: ["t"])
        defer { environment.close() }
        try environment.requireSoundStructure()
        // A second check would find this damage.
        var pages = try DamagedPages(of: dataFile)
        try pages.listLeafAsFree(of: "t")
        try environment.requireSoundStructure()
    }
}
