import Foundation
import Processes

/// The script `Tools/Server/cluster`: a primary and a standby of PostgreSQL in a folder.
package struct ClusterScript: Sendable {
    private let path: String
    private let folder: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - path: the script.
    ///   - folder: a folder for it alone.
    ///   - isFlushing: whether commits survive a power cut.
    package init(_ path: String, in folder: URL, isFlushing: Bool) {
        self.path = path
        self.folder = folder.path
        environment = ["FSYNC": isFlushing ? "on" : "off"]
    }

    /// Runs a command of the script, and returns what it printed.
    @discardableResult
    package func run(_ command: String, _ arguments: [String] = []) throws -> String {
        try Self.run([path, command, folder] + arguments, environment)
    }

    /// Runs a program that may start PostgreSQL.
    ///
    /// PostgreSQL stays, and inherits what is open. The socket by which Foundation notices that a process has
    /// ended would not end then.
    package static func run(
        _ words: [String], _ environment: [String: String] = [:]
    ) throws -> String {
        let closing =
            #"for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done; exec "$@""#
        let end = try Processes.run(
            ["bash", "-c", closing, "bash"] + words, environment: environment, secondsMax: 120)
        guard end.isSuccess else {
            throw ClusterError(
                description: "\(words.joined(separator: " ")): \(end.output)\(end.errors)")
        }
        // The last row of a query can end with empty columns.
        return end.output.trimmingCharacters(in: .newlines)
    }
}

package struct ClusterError: Error, CustomStringConvertible {
    package let description: String
}
