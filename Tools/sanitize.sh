# Every test under a sanitizer; sourced by Tools/test, after prepare.sh.
#
# Builds in .build-thread or .build-address. Each process writes what the sanitizer finds to a file of its
# own in reports/ there, so that nothing is missed in a process whose errors a test reads, or which it
# kills. Nothing is suppressed but what Tools/leaks.supp names.

# sanitize thread|address
sanitize() {
    local name="$1" scratch="$PWD/.build-$1" failed="" options=()
    local reports="$scratch/reports" log="$scratch/log"
    rm -rf "$reports" "$log"
    mkdir -p "$reports"
    if [ "$name:$(uname)" = thread:Linux ]; then
        need clang "command -v clang"
        # Named by its content, so that a change is linked.
        local runtime="$scratch/tsan-runtime-$(cksum <Tools/tsan-runtime.c | tr -d ' ').o"
        clang -c -O1 -fPIC Tools/tsan-runtime.c -o "$runtime"
        options=(-Xlinker "$runtime")
    fi
    export TSAN_OPTIONS="log_path=$reports/report"
    export ASAN_OPTIONS="log_path=$reports/report"
    export LSAN_OPTIONS="suppressions=$PWD/Tools/leaks.supp:print_suppressions=0"
    # A tenth of the usual number of random commands, which then take as long as the other tests.
    export MODEL_STEPS="${MODEL_STEPS:-10000}"

    step "the library's tests, $name sanitizer"
    sanitized --scratch-path "$scratch" || failed=yes

    step "the tools' tests and the processes that they start, $name sanitizer"
    sanitized --scratch-path "$scratch/tools" --package-path Tools || failed=yes

    if [ -n "$(ls "$reports")" ]; then
        step "what the $name sanitizer reports"
        cat "$reports"/*
        failed=yes
    fi
    if [ -n "$failed" ]; then
        step "failed"
        echo "the whole output is in $log, what the sanitizer reports in $reports"
        return 1
    fi
    step "done: the $name sanitizer reports nothing"
    grep -aE "Test run with [0-9]+ tests? .* passed" "$log"
}

# All tests are Swift Testing's; XCTest's run of none leaks its own suites.
sanitized() {
    swift test --disable-xctest --sanitize "$name" ${options[@]+"${options[@]}"} "$@" 2>&1 |
        grep --line-buffered -av "Cannot export local symbol" | tee -a "$log" | show
}
