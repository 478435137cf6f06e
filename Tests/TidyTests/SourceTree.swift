import Foundation

/// The repository's files, for the tests of this target.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the Swift files below a folder, in order of path.
    static func sources(under folder: String) throws -> [SourceFile] {
        try files(under: folder) { $0.hasSuffix(".swift") }.map(SourceFile.init)
    }

    /// Returns the names of all tests. Only tests have a sentence as their name.
    static func testNames() throws -> Set<String> {
        let sources = try ["Tests", "Tools/Tests"].flatMap(sources)
        return Set(
            sources.flatMap(\.lines).filter { $0.holds("func `") }.compactMap { line in
                line.firstMatch(of: /\bfunc `([^`]+ [^`]+)`/).map { String($0.1) }
            })
    }

    /// Returns the wanted files below a folder, with paths relative to the root. Skips hidden
    /// files, such as build products.
    static func files(
        under folder: String, where isWanted: (String) -> Bool
    ) throws -> [(path: String, text: String)] {
        let base = root.appending(path: folder)
        guard
            let files = FileManager.default.enumerator(
                at: base, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        else { return [] }
        return try files.compactMap { $0 as? URL }
            .filter { isWanted($0.path) }
            .map { url in
                let path = url.path.replacingOccurrences(of: root.path + "/", with: "")
                return (path, try String(contentsOf: url, encoding: .utf8))
            }
            .sorted { $0.path < $1.path }
    }
}

struct SourceFile {
    let path: String
    let lines: [Substring]
    /// The lines that are not comments, with their numbers and without indentation.
    let code: [(number: Int, text: Substring)]

    init(path: String, text: String) {
        self.path = path
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        code = lines.enumerated().compactMap { index, line in
            let text = Substring(line.utf8.drop { $0 == UInt8(ascii: " ") })
            return text.hasPrefix("//") ? nil : (index + 1, text)
        }
    }

    /// The modules that the file imports, with the numbers of the lines.
    var imports: [(number: Int, module: String)] {
        code.compactMap { number, text in Self.imported(by: text).map { (number, $0) } }
    }

    /// Returns the module that a line imports, with whatever attributes, access and kind; nil if it
    /// imports none.
    static func imported(by line: Substring) -> String? {
        guard line.holds("import ") else { return nil }
        let pattern =
            #/^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|actor|func|var|let|typealias)\s+)?(\w+)/#
        return line.firstMatch(of: pattern).map { String($0.1) }
    }
}

extension Substring {
    /// Whether the text has the bytes of `word`. Faster than `contains`, which compares characters.
    func holds(_ word: String) -> Bool {
        var (text, word) = (self, word)
        return text.withUTF8 { text in
            word.withUTF8 { word in
                guard var start = text.baseAddress, let first = word.first else { return false }
                let end = start + text.count
                while end - start >= word.count,
                    let found = memchr(start, Int32(first), end - start - word.count + 1)
                {
                    if memcmp(found, word.baseAddress!, word.count) == 0 { return true }
                    start = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
                }
                return false
            }
        }
    }
}
