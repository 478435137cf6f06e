import Foundation

/// Prints without a buffer. If the output is closed, the program goes on.
func printAtOnce(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}

/// Prints a line to the standard error.
func complain(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("feed-web: \(text)\n".utf8))
}
