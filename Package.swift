// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors here; SwiftPM drops the setting where Foldback is somebody's dependency.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Foldback",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Foldback", targets: ["Foldback"]),
        .library(name: "FoldbackHistory", targets: ["FoldbackHistory"]),
        .library(name: "FoldbackSync", targets: ["FoldbackSync"]),
        .library(name: "FoldbackTesting", targets: ["FoldbackTesting"]),
        .library(name: "FoldbackReplay", targets: ["FoldbackReplay"]),
    ],
    traits: [
        .trait(
            name: "ReplayTool",
            description: "FoldbackReplay has sources, and swift-argument-parser is fetched for it.")
    ],
    dependencies: [
        // Persistent maps: a published view costs no copy of the state behind it.
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        // For the trait ReplayTool alone.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "FoldbackLMDB", dependencies: ["CLMDB"], swiftSettings: strict),
        .target(
            name: "Foldback",
            dependencies: [
                "FoldbackLMDB",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(name: "FoldbackHistory", dependencies: ["Foldback"], swiftSettings: strict),
        .target(name: "FoldbackSync", dependencies: ["Foldback"], swiftSettings: strict),
        .target(
            name: "FoldbackTesting", dependencies: ["Foldback", "FoldbackHistory", "FoldbackSync"],
            swiftSettings: strict),
        .target(
            name: "FoldbackReplay",
            dependencies: [
                "Foldback", "FoldbackHistory",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["ReplayTool"])),
            ],
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["Foldback", "FoldbackLMDB", "FoldbackTesting"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // An example that is measured and tested here; the tools have it as a part of FoldbackExamples.
        .target(
            name: "MessageExample", dependencies: ["Foldback"],
            path: "Tools/Sources/FoldbackExamples/Messages", swiftSettings: strict),
        // Here and not beside the other tools: it counts folds and writes records as the log does, and
        // what it calls for that is `package`; and CLMDB is no product. It has no dependency that apps
        // would fetch.
        .executableTarget(
            name: "foldback-bench",
            dependencies: [
                "Foldback", "FoldbackHistory", "FoldbackLMDB", "CLMDB", "MessageExample",
            ],
            path: "Tools/Benchmarks", swiftSettings: strict),
        .testTarget(
            name: "FoldbackLMDBTests", dependencies: ["FoldbackLMDB", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackTests",
            dependencies: ["Foldback", "FoldbackHistory", "MessageExample", "TestSupport"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "FoldbackHistoryTests", dependencies: ["FoldbackHistory", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackSyncTests",
            dependencies: ["FoldbackSync", "FoldbackTesting", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackTestingTests", dependencies: ["FoldbackTesting", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ScenarioTests",
            dependencies: [
                "Foldback", "FoldbackHistory", "FoldbackSync", "FoldbackTesting", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
