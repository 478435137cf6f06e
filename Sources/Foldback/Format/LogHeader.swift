/// The log's kind and identity, in the table `log` under the key "header".
package struct LogHeader: Equatable, Sendable {
    /// The newest format of a log. It is incremented when older code must not open the log. A log that
    /// was never compacted has format 1.
    package static let format: UInt16 = 2
    package static let key = "header"

    package let kind: LogKind
    /// Whether the log begins at a base, which the row `base` describes (C1).
    package var isCompacted = false
    package var replicas: ReplicaTable
    /// The data file when a store last opened it. A copy is a different file (L11).
    package var file: FileFingerprint
    /// The marker file of the last store that wrote to the log, then the marker file before it.
    ///
    /// They detect a data file that was overwritten in place by an older copy (L11).
    package var marks: [FileFingerprint]

    package init(
        kind: LogKind, replicas: ReplicaTable, file: FileFingerprint,
        marks: [FileFingerprint] = [.none]
    ) {
        self.kind = kind
        self.replicas = replicas
        self.file = file
        self.marks = marks
    }

    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(isCompacted ? 2 : 1 as UInt16)
        let code: UInt8 =
            switch kind {
            case .downlink: 1
            case .acknowledgement: 2
            }
        writer.fixed(code)
        writer.write(file)
        writer.variable(UInt64(replicas.names.count))
        for replica in replicas.names { writer.sized(replica.name.string) }
        for mark in marks { writer.write(mark) }
        _ = writer.seal(seed: 0)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: 0)
        let format = try reader.fixed(UInt16.self)
        guard 1...Self.format ~= format else { throw .newer("log format \(format)") }
        isCompacted = format == 2
        switch try reader.fixed(UInt8.self) {
        case 1: kind = .downlink
        case 2: kind = .acknowledgement
        case let code: throw .newer("kind of log \(code)")
        }
        file = try reader.mark()
        var names: [ReplicaID] = []
        for _ in 0..<(try reader.variable()) {
            guard let name = ReplicaID(try reader.sizedString()) else {
                throw .damaged("a replica in it has no usable name")
            }
            names.append(name)
        }
        guard !names.isEmpty else { throw .damaged("it names no replica") }
        replicas = ReplicaTable(names)
        var marks: [FileFingerprint] = []
        while !reader.isAtEnd { marks.append(try reader.mark()) }
        self.marks = marks.isEmpty ? [.none] : marks
    }
}

/// The inode and birth time of a file, which distinguish it from its copies.
package struct FileFingerprint: Equatable, Sendable {
    package let inode: UInt64
    /// Nanoseconds since 1970; 0 if the file system has no birth times.
    package let birth: UInt64

    package init(inode: UInt64, birth: UInt64) {
        self.inode = inode
        self.birth = birth
    }

    /// The fingerprint of an absent file.
    package static let none = FileFingerprint(inode: 0, birth: 0)
}

extension ByteWriter {
    fileprivate mutating func write(_ mark: FileFingerprint) {
        fixed(mark.inode)
        fixed(mark.birth)
    }
}

extension ByteReader {
    fileprivate mutating func mark() throws(FormatError) -> FileFingerprint {
        FileFingerprint(inode: try fixed(), birth: try fixed())
    }
}
