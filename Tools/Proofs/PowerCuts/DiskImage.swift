/// The content of a disk after a power cut, and what the cut lost.
public struct DiskImage: Sendable {
    public let root: FileID?
    /// All names on the disk. Names in a directory that has no name itself cannot be reached.
    public internal(set) var names: [Place: FileID]
    /// The content of every file, also of files without a name.
    public internal(set) var files: [FileID: [UInt8]]
    /// The number of operations that were not flushed.
    public internal(set) var unflushedCount = 0
    /// The operations that are not on the disk, or only in part, in order.
    public private(set) var losses: [String] = []
    private var fates: [Int: Fate] = [:]

    init(root: FileID?, names: [Place: FileID] = [:], files: [FileID: [UInt8]] = [:]) {
        self.root = root
        self.names = names
        self.files = files
    }

    mutating func note(_ operation: Int, _ fate: Fate, _ text: String) {
        fates[operation] = fate
        switch fate {
        case .kept: break
        case .lost: losses.append("\(text) is missing")
        case .sizeOnly: losses.append("only the size of \(text) is there")
        case .torn: losses.append("\(text) is torn")
        }
    }

    mutating func note(_ text: String) { losses.append(text) }

    /// The first ``losses`` in one sentence.
    public var lossText: String {
        guard unflushedCount > 0 else { return "Everything was flushed." }
        let shown = losses.prefix(Self.shownMax).joined(separator: "; ")
        let more = losses.count > Self.shownMax ? "; and \(losses.count - Self.shownMax) more" : ""
        let rest = losses.isEmpty ? "all are on the disk" : shown + more
        return "Of \(unflushedCount) operations that were not flushed: \(rest)."
    }

    private static let shownMax = 10

    /// The fate of each operation that was not flushed, by the operation's number in the trace.
    public var fateOfOperation: [Int: Fate] { fates }

    /// One file or directory below the root.
    public struct Item: Sendable {
        /// The path below the root, without a slash at its start.
        public let path: String
        public let id: FileID
        /// Nil for a directory.
        public let bytes: [UInt8]?
    }

    /// The files and directories that can be reached from the root, each directory before what is
    /// in it.
    public var items: [Item] {
        guard let root else { return [] }
        return items(in: root, below: "")
    }

    private func items(in directory: FileID, below path: String) -> [Item] {
        names.filter { $0.key.directory == directory }.sorted { $0.key.name < $1.key.name }
            .flatMap { place, id -> [Item] in
                let item = Item(path: path + place.name, id: id, bytes: files[id])
                guard item.bytes == nil else { return [item] }
                return [item] + items(in: id, below: item.path + "/")
            }
    }
}
