# Builds the documentation; Tools/test sources this file. Warnings are errors.

# document MODULE DEPENDENCY...: writes to .build/docs, with links to the dependencies'
# documentation.
document() {
    local module="$1" catalog="Sources/$1/$1.docc" dependencies=()
    shift
    for other in "$@"; do dependencies+=(--dependency ".build/docs/$other.doccarchive"); done
    mkdir -p ".build/docs/graphs/$module"
    cp "$symbols/$module.symbols.json" ".build/docs/graphs/$module/"
    docc convert "$catalog" --additional-symbol-graph-dir ".build/docs/graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --enable-experimental-external-link-support "${dependencies[@]}" \
        --warnings-as-errors --output-dir ".build/docs/$module.doccarchive"
}

document_all() {
    rm -rf .build/docs && mkdir -p .build/docs
    swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members 2>&1 | quiet
    symbols="$(dirname "$(swift build --show-bin-path)")/symbolgraph"
    document Foldback
    document FoldbackSync Foldback
    document FoldbackTesting Foldback FoldbackSync
    echo "no warnings; .build/docs"
}
