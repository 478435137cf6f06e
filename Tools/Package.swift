// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// The command-line tools, and the tests with real processes. They are a separate package, so that
// apps never fetch dependencies that only the tools need. The folder of a target says what it is for.
let package = Package(
    name: "FoldbackTools",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "foldback-trace", type: .dynamic, targets: ["CPowerTrace"])
    ],
    dependencies: [
        .package(name: "Foldback", path: "..", traits: ["ReplayTool"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        // MARK: Commands: tools for users

        .target(
            name: "FoldbackShell",
            dependencies: [
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            path: "Commands/FoldbackShell", swiftSettings: strict),
        .executableTarget(
            name: "foldback",
            dependencies: [
                "FoldbackShell",
                .product(name: "FoldbackHTTP", package: "Foldback"),
                .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Commands/foldback", swiftSettings: strict),

        // MARK: Examples: apps and projections to read and to run

        // Projections like the projections of apps.
        .target(
            name: "FoldbackExamples",
            dependencies: [
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
            ],
            path: "Examples/FoldbackExamples", swiftSettings: strict),
        .executableTarget(
            name: "feed-replay",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackReplay", package: "Foldback"),
            ],
            path: "Examples/feed-replay", swiftSettings: strict),
        // A replay tool over the log of the server of feed-web.
        .executableTarget(
            name: "feed-decisions",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
            ],
            path: "Examples/feed-decisions", swiftSettings: strict),
        // The example of the article "Sync an app", in one file.
        .executableTarget(
            name: "shopping-list",
            dependencies: [
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            path: "Examples/shopping-list", swiftSettings: strict),
        .executableTarget(
            name: "foldback-demo",
            dependencies: [
                "FoldbackExamples", "Processes",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/foldback-demo", swiftSettings: strict),
        // The example of FoldbackUI: a feed in a browser.
        .executableTarget(
            name: "feed-web",
            dependencies: [
                "FoldbackExamples", "Processes",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackUI", package: "Foldback"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/feed-web",
            resources: [
                .embedInCode("Page/feed.html"), .embedInCode("Page/feed.css"),
                .embedInCode("Page/feed.js"), .embedInCode("Page/stage.js"),
            ],
            swiftSettings: strict),
        // A replay tool over logs whose projections share their conflicts.
        .executableTarget(
            name: "chat-replay",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/chat-replay", swiftSettings: strict),

        // MARK: Proofs: programs that look for faults in Foldback, and that measure it

        // A library that power-cut tests load into a process (LD_PRELOAD), to record its writes.
        .target(name: "CPowerTrace", path: "Proofs/CPowerTrace"),
        .target(name: "CRecordedIdentity", path: "Proofs/CRecordedIdentity"),
        // A disk that loses what was not flushed, as a value.
        .target(
            name: "PowerCuts",
            dependencies: [.product(name: "FoldbackTesting", package: "Foldback")],
            path: "Proofs/PowerCuts", swiftSettings: strict),
        .executableTarget(
            name: "foldback-powercut",
            dependencies: [
                "CRecordedIdentity", "FoldbackShell", "PowerCuts", "Processes",
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/foldback-powercut", swiftSettings: strict),
        .executableTarget(
            name: "foldback-laws",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/foldback-laws", swiftSettings: strict),
        .executableTarget(
            name: "foldback-simulate",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/foldback-simulate", swiftSettings: strict),
        // Years of one user on a log that is compacted.
        .executableTarget(
            name: "foldback-soak",
            dependencies: [
                "Processes",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/foldback-soak", swiftSettings: strict),
        .executableTarget(
            name: "foldback-mutants",
            dependencies: [
                "Processes",
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/foldback-mutants", swiftSettings: strict),
        // Measures feed-web in Chromium for Tools/bench.
        .executableTarget(
            name: "feed-web-bench",
            dependencies: [
                "BrowserDriver", "feed-web", .product(name: "Foldback", package: "Foldback"),
            ],
            path: "Proofs/feed-web-bench", swiftSettings: strict),
        // Measures the report page and the inspector in Chromium.
        .executableTarget(
            name: "report-bench",
            dependencies: [
                "BrowserDriver", "Processes", "foldback",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Proofs/report-bench", swiftSettings: strict),
        // A process that tests damage and make its disk fail. They can observe the effects only
        // from outside the process.
        .executableTarget(
            name: "foldback-probe",
            dependencies: [
                "FoldbackShell", .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            path: "Proofs/foldback-probe", swiftSettings: strict),

        // MARK: Support: what several of these use

        // Starts processes, and ends them.
        .target(
            name: "Processes",
            dependencies: [.product(name: "Foldback", package: "Foldback")],
            path: "Support/Processes", swiftSettings: strict),
        // Chromium and feed-web, each in its own process.
        .target(
            name: "BrowserDriver",
            dependencies: [
                "Processes", .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
            ],
            path: "Support/BrowserDriver", swiftSettings: strict),

        // MARK: Tests

        .testTarget(
            name: "ShellTests",
            dependencies: [
                "FoldbackShell", .product(name: "FoldbackTesting", package: "Foldback"),
            ],
            exclude: ["Recorded/feed.ndjson", "Recorded/feed.expected.json"],
            resources: [.copy("Histories")], swiftSettings: strict),
        .testTarget(
            name: "PowerCutTests",
            dependencies: [
                "FoldbackShell", "PowerCuts", "Processes", "foldback-powercut", "foldback",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FeedWebTests",
            dependencies: [
                "BrowserDriver", "feed-decisions", "feed-web", "FoldbackExamples", "Processes",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackUI", package: "Foldback"),
                .product(name: "FlyingFox", package: "FlyingFox"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "FoldbackShell", "Processes", "foldback", "foldback-demo", "foldback-probe",
                "feed-replay", "chat-replay", "shopping-list",
                .product(name: "FoldbackServer", package: "Foldback"),
            ],
            swiftSettings: strict),
        // The feed in a real browser. Needs Chromium and chromedriver.
        .testTarget(
            name: "BrowserTests",
            dependencies: [
                "BrowserDriver", "feed-web", .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
            ],
            swiftSettings: strict),
        // The report page and the inspector in a real browser, with logs of real processes.
        .testTarget(
            name: "ReportBrowserTests",
            dependencies: [
                "BrowserDriver", "FoldbackExamples", "Processes", "feed-decisions", "feed-replay",
                "foldback", "foldback-demo", "foldback-probe",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
