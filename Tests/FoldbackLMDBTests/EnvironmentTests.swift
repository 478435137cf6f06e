import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask which errors callers of LMDB can cause, and whether this module turns each of
/// them into a typed error.
@Suite struct EnvironmentTests {
    private final class Reading: Sendable {
        let isDone = Atomic(false)
        let count = Atomic(0)
        let ended = DispatchSemaphore(value: 0)
    }

    let directory = TemporaryDirectory()

    private func open(
        mapSizeBytes: Int = 1 << 20, growthWaitMaxSeconds: Int = 60
    ) throws -> Environment {
        var options = Environment.Options()
        options.mapSizeBytes = mapSizeBytes
        options.growthWaitMaxSeconds = growthWaitMaxSeconds
        return try Environment.open(directory.log.path, options: options)
    }

    private func cause(of body: () throws -> Void) -> LMDBError.Cause? {
        do {
            try body()
            return nil
        } catch {
            return (error as? LMDBError)?.cause
        }
    }

    @Test func `a committed value is read, and an aborted write leaves no trace`() throws {
        let environment = try open()
        let table = try environment.write { transaction throws(LMDBError) in
            let table: Table<UInt64> = try transaction.table("t")
            try transaction.put([1, 2, 3], at: 5, in: table)
            return table
        }
        let aborted = cause {
            try environment.write { transaction throws(LMDBError) in
                try transaction.put([9], at: 5, in: table)
                throw LMDBError(.put, .badValueSize)
            }
        }
        #expect(aborted == .badValueSize)
        let value = try environment.read { transaction throws(LMDBError) in
            try transaction.get(table, 5) { $0.withUnsafeBytes { Array($0) } }
        }
        #expect(value == [1, 2, 3])
    }

    @Test func `L1: keys are in numeric order, and an append that is not last is refused`()
        throws
    {
        let environment = try open()
        let table = try environment.write { transaction throws(LMDBError) in
            let table: Table<UInt64> = try transaction.table("t")
            for key: UInt64 in [1, 255, 256, 65_536, 1 << 40] {
                try transaction.append([0], at: key, to: table)
            }
            return table
        }
        var keys: [UInt64] = []
        try environment.read { transaction throws(LMDBError) in
            try transaction.scan(table, from: 2) { key, _ in
                keys.append(key)
                return true
            }
        }
        #expect(keys == [255, 256, 65_536, 1 << 40])
        let refused = cause {
            try environment.write { transaction throws(LMDBError) in
                try transaction.append([0], at: 7, to: table)
            }
        }
        #expect(refused == .keyExists)
    }

