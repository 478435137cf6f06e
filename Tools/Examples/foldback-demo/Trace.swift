import Foldback
import FoldbackExamples
import Foundation

/// An editing session: its first text, each transaction, and its last text.
struct Trace {
    let name: String
    let start: String
    let edits: [Edit]
    let end: String

    /// Reads a session in the format of github.com/josephg/editing-traces, `.json` or `.json.gz`.
    init(file: URL) throws {
        name = file.lastPathComponent
        let data = file.pathExtension == "gz" ? try unzipped(file) : try contents(of: file)
        let json: JSON
        do { json = try JSON(parsing: [UInt8](data)) } catch {
            throw TraceError("\(file.path) is not JSON: \(error)")
        }
        guard let end = json["endContent"]?.stringValue,
            let transactions = json["txns"]?.arrayValue
        else { throw TraceError("\(file.path) lacks \"endContent\" or \"txns\"") }
        start = json["startContent"]?.stringValue ?? ""
        self.end = end
        edits = try transactions.map { transaction in
            guard let patches = transaction["patches"] else {
                throw TraceError("a transaction of \(file.path) lacks \"patches\"")
            }
            return try Edit(json: patches)
        }
    }

    /// Makes a session in which a user types a text, corrects slips, and types words of each line
    /// again.
    init(typing text: String, name: String) {
        self.name = name
        start = ""
        end = text
        var typist = SloppyTypist(seed: 7)
        typist.type(text)
        edits = typist.edits
    }

    /// The edits to record; the first edit inserts the first text, unless it is empty.
    var intents: [Edit] {
        guard !start.isEmpty else { return edits }
        return [Edit(patches: [.init(position: 0, deletedCount: 0, inserted: start)])] + edits
    }
}

struct TraceError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The most bytes of a session or a text. The largest published session has 10 MB.
private let fileBytesMax = 64 << 20

/// Returns the bytes of a file that may be a device without an end.
///
/// - Throws: `TraceError` if there are more than a session needs.
func contents(of file: URL) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    return try contents(of: handle, named: file.path)
}

private func contents(of handle: FileHandle, named name: String) throws -> Data {
    var data = Data()
    while let piece = try handle.read(upToCount: 1 << 16), !piece.isEmpty {
        data += piece
        guard data.count <= fileBytesMax else {
            throw TraceError("\(name) has more than \(fileBytesMax) bytes; give a smaller file")
        }
    }
    return data
}

private func unzipped(_ file: URL) throws -> Data {
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-dc", file.path]
    let output = Pipe()
    gzip.standardOutput = output
    try gzip.run()
    // If this throws, gzip ends because nothing reads its output.
    let data = try contents(of: output.fileHandleForReading, named: "\(file.path), unpacked,")
    gzip.waitUntilExit()
    guard gzip.terminationStatus == 0 else { throw TraceError("gzip cannot read \(file.path)") }
    return data
}

/// Types a text one code point at a time.
///
/// About one code point in twelve is preceded by a slip, which is deleted at once. In each finished
/// line, some words are deleted and typed again, eight times.
private struct SloppyTypist {
    private(set) var edits: [Edit] = []
    private var written: [Unicode.Scalar] = []
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func type(_ text: String) {
        var lineStart = 0
        for scalar in text.unicodeScalars {
            if random(12) == 0 {
                insert(Unicode.Scalar(UInt8(97 + random(26))), at: written.count)
                delete(at: written.count - 1)
            }
            insert(scalar, at: written.count)
            if scalar == "\n" {
                for _ in 0..<8 { retype(partOf: lineStart..<written.count - 1) }
                lineStart = written.count
            }
        }
    }

    private mutating func retype(partOf line: Range<Int>) {
        guard line.count > 8 else { return }
        let length = min(line.count, 4 + Int(random(24)))
        let start = line.lowerBound + Int(random(UInt64(line.count - length + 1)))
        let word = Array(written[start..<start + length])
        for place in (start..<start + length).reversed() { delete(at: place) }
        for (offset, scalar) in word.enumerated() { insert(scalar, at: start + offset) }
    }

    private mutating func insert(_ scalar: Unicode.Scalar, at place: Int) {
        written.insert(scalar, at: place)
        edits.append(
            Edit(patches: [.init(position: place, deletedCount: 0, inserted: String(scalar))]))
    }

    private mutating func delete(at place: Int) {
        written.remove(at: place)
        edits.append(Edit(patches: [.init(position: place, deletedCount: 1, inserted: "")]))
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014): the same keystrokes every time.
    private mutating func random(_ bound: UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return (z ^ (z >> 31)) % bound
    }
}
