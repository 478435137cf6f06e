import PowerCuts
import Testing

/// Born from the question whether the disk of the power-cut tests forgets as much as a real disk may
/// forget, and no more. Each test looks at the images of many seeds.
@Suite struct DiskTests {
    private static let seeds = UInt64(0)..<2_000
    private let root = FileID(inode: 1, birth: 1)
    private let file = FileID(inode: 2, birth: 1)
    private let other = FileID(inode: 3, birth: 1)

    /// Returns a disk on which the empty file "a" is there for sure.
    private func diskWithFile(without omission: Omission? = nil) -> Disk {
        var disk = Disk(without: omission)
        disk.perform(.start(root))
        disk.perform(.create(file, Place(root, "a")))
        disk.perform(.flush(root))
        return disk
    }

    private func write(_ byte: UInt8, _ count: Int, at offset: Int = 0) -> Operation {
        .write(file, offset: offset, bytes: ArraySlice(repeatElement(byte, count: count)))
    }

    /// Returns the different contents of the file "a" in all images; nil stands for an absent file.
    private func contents(of disk: Disk, at path: String = "a") -> Set<[UInt8]?> {
        Set(
            Self.seeds.map { seed in
                disk.image(seed: seed).items.first { $0.path == path }?.bytes
            })
    }

    private func names(on disk: Disk) -> Set<[String]> {
        Set(Self.seeds.map { disk.image(seed: $0).items.map(\.path) })
    }

    @Test func `a flushed write is in every image`() {
        var disk = diskWithFile()
        disk.perform(write(1, 3_000))
        disk.perform(.flush(file))
        #expect(disk.pendingCount == 0)
        #expect(contents(of: disk) == [[UInt8](repeating: 1, count: 3_000)])
    }

    @Test func `a write that is not flushed is there, not there, or there in part`() {
        var disk = diskWithFile()
        disk.perform(write(1, 1_024))
        let (one, zero) = ([UInt8](repeating: 1, count: 512), [UInt8](repeating: 0, count: 512))
        #expect(contents(of: disk) == [[], one, zero + one, one + one, zero + zero])
    }

    @Test func `a torn write has only old and new sectors`() {
        var disk = diskWithFile()
        disk.perform(write(1, 4_096))
        disk.perform(.flush(file))
        disk.perform(write(2, 2_000, at: 700))
        let found = contents(of: disk)
        #expect(found.count > 10)
        for case let bytes? in found {
            #expect(bytes.count == 4_096)
            #expect(bytes[..<700].allSatisfy { $0 == 1 } && bytes[2_700...].allSatisfy { $0 == 1 })
            for sector in 1...5 {
                let part = bytes[max(700, sector * 512)..<min(2_700, (sector + 1) * 512)]
                #expect(Set(part).count == 1)
            }
        }
    }

    @Test func `a write inside one sector is whole or missing`() {
        var disk = diskWithFile()
        disk.perform(write(1, 4_096))
        disk.perform(.flush(file))
        disk.perform(write(2, 120, at: 32))
        let old = [UInt8](repeating: 1, count: 4_096)
        var new = old
        new.replaceSubrange(32..<152, with: repeatElement(2, count: 120))
        #expect(contents(of: disk) == [old, new])
    }

    @Test func `later writes can be on the disk without earlier writes`() {
        var disk = diskWithFile()
        disk.perform(write(1, 512))
        disk.perform(write(2, 512, at: 512))
        let second = [UInt8](repeating: 0, count: 512) + [UInt8](repeating: 2, count: 512)
        #expect(contents(of: disk).contains(second))
    }

    @Test func `a synchronous write is in every image, and older writes need not be`() {
        var disk = diskWithFile()
        disk.perform(write(1, 512, at: 512))
        disk.perform(write(2, 512))
        disk.perform(.flushWrite(file))
        #expect(disk.pendingCount == 1)
        let (one, two) = ([UInt8](repeating: 1, count: 512), [UInt8](repeating: 2, count: 512))
        let zero = [UInt8](repeating: 0, count: 512)
        #expect(contents(of: disk) == [two, two + one, two + zero])
        disk.perform(.flush(file))
        #expect(contents(of: disk) == [two + one])
    }

