import Foundation
import Processes
import Testing

/// A developer forgot `throws(AuthorityFailure)`, and the compiler said "protocol requires nested type
/// 'Event'". What does it say now?
@Suite struct DiagnosticTests {
    private let directory = DiskDirectory()

    /// Returns what the compiler says about an app's source.
    private func diagnostics(of source: String) throws -> String {
        let file = directory.url.appending(path: "App.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let modules = executable("Modules")
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let map = root.appending(path: "Sources/CLMDB/module.modulemap").path
        return try run([
            "swiftc", "-swift-version", "6", "-typecheck", "-I", modules,
            "-Xcc", "-fmodule-map-file=\(map)", file.path,
        ]).errors
    }

    private func authority(submit: String, changes: String, waiting: String? = nil) -> String {
        let poll = waiting.map {
            """
                func changes(
                    after device: SyncPoint, waiting: Duration
                ) async \($0) -> Changes<Liked> { try await changes(after: device) }
            """
        }
        return """
            import Foldback
            import FoldbackSync
            struct Liked: Sendable {}
            struct Server: Authority {
                func submit(
                    _ intents: [Submission<Liked>], from device: SyncPoint
                ) async \(submit) -> Verdicts<Liked> { Verdicts([:]) }
                func changes(after device: SyncPoint) async \(changes) -> Changes<Liked> {
                    Changes(events: [], through: 0, hasMore: false)
                }
            \(poll ?? "")
            }

            """
    }

    @Test func `a plain throws of an authority is named by the compiler`() throws {
        let typed = "throws(AuthorityFailure)"
        let sound = try diagnostics(of: authority(submit: typed, changes: typed))
        #expect(sound == "")
        let polling = try diagnostics(
            of: authority(submit: typed, changes: typed, waiting: typed))
        #expect(polling == "")
        // The default replaced a long poll with a plain `throws`, without a word.
        for (submit, changes, waiting, function) in [
            ("throws", "throws", nil, "submit(_:from:)"),
            ("throws", typed, nil, "submit(_:from:)"),
            (typed, "throws", nil, "changes(after:)"),
            (typed, typed, "throws", "changes(after:waiting:)"),
            ("throws", "throws", "throws", "changes(after:waiting:)"),
        ] {
            let found = try diagnostics(
                of: authority(submit: submit, changes: changes, waiting: waiting))
            #expect(found.contains("type 'Server' does not conform to protocol 'Authority'"))
            #expect(found.contains("protocol requires function '\(function)'"))
            #expect(found.contains("async throws(AuthorityFailure)"))
            #expect(found.contains("candidate throws, but protocol does not allow it"))
            #expect(!found.contains("nested type"))
        }
    }
}
