import Foundation

/// The blocks of Swift code in an article, compared with the code that tests or examples run.
package struct ArticleCode {
    /// The blocks, without indentation.
    package let blocks: [String]
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// - Parameter article: the path of the article in the repository.
    package init(of article: String) throws {
        blocks = try Self.text(article).components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    /// Returns the blocks that are not code of a file, or of the Swift files of a folder.
    package func missing(in path: String) throws -> [String] {
        var code = [path]
        if !path.hasSuffix(".swift") {
            code = try FileManager.default
                .contentsOfDirectory(atPath: Self.root.appending(path: path).path)
                .filter { $0.hasSuffix(".swift") }.map { "\(path)/\($0)" }
        }
        let text = try code.map(Self.text).joined(separator: "\n")
        return blocks.filter { !text.contains($0) }
    }

    /// A file's lines without indentation.
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
            .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: "\n")
    }
}
