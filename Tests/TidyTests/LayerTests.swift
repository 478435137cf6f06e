import Foundation
import Testing

/// Proves the direction of every arrow in the article Architecture: a folder uses only the folders
/// that its module lists before it. The compiler proves the arrows between modules.
@Suite struct LayerTests {
    /// The folders of each module, from the bottom up. "." is the module's own folder.
    private static let modules: [(root: String, folders: [String])] = [
        (
            "Sources/Foldback",
            [
                "Model", "JSON", "Members", "Format", "Storage", "Tables", "Projection", "Rows",
                "Fold",
                "Store/Writer", "Store", "Documents",
            ]
        ),
        ("Sources/FoldbackLMDB", ["Platform", "Pages", "Environment"]),
        (
            "Sources/FoldbackUI",
            [
                ".", "RemoteData", "Progress", "Fetch", "Items", "Lists", "Updates", "Models",
                "SwiftUI",
            ]
        ),
        ("Sources/FoldbackHistory", ["Histories", "Questions", "Frames", "Minimizing", "Plots"]),
        (
            "Sources/FoldbackTesting",
            [
                "System", "Text", "Choices", "Generators", "Evolution", "Shrinking", "Scripts",
                "Model", "Laws",
                "ChildProcess", "Reports", "Simulation", "Checking", "Authorities", ".",
            ]
        ),
    ]

    @Test(arguments: modules.indices)
    func `a folder uses only the folders below it`(_ index: Int) throws {
        let (root, folders) = Self.modules[index]
        let files = try SourceTree.sources(under: root).map { file in
            LayeredFile(file, folder: Self.folder(of: file, in: root))
        }
        for file in files where !folders.contains(file.folder) {
            Issue.record("\(file.source.path): give the folder \(file.folder) a place in the order")
        }
        let declarations = Declarations(files, order: folders)
        for file in files {
            guard let place = folders.firstIndex(of: file.folder) else { continue }
            for (number, name, home) in declarations.upwardUses(in: file, at: place) {
                Issue.record(
                    "\(file.source.path):\(number): \(name) belongs to \(home), above \(file.folder); move one of them"
                )
            }
        }
    }

    private static func folder(of file: SourceFile, in root: String) -> String {
        let parts = file.path.dropFirst(root.count + 1).split(separator: "/").dropLast()
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }
}

struct LayeredFile {
    let source: SourceFile
    let folder: String

    init(_ source: SourceFile, folder: String) {
        self.source = source
        self.folder = folder
    }
}

/// The folders of a module's types, and of the members that extensions add to types of lower
/// folders. A use of such a member can point upward although no type name shows it.
private struct Declarations {
    private var types: [String: Set<Int>] = [:]
    private var allTypes: [String: Set<Int>] = [:]
    private var reachable: [String: Set<Int>] = [:]
    private var ownMembers: [String: Set<Int>] = [:]
    private let order: [String]

    init(_ files: [LayeredFile], order: [String]) {
        self.order = order
        for file in files {
            guard let place = order.firstIndex(of: file.folder) else { continue }
            for line in file.source.lines {
                guard let name = Self.declared(line.drop { $0 == " " }) else { continue }
                allTypes[name, default: []].insert(place)
                // A nested type is reached through its outer type.
                if line.first != " " { types[name, default: []].insert(place) }
            }
        }
        for file in files {
            guard let place = order.firstIndex(of: file.folder) else { continue }
            noteMembers(of: file, at: place)
        }
    }

    /// Records the members of a file. A member is reachable from below if an extension adds it to a
    /// type of a lower folder or of another module.
    private mutating func noteMembers(of file: LayeredFile, at place: Int) {
        var isReachable = false
        for line in file.source.lines {
            if line.contains("extension "),
                let match = line.firstMatch(of: /^(?:package |public )?extension \[?(\w+)/)
            {
                isReachable = (types[String(match.1)]?.min() ?? -1) < place
            } else if line == "}" {
                isReachable = false
            }
            guard let name = Self.member(in: line) else { continue }
            if isReachable, line.prefix(5).last != " ", !line.contains("private ") {
                reachable[name, default: []].insert(place)
            } else {
                ownMembers[name, default: []].insert(place)
            }
        }
    }

    /// Returns the name of the function, property or case that a line declares. Ignores local
    /// constants and variables.
    private static func member(in line: Substring) -> String? {
        let isLocal = line.hasPrefix("     ") && !line.contains("static ")
        let keywords: Set<Substring> =
            isLocal ? ["func", "case"] : ["func", "case", "var", "let"]
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        guard line.hasPrefix("    "),
            let keyword = words.firstIndex(where: { keywords.contains($0) }),
            keyword + 1 < words.count
        else { return nil }
        return String(words[keyword + 1])
    }

    /// Returns the name of the type that a line declares.
    private static func declared(_ line: Substring) -> String? {
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        guard let keyword = words.firstIndex(where: { keywords.contains(String($0)) }),
            keyword + 1 < words.count,
            words[..<keyword].allSatisfy({ modifiers.contains(String($0)) })
        else { return nil }
        return String(words[keyword + 1])
    }

    private static let keywords: Set<String> = ["struct", "class", "enum", "protocol", "actor"]

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "final", "indirect", "frozen",
        "nonexhaustive",
    ]

    /// Returns the uses of names that only folders above the file declare.
    func upwardUses(in file: LayeredFile, at place: Int) -> [(Int, String, String)] {
        var uses: [(Int, String, String)] = []
        for (number, line) in file.source.code {
            for (name, isMember) in Self.names(in: line) {
                let homes =
                    types[name].map { $0.union(allTypes[name] ?? []) }
                    ?? (isMember ? memberHomes(name) : nil)
                guard let homes, let home = homes.min(), home > place,
                    !Self.isGeneric(name, in: file)
                else { continue }
                uses.append((number, name, order[home]))
            }
        }
        return uses
    }

    /// Returns the names in a line of code, and whether each name follows a dot. Skips string
    /// literals and comments.
    private static func names(in line: Substring) -> [(name: String, isMember: Bool)] {
        var names: [(String, Bool)] = []
        var name: [UInt8] = []
        var (isText, isMember, last) = (false, false, UInt8(ascii: " "))
        for byte in Array(line.utf8) + [UInt8(ascii: " ")] {
            let isWord =
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
            if byte == UInt8(ascii: "\""), last != UInt8(ascii: "\\") { isText.toggle() }
            if byte == UInt8(ascii: "/"), last == byte, !isText { break }
            if isWord, !isText {
                if name.isEmpty { isMember = last == UInt8(ascii: ".") }
                name.append(byte)
            } else if !name.isEmpty {
                names.append((String(decoding: name, as: UTF8.self), isMember))
                name = []
            }
            last = byte
        }
        return names
    }

    private func memberHomes(_ name: String) -> Set<Int>? {
        guard let homes = reachable[name], !Self.common.contains(name) else { return nil }
        return homes.union(ownMembers[name] ?? [])
    }

    /// Members of the standard library or of another module whose names extensions here use too.
    private static let common: Set<String> = [
        "count", "description", "first", "fold", "free", "get", "id", "index", "key", "keys",
        "last",
        "name",
        "snapshot", "text",
    ]

    /// Returns whether the file has a generic parameter, an associated type or a type alias of that
    /// name.
    private static func isGeneric(_ name: String, in file: LayeredFile) -> Bool {
        file.source.code.contains {
            $0.text.contains("associatedtype \(name)") || $0.text.contains("typealias \(name)")
                || $0.text.contains("<\(name)") || $0.text.contains(", \(name)>")
                || $0.text.contains(", \(name):")
        }
    }
}
