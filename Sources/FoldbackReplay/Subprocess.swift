#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// Commands that users give, run by `sh`.
    enum Subprocess {
        /// What a command says with its exit code, as for git bisect: 0 good, 125 cannot tell, 1 to 124 bad.
        ///
        /// - Throws: where it cannot be run, which `sh` says with 126 and 127, or where a signal ended it.
        static func verdict(
            _ command: String, input: [UInt8] = [], environment: [String: String] = [:]
        ) throws -> StateCheck {
            switch try run(command, input: input, environment: environment) {
            case 0: return .good
            case 125: return .inconclusive
            case 1...124: return .bad
            case 126, 127:
                throw ValidationError("the command, or one in it, cannot be run: \(command)")
            case let status:
                throw StreamFailure("the command ended with status \(status): \(command)")
            }
        }

        /// - Returns: the exit status; 128 and the signal's number where one ended it.
        private static func run(
            _ command: String, input: [UInt8], environment: [String: String]
        ) throws -> Int32 {
            let process = Process()
            process.environment = ProcessInfo.processInfo.environment
                .merging(environment) { $1 }
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", command]
            process.standardInput = try Self.input(input)
            // What it prints is for people, and standard output has the answer.
            process.standardOutput = FileHandle.standardError
            try process.run()
            process.waitUntilExit()
            return process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus
        }

        /// A file without a name and not a pipe: a command that does not read all of it breaks nothing, and there is
        /// no signal to be ignored, which it and the commands after it would inherit.
        private static func input(_ bytes: [UInt8]) throws -> FileHandle {
            guard !bytes.isEmpty else { return .nullDevice }
            let file = try VanishingFile()
            defer { file.remove() }
            try file.write(bytes)
            guard let handle = FileHandle(forReadingAtPath: file.path) else {
                throw StreamFailure.unreadable(file.path)
            }
            return handle
        }
    }
#endif
