/// Calls that a negative control treats as not done.
public enum Omission: String, CaseIterable, Sendable {
    /// Flushes of files, and synchronous writes.
    case flushes
    /// Synchronous writes: LMDB's writes of a meta page under `.durable`.
    case synchronousWrites = "synchronous-writes"
    case directoryFlushes = "directory-flushes"
    /// Flushes of files in `NAME.compacted` and `NAME.new`: of logs that get their names later.
    case copyFlushes = "copy-flushes"
    /// New names of directories are not durable, although a flush of their directory is done.
    case directoryRenames = "directory-renames"
}

/// A disk during a recording: what is on it for sure, and what may be on it after a power cut.
///
/// The disk promises as little as POSIX does:
/// - A flush of a file makes the file's content and size durable, but no name.
/// - A flush of a directory makes the names in it durable.
/// - Every other operation may be on the disk or not, whatever its neighbors are. A write can be
///   there in part, by sector, with or without the growth of the file.
/// - A name change is there or not. A rename is one name change, and so is an exchange of names.
public struct Disk: Sendable {
    /// The bytes of a sector. A disk writes a sector whole or not at all.
    public static let sectorBytes = 512

    enum Change: Sendable {
        case write(offset: Int, bytes: ArraySlice<UInt8>)
        case resize(Int)
    }

    enum NameChange: Sendable {
        case set(Place, FileID)
        case move(Place, Place, FileID)
        /// What each place has after the exchange.
        case exchange(Place, FileID, Place, FileID)
        case remove(Place)

        /// Whether a flush of the directory makes the change durable. A journal has a rename whole,
        /// so a flush of either directory does.
        func isIn(_ directory: FileID) -> Bool {
            switch self {
            case .set(let place, _), .remove(let place): place.directory == directory
            case .move(let from, let to, _), .exchange(let from, _, let to, _):
                from.directory == directory || to.directory == directory
            }
        }
    }

    struct Pending<Content: Sendable>: Sendable {
        let operation: Int
        let content: Content
        /// Whether the change is on the disk for sure, although older changes of the file are not.
        var isCertain = false
    }

    struct File: Sendable {
        var durable: [UInt8] = []
        var pending: [Pending<Change>] = []
        var isMapped = false
        /// The last name, for descriptions.
        var name: String
    }

    private(set) var root: FileID?
    private(set) var files: [FileID: File] = [:]
    private(set) var directories: Set<FileID> = []
    private(set) var durableNames: [Place: FileID] = [:]
    private(set) var pendingNames: [Pending<NameChange>] = []
    /// The names as the process sees them.
    private var presentNames: [Place: FileID] = [:]
    private var operationCount = 0
    private let omitted: Omission?
    private let omissionStart: Int
    /// The contents of mapped files when the recording ended.
    let lastContents: [FileID: [UInt8]]

    /// - Parameters:
    ///   - omission: the calls that count as not done.
    ///   - start: the number of operations before the first that can be left out.
    public init(
        lastContents: [FileID: [UInt8]] = [:], without omission: Omission? = nil,
        from start: Int = 0
    ) {
        self.lastContents = lastContents
        (omitted, omissionStart) = (omission, start)
    }

    private var omission: Omission? { operationCount >= omissionStart ? omitted : nil }

    /// The number of operations that a power cut may lose.
    public var pendingCount: Int {
        files.values.reduce(pendingNames.count) { count, file in
            count + file.pending.count { !$0.isCertain }
        }
    }

    /// The files that the process may have changed without a call.
    public var mappedFiles: Set<FileID> { Set(files.filter(\.value.isMapped).keys) }

