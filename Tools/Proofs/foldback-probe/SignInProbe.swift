import Foldback
import FoldbackShell
import FoldbackSync
import Foundation

/// `foldback-probe sign-in ACCOUNT LOCAL`: begins the log of an account from a state, unless it is there,
/// and brings the intents of a log without an account, as the article "Accounts" does. Then it removes that
/// log. The line is `signed in`.
enum SignInProbe {
    static func run(_ account: URL, _ local: URL) async throws {
        if !FileManager.default.fileExists(atPath: account.path) {
            try await ServerState.begin(at: account)
        }
        let store = try await open(account)
        if FileManager.default.fileExists(atPath: local.path) {
            let work = try await open(local)
            try await store.bring(.pending, from: work)
            await work.close()
            try await Store<Documents>.wipe(at: local, discardingPending: true)
        }
        await store.close()
        say("signed in\n")
    }

    /// `foldback-probe begin LOG`: begins a log from a state, also if a log is there. The line is `begun`.
    static func begin(_ log: URL) async throws {
        try await ServerState.begin(at: log)
        say("begun\n")
    }

    private static func open(_ log: URL) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
    }
}
