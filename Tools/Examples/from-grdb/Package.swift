// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors. SwiftPM ignores the setting in packages that depend on Foldback.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// A separate package, because only this example and the comparison need SQLite and GRDB.
let package = Package(
    name: "FromGRDB",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Foldback", path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(
            name: "FromGRDB",
            dependencies: ["Foldback", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .testTarget(
            name: "FromGRDBTests", dependencies: ["FromGRDB"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
