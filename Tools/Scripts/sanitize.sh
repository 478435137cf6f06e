# Runs all tests under a sanitizer; Tools/test sources this file after prepare.sh.
#
# Builds in .build-thread or .build-address. Each process writes the sanitizer's reports to its own
# file in reports/ there. So no report is lost if a test reads a process's standard error or kills
# the process. Only the reports in Tools/Scripts/leaks.supp are suppressed.

# sanitize thread|address
sanitize() {
    local name="$1" scratch="$PWD/.build-$1" failed="" options=()
    local reports="$scratch/reports" log="$scratch/log"
    rm -rf "$reports" "$log"
    mkdir -p "$reports"
    if [ "$name:$(uname)" = thread:Linux ]; then
        need clang "command -v clang"
        # The name has the checksum of the content, so that a changed file is linked again.
        local runtime="$scratch/tsan-runtime-$(cksum <Tools/Scripts/tsan-runtime.c | tr -d ' ').o"
        clang -c -O1 -fPIC Tools/Scripts/tsan-runtime.c -o "$runtime"
        options=(-Xlinker "$runtime")
    fi
    export TSAN_OPTIONS="log_path=$reports/report"
    export ASAN_OPTIONS="log_path=$reports/report"
    export LSAN_OPTIONS="suppressions=$PWD/Tools/Scripts/leaks.supp:print_suppressions=0"
    # A tenth of the usual number of random commands, so that this test takes as long as the others.
    export MODEL_STEPS="${MODEL_STEPS:-10000}"

    step "the library's tests, $name sanitizer"
    sanitized --scratch-path "$scratch" || failed=yes

    step "the tools' tests and their processes, $name sanitizer"
    sanitized --scratch-path "$scratch/tools" --package-path Tools --skip BrowserTests || failed=yes

    if [ -n "$(ls "$reports")" ]; then
        step "reports of the $name sanitizer"
        cat "$reports"/*
        failed=yes
    fi
    if [ -n "$failed" ]; then
        step "failed"
        echo "the whole output is in $log, and the sanitizer's reports are in $reports"
        return 1
    fi
    step "done: the $name sanitizer reports nothing"
    grep -aE "Test run with [0-9]+ tests? .* passed" "$log"
}

# Only Swift Testing runs. XCTest has no tests here, and its empty run leaks its own suites.
sanitized() {
    swift test --disable-xctest --sanitize "$name" ${options[@]+"${options[@]}"} "$@" 2>&1 |
        grep --line-buffered -av "Cannot export local symbol" | tee -a "$log" | show
}
