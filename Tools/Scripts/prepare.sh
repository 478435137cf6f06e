# Common functions. Each command in Tools sources this file.

step() { printf '\n== %s\n' "$*"; }

# need PACKAGE TEST: installs a Debian package if the command TEST fails.
need() {
    if eval "$2" >/dev/null 2>&1; then return; fi
    local root=""
    [ "$(id -u)" = 0 ] || root="sudo -n"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "$1 is missing. On Debian: apt-get install $1; on macOS with Homebrew: brew install lmdb pkgconf" >&2
        exit 1
    fi
    echo "installing $1"
    if ! { DEBIAN_FRONTEND=noninteractive $root apt-get install -y "$1" ||
        { $root apt-get update && DEBIAN_FRONTEND=noninteractive $root apt-get install -y "$1"; }; } \
        >/tmp/foldback-apt.$$ 2>&1; then
        tail -n 5 /tmp/foldback-apt.$$ >&2
        echo "$1 is missing and could not be installed. Run: sudo apt-get update && sudo apt-get install -y $1" >&2
        exit 1
    fi
    rm -f /tmp/foldback-apt.$$
}

# show: prints the lines of a build or a test run that a person needs.
show() {
    grep --line-buffered -avE "started\.$|passed after|^\[[0-9]+/[0-9]+\]|^Test Suite|Executed 0 tests|^↳ (Testing Library|Target Platform)|^Building|^Build complete|Planning build" || true
}

# quiet: prints only errors, and the last line of a build.
quiet() { grep --line-buffered -aE "error|warning: unre|Build complete" || true; }

command -v swift >/dev/null 2>&1 || {
    echo "swift is not on the PATH: install Swift 6.3 or later from swift.org/install" >&2
    exit 1
}

# The builds of Tools/test and Tools/mutants compile each module as a whole and once: without the last
# option, the compiler reads each module a second time, for its interface. A first build then takes
# about half the time. These builds have a folder of their own, so that `swift build` stays incremental.
whole_modules=(
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc "$(getconf _NPROCESSORS_ONLN)"
    -Xswiftc -no-emit-module-separately-wmo
)
# Without information for debuggers, a build takes less processor time.
lean=(-Xswiftc -gnone)

# library build|test OPTION...: runs swift on the library and its tests. A trait is a compilation
# condition of all modules. With the trait of the tools, their build takes the library's modules from
# this one.
library() {
    swift "$1" --traits ReplayTool --scratch-path .build/whole "${whole_modules[@]}" "${@:2}"
}

# tools build|test OPTION...: runs swift on the tools and their tests, in the folder of the library.
tools() {
    swift "$1" --package-path Tools --scratch-path .build/whole "${whole_modules[@]}" "${@:2}"
}

# server build|test OPTION...: runs swift on the servers and their tests. They can use PostgreSQL.
server() {
    need libpq-dev "pkg-config --exists libpq"
    swift "$1" --package-path Tools/Server --scratch-path .build/whole/server \
        "${whole_modules[@]}" "${@:2}"
}

# build_release PRODUCT...: builds tools for release.
build_release() {
    for product in "$@"; do
        swift build -c release --package-path Tools --product "$product" 2>&1 | quiet
    done
}
