import Foundation

/// What the repository's code and articles say, from one pass over their bytes: the words of the
/// code, the members of each type, the defined rules, and the prose.
///
/// Code compiles, so each word of the code is a name that exists, here or in a library. Examples in
/// articles and comments count as code.
struct Repository {
    private(set) var prose = Prose()
    private(set) var rules: Set<String> = []
    private var words: Set<String> = []
    /// The paths of the files, and the names in them.
    private var files: Set<String> = []
    private var types: Set<String> = []
    /// The words of the lines that declare a type's members.
    private var members: [String: Set<String>] = [:]
    /// The words of the lines that declare a type, such as its protocols, and members on that line.
    private var heads: [String: Set<String>] = [:]
    /// The types around the present line, the innermost last.
    private var owners: [(indentation: Int, name: String)] = []

    /// Reads the repository's files.
    init() throws {
        let files = try ["Sources", "Tests", "Tools"].flatMap { folder in
            try SourceTree.files(under: folder) { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
        }
        let others = try ["Package.swift", "README.md"].map { path in
            let file = SourceTree.root.appending(path: path)
            return (path: path, text: try String(contentsOf: file, encoding: .utf8))
        }
        self.init(files + others)
    }

    init(_ files: [(path: String, text: String)]) {
        for (path, text) in files { read(text, path) }
    }

    // MARK: Asking

    /// Returns what is wrong with a name, like "Log has no rewrite"; nil if all of it exists.
    ///
    /// - Parameters:
    ///   - name: one name, or a type and its members, with `/` or `.` between them.
    ///   - labels: the labels of a function's parameters, like `_:once:`.
    func fault(in name: String, labels: String) -> String? {
        let path = name.split { "/.".contains($0) }.map(String.init)
        let all = path + labels.split(separator: ":").map(String.init)
        if let word = all.first(where: { !words.contains($0) && !files.contains($0) }) {
            return "the code has no \(word)"
        }
        for (type, member) in zip(path, path.dropFirst())
        where types.contains(type) && !has(type, member, besides: []) {
            return "\(type) has no \(member)"
        }
        return nil
    }

    private func has(_ type: String, _ member: String, besides seen: Set<String>) -> Bool {
        let (head, seen) = (heads[type] ?? [], seen.union([type]))
        return Self.synthesized.contains(member) || head.contains(member)
            || members[type]?.contains(member) == true
            || head.contains { !seen.contains($0) && has($0, member, besides: seen) }
    }

    /// Members that the compiler gives to types.
    private static let synthesized: Set<String> = ["self", "init", "allCases", "rawValue"]

    /// Returns whether a file has this name, with or without folders before it and `.swift` after
    /// it.
    func hasFile(_ name: String) -> Bool {
        let name = name.hasSuffix(".swift") ? name : name + ".swift"
        return files.contains { $0 == name || $0.hasSuffix("/" + name) }
    }

    // MARK: Reading files

    /// Where the letters of the rules are defined.
    private static let definitions = [
        "Sources/Foldback/Foldback.docc/Invariants.md": #"(?m)^### ([A-Z]+\d+)$"#,
        "Sources/FoldbackUI/FoldbackUI.docc/Rules.md": #"(?m)^- \*\*(U\d+)\*\*"#,
        "Sources/FoldbackUI/FoldbackUI.docc/Requirements.md": #"(?m)^\| (B\d+) \|"#,
        "Sources/FoldbackTesting/Laws/Law.swift": #"case \w+ = "(P\d+)""#,
    ]

    private mutating func read(_ text: String, _ path: String) {
        if let pattern = Self.definitions[path] {
            let found = Prose.matches(of: pattern, in: text).compactMap { $0.groups.first ?? nil }
            rules.formUnion(found)
        }
        files.insert(path)
        files.formUnion(path.split { "/.".contains($0) }.map(String.init))
        owners = []
        var text = text
        text.withUTF8 { bytes in
            var example: Example?
            var (start, number) = (0, 1)
            while start < bytes.count, let base = bytes.baseAddress {
                let rest = bytes.count - start
                let end = memchr(base + start, Int32(UInt8(ascii: "\n")), rest)
                let count = end.map { $0 - UnsafeMutableRawPointer(mutating: base + start) } ?? rest
                let line = UnsafeBufferPointer(start: base + start, count: count)
                let place = "\(path):\(number)"
                if path.hasSuffix(".swift") {
                    readSource(line, place, &example)
                } else {
                    readArticle(line, place, &example)
                }
                (start, number) = (start + count + 1, number + 1)
            }
        }
    }

    /// A block of code in an article or a comment.
    private enum Example { case swift, other }

    private mutating func readArticle(
        _ line: UnsafeBufferPointer<UInt8>, _ place: String, _ example: inout Example?
    ) {
        let text = String(decoding: line, as: UTF8.self)
        let start = text.drop { $0 == " " }
        if start.hasPrefix("```") {
            example = example == nil ? (start == "```swift" ? .swift : .other) : nil
        } else if example == .swift || text.hasPrefix("    ") {
            _ = readCode(line, place)
        } else if example == nil {
            prose.add(text, at: place)
        }
    }

    private mutating func readSource(
        _ line: UnsafeBufferPointer<UInt8>, _ place: String, _ example: inout Example?
    ) {
        guard let start = readCode(line, place) else {
            example = nil
            return
        }
        let comment = UnsafeBufferPointer(rebasing: line[start...])
        let text = String(decoding: comment, as: UTF8.self)
        if text.hasPrefix("/ ```") {
            example = example == nil ? .swift : nil
        } else if example == nil {
            prose.add(text, at: place)
        } else {
            let outer = owners
            owners = []
            _ = readCode(UnsafeBufferPointer(rebasing: comment.dropFirst(2)), place)
            owners = outer
        }
    }

    // MARK: Reading lines

    /// Reads the words of a line. A name with spaces is that of a test, which is prose.
    ///
    /// - Returns: the index after the `//` of a comment; nil if the line has none.
    private mutating func readCode(
        _ line: UnsafeBufferPointer<UInt8>, _ place: String
    ) -> Int? {
        guard let base = line.baseAddress else { return nil }
        let count = line.count
        var found: [String] = []
        var (index, isText, indentation) = (0, false, 0)
        while indentation < count, base[indentation] == UInt8(ascii: " ") { indentation += 1 }
        index = indentation
        while index < count {
            let byte = base[index]
            let start = index
            index += 1
            if byte == UInt8(ascii: "\""), start == 0 || base[start - 1] != UInt8(ascii: "\\") {
                isText.toggle()
            } else if isText {
                continue
            } else if byte == UInt8(ascii: "/"), index < count, base[index] == byte {
                note(found, at: indentation)
                return index + 1
            } else if byte == UInt8(ascii: "`") {
                while index < count, base[index] != byte { index += 1 }
                let name = Self.text(base + start + 1, index - start - 1)
                if name.contains(" ") { prose.add(name, at: place) } else { found.append(name) }
                index += 1
            } else if Self.isWord(byte) {
                // The type that an extension names may be nested.
                let isPath = found.last == "extension"
                while index < count,
                    Self.isWord(base[index]) || isPath && base[index] == UInt8(ascii: ".")
                {
                    index += 1
                }
                found.append(Self.text(base + start, index - start))
            }
        }
        note(found, at: indentation)
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
            || byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "_")
    }

    private static func text(_ start: UnsafePointer<UInt8>, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Notes the words of a line, and what the line declares. Swift's format puts the members of a
    /// type four columns further in than the type.
    private mutating func note(_ found: [String], at indentation: Int) {
        for word in found { words.insert(word) }
        guard let place = found.firstIndex(where: { Self.keywords.contains($0) }) else { return }
        while let owner = owners.last, owner.indentation >= indentation { owners.removeLast() }
        if let owner = owners.last, owner.indentation + 4 == indentation {
            members[owner.name, default: []].formUnion(found[place...])
        }
        let rest = found[(place + 1)...]
        // The keyword `class` can also be the modifier of a function.
        guard Self.typeKeywords.contains(found[place]),
            let name = rest.first?.split(separator: ".").last.map(String.init),
            !Self.keywords.contains(name)
        else { return }
        if found[place] != "extension" { types.insert(name) }
        owners.append((indentation, name))
        heads[name, default: []].formUnion(rest.dropFirst())
    }

    private static let typeKeywords: Set = [
        "struct", "class", "enum", "protocol", "actor", "extension",
    ]

    private static let keywords = typeKeywords.union([
        "func", "var", "let", "case", "typealias", "associatedtype", "init", "subscript",
    ])
}