    /// Carries out the next operation of a trace.
    ///
    /// Traps if the operation names a file that the trace does not have.
    public mutating func perform(_ operation: Operation) {
        switch operation {
        case .start(let directory):
            root = directory
            directories.insert(directory)
        case .create(let file, let place):
            files[file] = File(name: place.name)
            change(.set(place, file))
        case .makeDirectory(let directory, let place):
            directories.insert(directory)
            change(.set(place, directory))
        case .write(let file, let offset, let bytes):
            change(file, .write(offset: offset, bytes: bytes))
        case .resize(let file, let size): change(file, .resize(size))
        case .flushWrite(let file):
            if omission != .synchronousWrites, !omitsFlush(of: file) { flushLastWrite(to: file) }
        case .flush(let file) where directories.contains(file):
            if omission != .directoryFlushes { flushNames(in: file) }
        case .flush(let file):
            if !omitsFlush(of: file) { flush(file) }
        case .map(let file): files[file]?.isMapped = true
        case .rename(let from, let to):
            guard let file = presentNames[from] else {
                preconditionFailure("the trace renames \(from.name), which does not exist")
            }
            files[file]?.name = to.name
            change(.move(from, to, file))
        case .exchange(let from, let to):
            guard let file = presentNames[from], let other = presentNames[to] else {
                preconditionFailure(
                    "the trace exchanges \(from.name) or \(to.name), which does not exist")
            }
            change(.exchange(from, other, to, file))
        case .remove(let place): change(.remove(place))
        case .answer: break
        }
        operationCount += 1
    }

    private mutating func change(_ file: FileID, _ change: Change) {
        precondition(files[file] != nil, "the trace changes a file that it does not have: \(file)")
        files[file]?.pending.append(Pending(operation: operationCount, content: change))
    }

    private mutating func change(_ change: NameChange) {
        Self.apply(change, to: &presentNames)
        pendingNames.append(Pending(operation: operationCount, content: change))
    }

    mutating func flush(_ file: FileID) {
        for change in files[file]?.pending ?? [] {
            Self.apply(change.content, to: &files[file]!.durable)
        }
        files[file]?.pending = []
    }

    private mutating func flushLastWrite(to file: FileID) {
        guard let pending = files[file]?.pending, !pending.isEmpty else { return }
        if pending.count == 1 {
            flush(file)
        } else {
            files[file]?.pending[pending.count - 1].isCertain = true
        }
    }

    private mutating func flushNames(in directory: FileID) {
        let isFlushed = pendingNames.map { change in
            change.content.isIn(directory)
                && !(omission == .directoryRenames && isNewNameOfDirectory(change.content))
        }
        for (change, isFlushed) in zip(pendingNames, isFlushed) where isFlushed {
            Self.apply(change.content, to: &durableNames)
        }
        pendingNames = zip(pendingNames, isFlushed).filter { !$0.1 }.map(\.0)
    }

    private func isNewNameOfDirectory(_ change: NameChange) -> Bool {
        switch change {
        case .move(_, _, let file), .exchange(_, let file, _, _): directories.contains(file)
        case .set, .remove: false
        }
    }

    private func omitsFlush(of file: FileID) -> Bool {
        switch omission {
        case .flushes: return true
        case .copyFlushes:
            let directory = presentNames.first { $0.value == file }?.key.directory
            let name = presentNames.first { $0.value == directory }?.key.name ?? ""
            return name.hasSuffix(".compacted") || name.hasSuffix(".new")
        case .synchronousWrites, .directoryFlushes, .directoryRenames, nil: return false
        }
    }

    static func apply(_ change: NameChange, to names: inout [Place: FileID]) {
        switch change {
        case .set(let place, let file): names[place] = file
        case .move(let from, let to, let file):
            names[from] = nil
            names[to] = file
        case .exchange(let from, let file, let to, let other):
            names[from] = file
            names[to] = other
        case .remove(let place): names[place] = nil
        }
    }

    static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let new):
            resize(&bytes, to: max(bytes.count, offset + new.count))
            bytes.replaceSubrange(offset..<(offset + new.count), with: new)
        case .resize(let size): resize(&bytes, to: size)
        }
    }

    static func resize(_ bytes: inout [UInt8], to size: Int) {
        if size < bytes.count { bytes.removeLast(bytes.count - size) }
        if size > bytes.count {
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
    }
}
