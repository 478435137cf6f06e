// swift-tools-version:6.2
import PackageDescription

/// Command-line tools and what proves the log with real processes: apart from Foldback, so that apps
/// never fetch what only these need.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

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
        // Projections that stand for what apps write.
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
        // What damage and failing disks do to a process can only be seen from outside of it.
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
