import Foldback
import Foundation
import Processes

/// Runs the processes of a scenario with the tracing library, on real files.
struct Recorder {
    /// The directory for recordings.
    let directory: URL

    /// Whether processes can be recorded here: on Linux, with the library beside this executable.
    static var isAvailable: Bool {
        FileManager.default.fileExists(atPath: executable("libfoldback-trace.so"))
    }

    /// Returns the scenario's recording. Makes it, unless an earlier run made it in the directory.
    ///
    /// - Parameters:
    ///   - place: where its files are. Nil is a directory with the scenario's name.
    ///   - promised: the entries that must be in the log at the start.
    func recording(
        of scenario: Scenario, in place: URL? = nil, promised: Int = 0
    ) throws -> Recording {
        let place = place ?? self.place(of: scenario.name)
        let trace = place.appending(path: "trace")
        if !FileManager.default.fileExists(atPath: trace.path) {
            let root = place.appending(path: "root", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
            let start = place.appending(path: "trace.start")
            if FileManager.default.fileExists(atPath: start.path) {
                try FileManager.default.moveItem(at: start, to: trace)
            }
            try Data(Self.importedFile.utf8).write(to: place.appending(path: "imported.ndjson"))
            for (number, session) in scenario.sessions.enumerated() {
                try run(session, number, of: scenario, in: place)
            }
        }
        return try Recording(of: scenario, in: place, promised: promised)
    }

    /// Returns the directory of a recording.
    func place(of name: String) -> URL {
        directory.appending(
            path: name.replacing(",", with: "").replacing(" ", with: "-"),
            directoryHint: .isDirectory)
    }

    private func run(
        _ session: Scenario.Session, _ number: Int, of scenario: Scenario, in place: URL
    ) throws {
        guard let root = realpath(place.appending(path: "root").path, nil) else {
            throw RecordingError("the directory \(place.path) is missing")
        }
        defer { free(root) }
        let log = String(cString: root) + "/log"
        let input = place.appending(path: "input-\(number)")
        let output = place.appending(path: "output-\(number)")
        let lines = session.lines.map { line in
            line.replacing(#""\#(Script.root)/"#, with: "\"\(String(cString: root))/") + "\n"
        }
        try Data(lines.joined().utf8).write(to: input)
        try Data().write(to: output)
        let command =
            switch session.program {
            case .shell:
                [
                    executable("foldback"), "shell", log, "--replica", "me", "--confirmed-by",
                    scenario.kind.rawValue, "--durability", session.durability.rawValue, "--store",
                    session.store.rawValue,
                ]
            case .callers:
                [executable("foldback-probe"), "faults", session.store.rawValue, log, "6", "900"]
            case .successor: [executable("foldback-probe"), "successor", log]
            case .beginner: [executable("foldback-probe"), "begin", log]
            case .importer:
                [
                    executable("foldback"), "import", place.appending(path: "imported.ndjson").path,
                    log,
                ]
            }
        var environment = [
            "LD_PRELOAD": executable("libfoldback-trace.so"),
            "FOLDBACK_TRACE": place.appending(path: "trace").path,
            "FOLDBACK_TRACE_ROOT": String(cString: root),
        ]
        environment["FOLDBACK_TRACE_MAP_BYTES"] = session.mapBytes.map { "\($0)" }
        let end = try Processes.run(
            command, environment: environment, input: .file(FileHandle(forReadingFrom: input)),
            output: .file(FileHandle(forWritingTo: output)), errors: .inherited)
        guard end.status == 0 else {
            throw RecordingError("\(scenario.name): \(command) ended with \(end.status)")
        }
    }

    /// The file that the scenario "import" reads: 60 intents, most of them accepted.
    private static var importedFile: String {
        var lines = [
            #"{"codec":1,"foldback":1,"kind":"acknowledgement","replica":"old","version":1}"#
        ]
        for number in 1...60 {
            let event = #"{"op":"set","key":"k\#(number % 9)","value":\#(number)}"#
            lines.append(
                #"{"at":1,"event":\#(event),"intent":\#(number),"kind":"intent","replica":"old","sequence":\#(lines.count)}"#
            )
            guard number % 5 > 0 else { continue }
            lines.append(
                #"{"at":2,"intent":\#(number),"kind":"acknowledged","replica":"old","sequence":\#(lines.count)}"#
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
