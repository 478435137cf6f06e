// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors. SwiftPM ignores the setting in packages that depend on Foldback.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// A separate package, because only this tool needs SQLite and GRDB. Files that other tools have too
// are symbolic links.
let package = Package(
    name: "Comparison",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Foldback", path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(
            name: "FoldbackExamples", dependencies: ["Foldback"], swiftSettings: strict),
        .executableTarget(
            name: "foldback-compare",
            dependencies: [
                "Foldback", "FoldbackExamples", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
