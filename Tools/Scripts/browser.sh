# Runs the browser tests. Tools/test sources this file after prepare.sh.

# The version of the PyPI package axe-playwright-python: it contains axe-core 4.12.1.
axe_version=0.1.8
axe_sha256=84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc

# is_axe FILE: succeeds if the file is that version's axe.min.js.
is_axe() { echo "$axe_sha256  $1" | sha256sum --check --status 2>/dev/null; }

# need_browser: installs Chromium, and downloads axe-core to .build/browser/axe.
need_browser() {
    need chromium "command -v chromium"
    need chromium-driver "command -v chromedriver"
    local axe=.build/browser/axe
    if is_axe "$axe/$axe_version/axe.min.js"; then return; fi
    need python3-pip "python3 -m pip --version"
    echo "downloading axe-core"
    rm -rf "$axe"
    mkdir -p "$axe/download"
    if ! python3 -m pip --disable-pip-version-check download --quiet --no-deps \
        --dest "$axe/download" "axe-playwright-python==$axe_version"; then
        echo "axe-core could not be downloaded. Tests that need it say how to get it." >&2
        return
    fi
    python3 -m zipfile -e "$axe"/download/*.whl "$axe/download"
    mkdir "$axe/$axe_version"
    mv "$axe"/download/*/axe.min.js "$axe/$axe_version"
    rm -r "$axe/download"
    if ! is_axe "$axe/$axe_version/axe.min.js"; then
        rm -r "$axe"
        echo "axe.min.js of axe-playwright-python $axe_version has another SHA-256." >&2
        return 1
    fi
}

# browser_tests TARGET...: runs their tests. Each target has its own browser, so they run at the same
# time. Pictures for people are in .build/browser afterwards.
browser_tests() {
    local targets
    # A test looks at the documentation.
    [ -e .build/docs/site/index.html ] || { echo "the documentation is not built" >&2; return 1; }
    targets=$(IFS='|'; echo "$*")
    run tools --filter "^($targets)\\."
    # `swift test` succeeds also if nothing matches the filter.
    for target in "$@"; do
        if ! grep -aqE "Suite $target passed" "$log"; then
            echo "No test of $target has run." >&2
            return 1
        fi
    done
}
