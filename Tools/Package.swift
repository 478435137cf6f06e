// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// The command-line tools, and the tests with real processes. They are a separate package, so that
// apps never fetch dependencies that only the tools need.
let package = Package(
    name: "FoldbackTools",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Foldback", path: "..", traits: ["ReplayTool"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .target(
            name: "FoldbackShell",
            dependencies: [
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "FoldbackHistory", package: "Foldback"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "foldback",
            dependencies: [
                "FoldbackShell",
                .product(name: "FoldbackReplay", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // Projections like the projections of apps.
        .target(
            name: "FoldbackExamples",
            dependencies: [.product(name: "Foldback", package: "Foldback")], swiftSettings: strict),
        .executableTarget(
            name: "feed-replay",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackReplay", package: "Foldback"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "foldback-laws",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "foldback-simulate",
            dependencies: [
                "FoldbackExamples", .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "foldback-mutants",
            dependencies: [
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "foldback-demo",
            dependencies: [
                "FoldbackExamples",
                .product(name: "Foldback", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // A process that tests damage and make its disk fail. They can observe the effects only
        // from outside the process.
        .executableTarget(
            name: "foldback-probe",
            dependencies: ["FoldbackShell", .product(name: "Foldback", package: "Foldback")],
            path: "Tests/Probe", swiftSettings: strict),
        .testTarget(
            name: "ShellTests", dependencies: ["FoldbackShell"],
            exclude: ["Recorded/feed.ndjson", "Recorded/feed.expected.json"],
            resources: [.copy("Histories")], swiftSettings: strict),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "FoldbackShell", "foldback", "foldback-demo", "foldback-probe", "feed-replay",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
