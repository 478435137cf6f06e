import Foundation

/// Runs a command, and writes the most memory that it used to a file, in KiB.
///
/// A parent's own memory counts as the child's until the child runs its program. This process is
/// small; the process of the tests is not.
enum PeakProbe {
    /// - Parameter arguments: the file, and the command with its arguments.
    static func run(_ arguments: ArraySlice<String>) throws {
        guard arguments.count >= 2, let file = arguments.first else { throw WrongUse() }
        let command = Array(arguments.dropFirst())
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        words.append(nil)
        var process = pid_t()
        guard posix_spawnp(&process, command[0], nil, nil, words, environ) == 0 else {
            throw WrongUse()
        }
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(process, &status, 0, &usage) == process else { throw WrongUse() }
        try "\(usage.ru_maxrss)".write(toFile: file, atomically: true, encoding: .utf8)
        let signal = status & 0x7F
        exit(signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
    }
}
