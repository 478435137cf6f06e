import Foundation
import Processes
import Testing

/// The example of the article "Sync an app" runs, and says what the article says.
@Suite struct ExampleTests {
    private let directory = DiskDirectory()

    @Test func `the shopping list survives a lost server, a rejection, and signing out`() throws {
        let example = executable("shopping-list")
        for _ in 1...2 {
            let result = try run([example, directory.url.path])
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            #expect(
                result.output.replacing(directory.url.path, with: "DIRECTORY") == """
                    offline: milk
                    status: The device is offline.
                    milk: confirmed
                    caviar: rejected, caviar is sold out
                    olives: confirmed
                    the server lost its data, the screen has: milk, olives, tea
                    the server lacks: 2 of your changes, sending them again
                    the server has: milk, olives, tea
                    the screen has: milk, olives, tea
                    sign out: The log at DIRECTORY/account-1 has 1 pending intent; nothing was changed.
                    left: 0 logs

                    """)
        }
    }
}