    @Test func `an older write never covers a newer synchronous write`() {
        var disk = diskWithFile()
        disk.perform(write(1, 512))
        disk.perform(write(2, 512))
        disk.perform(.flushWrite(file))
        #expect(contents(of: disk) == [[UInt8](repeating: 2, count: 512)])
    }

    @Test func `a size that is not flushed is the old size or the new size`() {
        var disk = diskWithFile()
        disk.perform(write(1, 600))
        disk.perform(.flush(file))
        disk.perform(.resize(file, size: 10))
        let (old, new) = ([UInt8](repeating: 1, count: 600), [UInt8](repeating: 1, count: 10))
        #expect(contents(of: disk) == [old, new])
    }

    @Test func `a flush of a file makes its content durable, and not its name`() {
        var disk = Disk()
        disk.perform(.start(root))
        disk.perform(.create(file, Place(root, "a")))
        disk.perform(write(1, 10))
        disk.perform(.flush(file))
        #expect(contents(of: disk) == [nil, [UInt8](repeating: 1, count: 10)])
        disk.perform(.flush(root))
        #expect(contents(of: disk) == [[UInt8](repeating: 1, count: 10)])
    }

    @Test func `a rename is there or not there, and never in part`() {
        var disk = diskWithFile()
        disk.perform(.create(other, Place(root, "b")))
        disk.perform(.flush(root))
        disk.perform(write(1, 5))
        disk.perform(.flush(file))
        disk.perform(.rename(Place(root, "a"), Place(root, "b")))
        #expect(names(on: disk) == [["a", "b"], ["b"]])
        #expect(contents(of: disk, at: "b") == [[], [1, 1, 1, 1, 1]])
        disk.perform(.flush(root))
        #expect(names(on: disk) == [["b"]])
    }

    @Test func `an exchange of names is there or not there, and never in part`() {
        var disk = diskWithFile()
        disk.perform(write(1, 5))
        disk.perform(.flush(file))
        disk.perform(.create(other, Place(root, "b")))
        disk.perform(.flush(root))
        disk.perform(.exchange(Place(root, "a"), Place(root, "b")))
        #expect(names(on: disk) == [["a", "b"]])
        #expect(contents(of: disk) == [[], [1, 1, 1, 1, 1]])
        for seed in Self.seeds {
            let bytes = disk.image(seed: seed).items.map { $0.bytes ?? [] }
            #expect(bytes.count(where: \.isEmpty) == 1)
        }
        disk.perform(.flush(root))
        #expect(contents(of: disk) == [[]])
        disk.perform(.remove(Place(root, "b")))
        disk.perform(.flush(root))
        #expect(names(on: disk) == [["a"]])
    }

    @Test func `a removed file is back after a power cut, unless its directory is flushed`() {
        var disk = diskWithFile()
        disk.perform(.remove(Place(root, "a")))
        #expect(names(on: disk) == [["a"], []])
        disk.perform(.flush(root))
        #expect(names(on: disk) == [[]])
    }

    @Test func `nothing in a directory without a durable name can be reached`() {
        var disk = Disk()
        let directory = FileID(inode: 9, birth: 1)
        disk.perform(.start(root))
        disk.perform(.makeDirectory(directory, Place(root, "log")))
        disk.perform(.create(file, Place(directory, "a")))
        disk.perform(write(1, 5))
        disk.perform(.flush(file))
        disk.perform(.flush(directory))
        #expect(names(on: disk) == [[], ["log", "log/a"]])
        disk.perform(.flush(root))
        #expect(names(on: disk) == [["log", "log/a"]])
    }

    @Test func `a mapped file can have any content`() {
        var disk = Disk(lastContents: [file: [7, 7]])
        disk.perform(.start(root))
        disk.perform(.create(file, Place(root, "a")))
        disk.perform(.flush(root))
        disk.perform(write(1, 2))
        disk.perform(.flush(file))
        disk.perform(.map(file))
        let found = contents(of: disk)
        #expect(found.isSuperset(of: [[], [0, 0], [1, 1], [7, 7]]))
        #expect(found.count > 20)
    }

