// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// Servers over HTTP. A separate package, because only servers need Hummingbird and JWTs. Files that
// the tools have too are symbolic links.
let package = Package(
    name: "FoldbackServers",
    platforms: [.macOS(.v15)],
    products: [
        // For a server of an app's own rules, in a package of its own.
        .library(name: "Serving", targets: ["Serving"])
    ],
    dependencies: [
        .package(name: "Foldback", path: "../..", traits: ["Postgres"]),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        // Serves the spaces of any rules: HTTP, tokens, configuration, health, a graceful stop.
        .target(
            name: "Serving",
            dependencies: [
                "CMalloc", "Foldback",
                .product(name: "FoldbackHistory", package: "Foldback"),
                .product(name: "FoldbackPostgres", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(name: "CMalloc"),
        // A server of documents: the partner of `foldback sync`.
        .executableTarget(
            name: "foldback-server",
            dependencies: [
                "Foldback", "Serving",
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            swiftSettings: strict),
        // A server with an app's own rules.
        .executableTarget(
            name: "feed-server",
            dependencies: [
                "Foldback", "FoldbackExamples", "Serving",
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            swiftSettings: strict),
        // A server with a flaw, for tests.
        .executableTarget(
            name: "trapping-server",
            dependencies: [
                "Foldback", "Serving",
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
            ],
            swiftSettings: strict),
        .target(
            name: "FoldbackExamples",
            dependencies: [
                "Foldback", .product(name: "FoldbackHistory", package: "Foldback"),
            ],
            swiftSettings: strict),
        // Checks a server in any language.
        .executableTarget(
            name: "conform",
            dependencies: [
                "Foldback",
                .product(name: "FoldbackHTTP", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // What fails on purpose: a proxy that cuts connections, calls of sockets, and PostgreSQL.
        .target(
            name: "FaultyNetwork",
            dependencies: ["Processes", .product(name: "FoldbackTesting", package: "Foldback")],
            swiftSettings: strict),
        // A server and two devices that are killed at random.
        .executableTarget(
            name: "server-demo",
            dependencies: [
                "FaultyNetwork", "Foldback", "Processes",
                .product(name: "FoldbackHTTP", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // Measures a server under load, beside HTTP that decides nothing.
        .executableTarget(
            name: "server-load",
            dependencies: [
                "FaultyNetwork", "Foldback", "Processes", "Serving",
                .product(name: "FoldbackHTTP", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(name: "Processes", dependencies: ["Foldback"], swiftSettings: strict),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "FaultyNetwork", "Foldback", "Processes", "Serving", "conform", "feed-server",
                "foldback-server", "server-demo", "trapping-server",
                .product(name: "FoldbackHTTP", package: "Foldback"),
                .product(name: "FoldbackPostgres", package: "Foldback"),
                .product(name: "FoldbackServer", package: "Foldback"),
                .product(name: "FoldbackSync", package: "Foldback"),
                .product(name: "FoldbackTesting", package: "Foldback"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
