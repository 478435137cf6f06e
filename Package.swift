// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors. SwiftPM ignores the setting in packages that depend on Foldback.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Foldback",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Foldback", targets: ["Foldback"]),
        .library(name: "FoldbackHistory", targets: ["FoldbackHistory"]),
        .library(name: "FoldbackSync", targets: ["FoldbackSync"]),
        .library(name: "FoldbackServer", targets: ["FoldbackServer"]),
        .library(name: "FoldbackPostgres", targets: ["FoldbackPostgres"]),
        .library(name: "FoldbackHTTP", targets: ["FoldbackHTTP"]),
        .library(name: "FoldbackUI", targets: ["FoldbackUI"]),
        .library(name: "FoldbackTesting", targets: ["FoldbackTesting"]),
        .library(name: "FoldbackReplay", targets: ["FoldbackReplay"]),
    ],
    traits: [
        .trait(
            name: "ReplayTool",
            description: "Compiles FoldbackReplay, and fetches its dependencies."),
        .trait(
            name: "Postgres",
            description: "Compiles FoldbackPostgres, which needs libpq (Debian's libpq-dev)."),
    ],
    dependencies: [
        // For persistent maps: publishing a view does not copy its state.
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        // Only for the trait ReplayTool: commands, and the server of `inspect`.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "FoldbackLMDB", dependencies: ["CLMDB"], swiftSettings: strict),
        .target(name: "FoldbackCollections", swiftSettings: strict),
        .target(
            name: "Foldback",
            dependencies: [
                "FoldbackCollections", "FoldbackLMDB",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(
            name: "FoldbackHistory", dependencies: ["Foldback", "FoldbackCollections"],
            swiftSettings: strict),
        .target(
            name: "FoldbackSync", dependencies: ["Foldback", "FoldbackCollections"],
            swiftSettings: strict),
        .target(
            name: "FoldbackServer", dependencies: ["Foldback", "FoldbackSync"],
            swiftSettings: strict),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "FoldbackPostgres",
            dependencies: [
                "Foldback", "FoldbackServer", "FoldbackSync",
                .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: strict),
        .target(
            name: "FoldbackHTTP", dependencies: ["Foldback", "FoldbackSync"],
            swiftSettings: strict),
        .target(name: "FoldbackUI", dependencies: ["Foldback"], swiftSettings: strict),
        .target(
            name: "FoldbackTesting",
            dependencies: ["Foldback", "FoldbackCollections", "FoldbackHistory", "FoldbackSync"],
            swiftSettings: strict),
        .target(
            name: "FoldbackReplay",
            dependencies: [
                "Foldback", "FoldbackCollections", "FoldbackHistory",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["ReplayTool"])),
                .product(
                    name: "FlyingFox", package: "FlyingFox",
                    condition: .when(traits: ["ReplayTool"])),
                .product(
                    name: "FlyingSocks", package: "FlyingFox",
                    condition: .when(traits: ["ReplayTool"])),
            ],
            resources: [.embedInCode("Page")],
            swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["Foldback", "FoldbackLMDB", "FoldbackSync", "FoldbackTesting"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // The benchmarks and the tests use this example. For the tools, it is a part of
        // FoldbackExamples.
        .target(
            name: "MessageExample", dependencies: ["Foldback"],
            path: "Tools/Examples/FoldbackExamples/Messages", swiftSettings: strict),
        // This tool is not in the tools' package, because it counts folds and writes records with
        // `package` declarations, and because CLMDB is not a product. It adds no dependency that
        // apps would fetch.
        .executableTarget(
            name: "foldback-bench",
            dependencies: [
                "BenchmarkPages", "Foldback", "FoldbackHistory", "FoldbackLMDB", "FoldbackServer",
                "FoldbackSync", "FoldbackUI",
                "CAllocationCount", "CLMDB", "MessageExample",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ],
            path: "Tools/Proofs/foldback-bench", swiftSettings: strict),
        // Replaces malloc in the benchmarks, to count allocations.
        .target(name: "CAllocationCount", path: "Tools/Proofs/CAllocationCount"),
        // The page of the benchmarks, which tests can reach.
        .target(
            name: "BenchmarkPages", dependencies: ["FoldbackHistory"],
            path: "Tools/Proofs/BenchmarkPages", swiftSettings: strict),
        .testTarget(
            name: "BenchmarkPagesTests", dependencies: ["BenchmarkPages"], swiftSettings: strict),
        .testTarget(
            name: "FoldbackLMDBTests", dependencies: ["FoldbackLMDB", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackTests",
            dependencies: [
                "Foldback", "FoldbackCollections", "FoldbackHistory", "MessageExample",
                "TestSupport",
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "FoldbackHistoryTests", dependencies: ["FoldbackHistory", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackSyncTests",
            dependencies: ["FoldbackSync", "FoldbackTesting", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackServerTests",
            dependencies: [
                "FoldbackHTTP", "FoldbackHistory", "FoldbackServer", "FoldbackSync",
                "FoldbackTesting", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackHTTPTests",
            dependencies: ["FoldbackHTTP", "FoldbackSync", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackUITests",
            dependencies: ["FoldbackSync", "FoldbackTesting", "FoldbackUI", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoldbackTestingTests", dependencies: ["FoldbackTesting", "TestSupport"],
            exclude: ["Samples"],
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

// Tools/mutants builds the tests of few targets alone, and its own tool with them, so that it
// compiles its copy once.
if let tests = Context.environment["FOLDBACK_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll {
        $0.type == .executable || $0.type == .test && !tests.contains($0.name)
    }
    package.targets.append(
        .target(
            name: "Processes", dependencies: ["Foldback", "FoldbackTesting"],
            path: "Tools/Support/Processes", swiftSettings: strict))
    package.targets.append(
        .executableTarget(
            name: "foldback-mutants",
            dependencies: [
                "FoldbackHistory", "FoldbackTesting", "Processes",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tools/Proofs/foldback-mutants", swiftSettings: strict))
}