    @Test func `L7: the map grows under active readers, and no reader sees wrong bytes`() throws {
        let environment = try open(mapSizeBytes: 64 << 10)
        let table = try environment.write { transaction throws(LMDBError) -> Table<UInt64> in
            try transaction.table("t")
        }
        let reading = Reading()
        for _ in 0..<2 {
            Platform.startThread {
                while !reading.isDone.load(ordering: .relaxed) {
                    #expect(isWhole(table, in: environment))
                    reading.count.add(1, ordering: .relaxed)
                }
                reading.ended.signal()
            }
        }
        for key: UInt64 in 1...600 {
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 8_000)
            try environment.write(reserveBytes: key % 2 == 0 ? 8_000 : 0) {
                transaction throws(LMDBError) in
                try transaction.append(value, at: key, to: table)
            }
        }
        reading.isDone.store(true, ordering: .relaxed)
        reading.ended.wait()
        reading.ended.wait()
        let count = try environment.read { transaction throws(LMDBError) in
            try transaction.count(of: table)
        }
        #expect(count == 600)
        #expect(environment.mapSizeBytes > 4 << 20)
        #expect(reading.count.load(ordering: .relaxed) > 0)
    }

    @Test func `L7: a write inside a read is an error, not a deadlock`() throws {
        let environment = try open()
        let inside = try environment.read { _ throws(LMDBError) in
            cause { try environment.write { _ throws(LMDBError) in } }
        }
        #expect(inside == .writeInsideRead)
    }

    @Test func `L7, L8: a reader that does not end blocks growth with an error`() async throws {
        let environment = try open(mapSizeBytes: 64 << 10, growthWaitMaxSeconds: 1)
        let table = try environment.write { transaction throws(LMDBError) -> Table<UInt64> in
            try transaction.table("t")
        }
        let isIn = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        let isOut = DispatchSemaphore(value: 0)
        Platform.startThread {
            try? environment.read { _ throws(LMDBError) in
                isIn.signal()
                mayGo.wait()
            }
            isOut.signal()
        }
        isIn.wait()
        #expect(environment.oldestReadNanoseconds > 0)
        let blocked = cause {
            try environment.write { transaction throws(LMDBError) in
                try transaction.put([UInt8](repeating: 0, count: 500_000), at: 1, in: table)
            }
        }
        #expect(blocked == .readerBlocksGrowth(seconds: 1))
        mayGo.signal()
        isOut.wait()
        #expect(environment.oldestReadNanoseconds == 0)
        try environment.write { transaction throws(LMDBError) in
            try transaction.put([UInt8](repeating: 0, count: 500_000), at: 1, in: table)
        }
    }

    private static func withEnvironment(_ body: (Environment) throws -> Void) throws {
        let directory = TemporaryDirectory()
        let environment = try Environment.open(directory.log.path)
        try body(environment)
        environment.close()
    }

    /// A thread could once end the read session of another thread. It then left the gate for its
    /// own read, so the map could move while that read was active.
    @Test func `a read session traps when it is ended twice or by another thread`() async {
        await #expect(processExitsWith: .success) {
            try Self.withEnvironment { try $0.session().end() }
        }
        await #expect(processExitsWith: .failure) {
            try Self.withEnvironment { environment in
                let (session, other) = (try environment.session(), try environment.session())
                session.end()
                session.end()
                other.end()
            }
        }
        await #expect(processExitsWith: .failure) {
            try Self.withEnvironment { environment in
                let session = try environment.session()
                Thread.detachNewThread {
                    _ = try? environment.session()
                    session.end()
                    exit(0)
                }
                DispatchSemaphore(value: 0).wait()
            }
        }
    }

    @Test func `L8: a second open in this process is refused, also through a link`() throws {
        let environment = try open()
        let link = directory.url.appending(path: "link").path
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: directory.log.path)
        #expect(cause { _ = try Environment.open(directory.log.path) } == .openInThisProcess)
        #expect(cause { _ = try Environment.open(link) } == .openInThisProcess)
        #expect(cause { _ = try Environment.openReadOnly(link) } == .openInThisProcess)
        environment.close()
        try Environment.open(link).close()
    }

    @Test func `a closed environment refuses reads and writes`() throws {
        let environment = try open()
        environment.close()
        environment.close()
        #expect(cause { try environment.read { _ throws(LMDBError) in } } == .closed)
        #expect(cause { try environment.write { _ throws(LMDBError) in } } == .closed)
    }

    @Test func `L10: only the owner can access the files and the directory`() throws {
        let environment = try open()
        environment.close()
        let manager = FileManager.default
        for name in ["", "data.mdb", "lock.mdb", "writer.pid"] {
            let path = directory.log.appending(path: name).path
            let mode = try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
        }
    }

    @Test func `an unusable path is an error that says why`() throws {
        let file = directory.url.appending(path: "file").path
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        #expect(cause { _ = try Environment.open(file) } == .notADirectory)
        #expect(cause { _ = try Environment.openReadOnly(directory.log.path) } == .missing)
        #expect(cause { _ = try Environment.open(file + "/x/y") } == .system(errno: ENOTDIR))
        #expect(cause { _ = try Environment.open("") } == .system(errno: ENOENT))
    }

    @Test func `only versions of LMDB without known faults are supported`() {
        let supported = { (patch: Int32) in
            Environment.isSupported(major: 0, minor: 9, patch: patch)
        }
        #expect((20...40).filter(supported) == [24, 25] + Array(32...40))
        #expect(!Environment.isSupported(major: 1, minor: 0, patch: 1))
        #expect(!Environment.isSupported(major: 0, minor: 10, patch: 24))
    }

    @Test func `each error code of lmdb.h has its own case`() {
        let codes: [Int32] = Array(-30_799 ... -30_780)
        let causes = codes.map { LMDBError.Cause(code: $0) }
        #expect(Set(causes.map { "\($0)" }).count == codes.count)
        #expect(!causes.contains { if case .unknown = $0 { true } else { false } })
        #expect(LMDBError.Cause(code: 5) == .system(errno: 5))
        #expect(LMDBError.Cause(code: -1) == .unknown(-1))
    }

    @Test func `L6: only a system error of a commit leaves the outcome unknown`() {
        #expect(LMDBError(.commit, .system(errno: 5)).leavesOutcomeUnknown)
        #expect(LMDBError(.commit, .diskFull(freeBytes: 0)).leavesOutcomeUnknown)
        #expect(!LMDBError(.commit, .mapFull).leavesOutcomeUnknown)
        #expect(!LMDBError(.put, .system(errno: 5)).leavesOutcomeUnknown)
    }

    @Test func `L6: an error of a full disk names the free bytes once`() {
        let failure = StorageFailure(
            path: "a.log", reason: .diskFull(freeBytes: 0),
            detail: "\(LMDBError(.commit, .diskFull(freeBytes: 0)))", leavesOutcomeUnknown: true)
        for error in [LogError.storage(failure), .outcomeUnknown(intent: 1, failure)] {
            #expect("\(error)".components(separatedBy: "0 bytes free").count == 2, "\(error)")
        }
    }
}

/// Returns whether each value consists only of its key's lowest byte.
private func isWhole(_ table: Table<UInt64>, in environment: Environment) -> Bool {
    do throws(LMDBError) {
        return try environment.read { transaction throws(LMDBError) in
            var isWhole = true
            try transaction.scan(table) { key, value in
                let byte = UInt8(truncatingIfNeeded: key)
                value.withUnsafeBytes { isWhole = isWhole && $0.allSatisfy { $0 == byte } }
                return true
            }
            return isWhole
        }
    } catch {
        return false
    }
}

extension WriteTransaction {
    borrowing func append<Key>(
        _ value: [UInt8], at number: UInt64, to table: Table<Key>
    ) throws(LMDBError) {
        try withBytes(of: value) { value throws(LMDBError) in
            try append(value, at: number, to: table)
        }
    }
}
