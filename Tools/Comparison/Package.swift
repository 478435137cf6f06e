// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors here; SwiftPM drops the setting where Foldback is somebody's dependency.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// A package of its own: it needs SQLite and GRDB, and nobody else here does.
let package = Package(
    name: "Comparison",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Foldback", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "foldback-compare",
            dependencies: ["Foldback", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict)
    ],
    swiftLanguageModes: [.v6]
)
