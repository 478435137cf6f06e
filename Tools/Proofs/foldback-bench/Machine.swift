import Foundation

/// The facts about the machine that a figure depends on.
struct Machine: Sendable {
    let processor: String
    let coreCount: Int
    let kernel: String
    let fileSystem: String
    let date: String
    let toolchain: String
    /// The number of processes that ran or waited to run in the last minute; nil if unknown.
    ///
    /// Figures from a busy machine mean little.
    let load: Double?

    /// - Parameter directory: The directory on the measured file system.
    init(measuring directory: URL) {
        processor =
            Self.field("model name", of: "/proc/cpuinfo", separator: ":") ?? "unknown processor"
        coreCount = ProcessInfo.processInfo.activeProcessorCount
        let release = Self.text(of: "/proc/sys/kernel/osrelease")
        kernel = release.isEmpty ? ProcessInfo.processInfo.operatingSystemVersionString : release
        fileSystem = Self.fileSystem(of: directory) ?? "unknown file system"
        date = Date().formatted(.iso8601.year().month().day())
        toolchain = Self.swift + Self.build
        load = Self.text(of: "/proc/loadavg").split(separator: " ").first.flatMap { Double($0) }
    }

    var measurement: Measurement {
        let before = load.map { "load \($0) before the run" }
        let facts = [processor, "kernel \(kernel)", fileSystem, date, toolchain, before]
        return Measurement(
            name: "machine", value: Double(coreCount), unit: "cores", n: 1,
            note: facts.compactMap { $0 }.joined(separator: ", "))
    }

    /// The compiler's version, as far as conditional compilation can tell.
    private static var swift: String {
        #if compiler(>=6.4)
            "Swift 6.4 or later"
        #elseif compiler(>=6.3)
            "Swift 6.3"
        #else
            "Swift 6.2"
        #endif
    }

    private static var build: String {
        #if DEBUG
            ", a debug build: the figures mean nothing"
        #else
            ""
        #endif
    }

    /// The type of the file system that contains the directory: the file system with the longest
    /// matching mount point.
    private static func fileSystem(of directory: URL) -> String? {
        let path = directory.resolvingSymlinksInPath().path + "/"
        var best: (mount: String, type: String)?
        for line in text(of: "/proc/mounts").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let mount = fields[1].hasSuffix("/") ? String(fields[1]) : fields[1] + "/"
            guard path.hasPrefix(mount), mount.count >= best?.mount.count ?? 0 else { continue }
            best = (mount, String(fields[2]))
        }
        return best?.type
    }

    /// The resident memory of this process that no file backs, in bytes; nil if unknown.
    static var anonymousResidentBytes: Int? {
        field("RssAnon", of: "/proc/self/status", separator: ":")
            .flatMap { Int($0.filter(\.isNumber)) }
            .map { $0 * 1_024 }
    }

    /// The number of threads of this process; nil if unknown.
    static var threadCount: Int? {
        field("Threads", of: "/proc/self/status", separator: ":").flatMap { Int($0) }
    }

    /// How often the main thread, which is the main actor's thread, has gone to sleep so far; nil if
    /// unknown.
    static var mainThreadSleeps: Int? {
        let process = ProcessInfo.processInfo.processIdentifier
        return field(
            "voluntary_ctxt_switches", of: "/proc/self/task/\(process)/status", separator: ":"
        ).flatMap { Int($0) }
    }

    /// The processor time of the main thread so far.
    @MainActor static var mainThreadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The processor time of all threads of this process so far.
    static var processorMilliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }

    private static func field(
        _ name: String, of file: String, separator: Character
    ) -> String? {
        for line in text(of: file).split(separator: "\n") {
            let parts = line.split(separator: separator, maxSplits: 1)
            guard parts.count == 2 else { continue }
            if parts[0].trimmingCharacters(in: .whitespaces) == name {
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    private static func text(of file: String) -> String {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