    @Test(arguments: Omission.allCases)
    func `an omitted flush makes nothing durable`(_ omission: Omission) {
        var disk = diskWithFile(without: omission)
        disk.perform(write(1, 5))
        disk.perform(.flushWrite(file))
        #expect(
            contents(of: disk).contains([])
                == (omission == .flushes || omission == .synchronousWrites))
        #expect(contents(of: disk).contains(nil) == (omission == .directoryFlushes))
        disk.perform(.flush(file))
        #expect(contents(of: disk).contains([]) == (omission == .flushes))
    }

    @Test func `an omission holds from its start on`() {
        var disk = Disk(without: .directoryFlushes, from: 3)
        disk.perform(.start(root))
        disk.perform(.create(file, Place(root, "a")))
        disk.perform(.flush(root))
        disk.perform(.create(other, Place(root, "b")))
        disk.perform(.flush(root))
        #expect(names(on: disk) == [["a"], ["a", "b"]])
    }

    @Test func `flushes of a copy, and new names of directories, can be left out`() {
        func disk(without omission: Omission?) -> Disk {
            var disk = Disk(without: omission)
            let directory = FileID(inode: 9, birth: 1)
            disk.perform(.start(root))
            disk.perform(.makeDirectory(directory, Place(root, "log.compacted")))
            disk.perform(.create(file, Place(directory, "a")))
            disk.perform(write(1, 5))
            disk.perform(.flush(file))
            disk.perform(.flush(directory))
            disk.perform(.flush(root))
            disk.perform(.rename(Place(root, "log.compacted"), Place(root, "log")))
            disk.perform(.flush(root))
            return disk
        }
        #expect(names(on: disk(without: nil)) == [["log", "log/a"]])
        #expect(contents(of: disk(without: nil), at: "log/a") == [[1, 1, 1, 1, 1]])
        #expect(contents(of: disk(without: .copyFlushes), at: "log/a").contains([]))
        #expect(
            names(on: disk(without: .directoryRenames)) == [
                ["log", "log/a"], ["log.compacted", "log.compacted/a"],
            ])
    }

    @Test func `a seed makes the same image again`() {
        var disk = diskWithFile()
        disk.perform(write(1, 9_000))
        disk.perform(.rename(Place(root, "a"), Place(root, "b")))
        for seed in 0..<UInt64(50) {
            let (first, second) = (disk.image(seed: seed), disk.image(seed: seed))
            #expect(first.files == second.files && first.names == second.names)
            #expect(first.lossText == second.lossText)
        }
    }

    @Test func `an image says what it lacks`() {
        var disk = diskWithFile()
        disk.perform(write(1, 100))
        disk.perform(.rename(Place(root, "a"), Place(root, "b")))
        let texts = Set(Self.seeds.map { disk.image(seed: $0).lossText })
        #expect(
            texts.contains(
                """
                Of 2 operations that were not flushed: the write of 100 bytes at 0 of b is missing; \
                the rename of a to b is missing.
                """))
        #expect(texts.contains("Of 2 operations that were not flushed: all are on the disk."))
        disk.perform(.flush(root))
        disk.perform(.flush(file))
        #expect(disk.image(seed: 1).lossText == "Everything was flushed.")
    }

    @Test func `a trace is read as it was written`() throws {
        let operations: [Operation] = [
            .start(root), .makeDirectory(other, Place(root, "d")),
            .create(file, Place(other, "a b")), .write(file, offset: 7, bytes: [10, 0, 32]),
            .flushWrite(file), .resize(file, size: 3), .flush(file), .map(file),
            .rename(Place(other, "a b"), Place(root, "c")),
            .exchange(Place(root, "c"), Place(root, "d")), .remove(Place(root, "c")),
            .answer([123, 10]),
        ]
        let trace = try Trace(parsing: operations.flatMap(\.encoded))
        #expect(trace.operations == operations)
        #expect(throws: TraceError.self) { try Trace(parsing: operations[3].encoded.dropLast(2)) }
    }
}
