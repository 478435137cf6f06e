# Tests the README's install lines. Tools/test sources this file.

# check_install_lines: builds an app with each install line of the README, and runs the README's
# example in it. One line names this checkout by path, and the other line names a clone of it by
# URL. The second app is built for release, because no other step builds for release.
check_install_lines() {
    local root="$PWD" work
    work=$(mktemp -d)
    git clone --quiet --bare "$root" "$work/Foldback.git"
    git -C "$work/Foldback.git" update-ref refs/heads/main "$(git -C "$root" rev-parse HEAD)"
    local by_path by_url
    by_path=$(sed -n 's|^\(\.package(name: "Foldback", path: "\)[^"]*\(")\),.*|\1'"$root"'\2|p' README.md)
    by_url=$(sed -n 's|^\(\.package(url: "\)[^"]*\(", branch: "main")\),.*|\1file://'"$work"'/Foldback.git\2|p' README.md)
    [ -n "$by_path" ] && [ -n "$by_url" ] || {
        echo "README.md: the install lines were not found; keep them in the form that Tools/Scripts/install.sh expects" >&2
        return 1
    }
    local line configuration
    for configuration in debug release; do
        line=$by_path
        [ "$configuration" = debug ] || line=$by_url
        rm -rf "$work/App" && mkdir -p "$work/App/Sources/App"
        printf '%s\n' '// swift-tools-version:6.2' 'import PackageDescription' \
            'let package = Package(' \
            '    name: "App", platforms: [.macOS(.v15)],' \
            "    dependencies: [$line]," \
            '    targets: [' \
            '        .executableTarget(' \
            '            name: "App",' \
            '            dependencies: [.product(name: "Foldback", package: "Foldback")])' \
            '    ])' >"$work/App/Package.swift"
        {
            awk '/^```swift/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md
            echo 'try await like(in: URL(filePath: CommandLine.arguments[1]))'
        } >"$work/App/Sources/App/main.swift"
        echo "$configuration: $line"
        (cd "$work/App" && swift build -c "$configuration" 2>&1 | quiet &&
            swift run -c "$configuration" --skip-build App "$work/likes.log")
        rm -rf "$work/likes.log"
    done
    rm -rf "$work"
}
