/// A file or a directory of a recorded disk, whatever its name: its inode and its birth time.
public struct FileID: Hashable, Sendable {
    public let inode: UInt64
    /// Nanoseconds since 1970; 0 if the file system does not store it.
    public let birth: UInt64

    public init(inode: UInt64, birth: UInt64) {
        self.inode = inode
        self.birth = birth
    }
}

/// A name in a directory.
public struct Place: Hashable, Sendable {
    public let directory: FileID
    public let name: String

    public init(_ directory: FileID, _ name: String) {
        self.directory = directory
        self.name = name
    }
}

/// One thing that a recorded process did to its files, or told its user.
public enum Operation: Hashable, Sendable {
    /// A process starts. Its files are below this directory, whose own name is on the disk.
    case start(FileID)
    case create(FileID, Place)
    case makeDirectory(FileID, Place)
    case write(FileID, offset: Int, bytes: ArraySlice<UInt8>)
    /// The last write to the file was a synchronous write, and it is on the disk now.
    case flushWrite(FileID)
    case resize(FileID, size: Int)
    /// A flush of a file or a directory.
    case flush(FileID)
    /// The process mapped the file. It can change the content without a call from now on.
    case map(FileID)
    case rename(Place, Place)
    /// Each of the names stands for what the other one stood for.
    case exchange(Place, Place)
    case remove(Place)
    /// The process wrote to its standard output.
    case answer(ArraySlice<UInt8>)
}

/// The operations of one or more processes, in order: the text that `CPowerTrace` writes.
public struct Trace: Sendable {
    public let operations: [Operation]

    public init(_ operations: [Operation]) { self.operations = operations }

    /// Reads a trace. The head of `power-trace.c` describes the text.
    ///
    /// - Throws: ``TraceError`` with the place of the first part that is not a trace.
    public init(parsing bytes: [UInt8]) throws(TraceError) {
        var operations: [Operation] = []
        var start = 0
        while start < bytes.count {
            let (operation, end) = try Self.operation(in: bytes, at: start)
            operations.append(operation)
            start = end
        }
        self.operations = operations
    }

    private static func operation(
        in bytes: [UInt8], at start: Int
    ) throws(TraceError) -> (Operation, end: Int) {
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            throw TraceError(offset: start, reason: "a line has no end")
        }
        let line = String(decoding: bytes[start..<end], as: UTF8.self).split(separator: " ")
        let numbers = line.dropFirst().compactMap { UInt64($0) }
        guard line.count == 6, numbers.count == 5 else {
            throw TraceError(offset: start, reason: "a line is not a word and five numbers")
        }
        let last = end + 1 + Int(numbers[4])
        guard last < bytes.count, bytes[last] == UInt8(ascii: "\n") else {
            throw TraceError(offset: start, reason: "the bytes of an operation are cut off")
        }
        let file = FileID(inode: numbers[0], birth: numbers[1])
        let other = FileID(inode: numbers[2], birth: numbers[3])
        let payload = bytes[(end + 1)..<last]
        let operation: Operation
        switch line[0] {
        case "start": operation = .start(file)
        case "create": operation = .create(file, Place(other, name(payload)))
        case "mkdir": operation = .makeDirectory(file, Place(other, name(payload)))
        case "write": operation = .write(file, offset: Int(numbers[2]), bytes: payload)
        case "flushed-write": operation = .flushWrite(file)
        case "size": operation = .resize(file, size: Int(numbers[2]))
        case "flush": operation = .flush(file)
        case "mapped": operation = .map(file)
        case "remove": operation = .remove(Place(file, name(payload)))
        case "answer": operation = .answer(payload)
        case "rename", "exchange":
            let names = payload.split(separator: 0)
            guard names.count == 2 else {
                throw TraceError(offset: start, reason: "a rename has not two names")
            }
            let (from, to) = (Place(file, name(names[0])), Place(other, name(names[1])))
            operation = line[0] == "rename" ? .rename(from, to) : .exchange(from, to)
        default: throw TraceError(offset: start, reason: "the word \(line[0]) is unknown")
        }
        return (operation, last + 1)
    }

    private static func name(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

/// A file that is not a trace.
public struct TraceError: Error, CustomStringConvertible {
    public let offset: Int
    public let reason: String

    public var description: String { "byte \(offset) of the trace: \(reason)" }
}

extension Operation {
    /// The operation as `CPowerTrace` writes it.
    public var encoded: [UInt8] {
        switch self {
        case .start(let file): line("start", file)
        case .create(let file, let place): line("create", file, place)
        case .makeDirectory(let file, let place): line("mkdir", file, place)
        case .write(let file, let offset, let bytes):
            line("write", file, UInt64(offset), 0, Array(bytes))
        case .flushWrite(let file): line("flushed-write", file)
        case .resize(let file, let size): line("size", file, UInt64(size))
        case .flush(let file): line("flush", file)
        case .map(let file): line("mapped", file)
        case .rename(let from, let to): line("rename", from, to)
        case .exchange(let from, let to): line("exchange", from, to)
        case .remove(let place): line("remove", place.directory, 0, 0, Array(place.name.utf8))
        case .answer(let bytes): line("answer", FileID(inode: 0, birth: 0), 0, 0, Array(bytes))
        }
    }

    private func line(_ word: String, _ file: FileID, _ place: Place) -> [UInt8] {
        line(word, file, place.directory.inode, place.directory.birth, Array(place.name.utf8))
    }

    private func line(_ word: String, _ from: Place, _ to: Place) -> [UInt8] {
        line(
            word, from.directory, to.directory.inode, to.directory.birth,
            Array(from.name.utf8) + [0] + Array(to.name.utf8))
    }

    private func line(
        _ word: String, _ file: FileID, _ third: UInt64 = 0, _ fourth: UInt64 = 0,
        _ bytes: [UInt8] = []
    ) -> [UInt8] {
        let head = "\(word) \(file.inode) \(file.birth) \(third) \(fourth) \(bytes.count)\n"
        return Array(head.utf8) + bytes + [UInt8(ascii: "\n")]
    }
}
