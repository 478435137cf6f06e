# Builds the documentation. Tools/test and Tools/document source this file. Warnings are errors.
#
# The symbols come from the modules that the builds of the library's and the tools' tests left, so
# this script compiles nothing. Each rule number (F7, L6, A1) becomes a link at its first use on a page. The sources keep
# the bare number.

# link_rules TARGET: turns the rule numbers in standard input into links. TARGET is the address of a
# rule, with RULE for its number. Between modules, DocC can link to an article, but not to a heading
# in it. A page is an article, or the doc comment of one declaration in a symbol graph.
link_rules() {
    perl -pe '
        BEGIN {
            $target = shift @ARGV;
            open my $rules, "<", "Sources/Foldback/Foldback.docc/Invariants.md" or die $!;
            while (<$rules>) { $defined{$1} = 1 if /^### ([A-Z]+\d+)/ }
        }
        sub link_first {
            my ($text) = @_;
            $text =~ s{(`[^`]*`|\[[^\]]*\]\([^)]*\)|<doc:[^>]*>)|(?<![\w#/])([A-Z]{1,2}\d{1,2})(?![\w.]*\w)}{
                my ($kept, $rule) = ($1, $2);
                defined $kept || !$defined{$rule} || $seen{$rule}++ ? ($kept // $rule) : "[$rule](" . ($target =~ s/RULE/$rule/r) . ")"
            }ge;
            return $text;
        }
        if (/^\{"/) {
            s{("docComment")|("text":")((?:[^"\\]|\\.)*)"}{
                $1 ? do { %seen = (); $1 } : $2 . link_first($3) . "\""
            }ge;
        } else {
            $fence = !$fence if /^\s*```/;
            $_ = link_first($_) unless $fence || /^#/ || /^    /;
        }' "$1"
}

# document MODULE DEPENDENCY...: builds a module's documentation in .build/docs, with links to the
# documentation of its dependencies.
document() {
    local module="$1" catalog=".build/docs/catalogs/$1.docc" dependencies=() rules="doc:Invariants#RULE"
    shift
    [ "$module" = Foldback ] || rules="doc:/Foldback/Invariants"
    for other in "$@"; do dependencies+=(--dependency ".build/docs/$other.doccarchive"); done
    mkdir -p "$catalog" ".build/docs/graphs/$module"
    for page in "Sources/$module/$module.docc"/*.md; do
        case "$page" in
        */Invariants.md) cp "$page" "$catalog/" ;;
        *) link_rules "$rules" <"$page" >"$catalog/$(basename "$page")" ;;
        esac
    done
    [ ! -d "Sources/$module/$module.docc/Resources" ] ||
        cp -r "Sources/$module/$module.docc/Resources" "$catalog/"
    # FoldbackReplay imports FlyingFox, which has a module of C.
    swift symbolgraph-extract -module-name "$module" -I "$modules" -I Sources/CLMDB \
        -I .build/whole/checkouts/FlyingFox/CSystemLinux/include -target "$target" \
        -output-dir ".build/docs/graphs/$module" -minimum-access-level public -skip-synthesized-members
    for graph in ".build/docs/graphs/$module"/*.json; do
        link_rules "$rules" <"$graph" >"$graph.linked" && mv "$graph.linked" "$graph"
    done
    docc convert "$catalog" --additional-symbol-graph-dir ".build/docs/graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --enable-experimental-external-link-support ${dependencies[@]+"${dependencies[@]}"} \
        --warnings-as-errors --output-dir ".build/docs/$module.doccarchive"
}

# at_once COMMAND...: runs commands at the same time, and fails if one of them does.
at_once() {
    local command process processes=()
    for command; do
        $command &
        processes+=($!)
    done
    for process in "${processes[@]}"; do wait "$process"; done
}

document_all() {
    rm -rf .build/docs && mkdir -p .build/docs
    target="$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)",/\1/p')"
    modules="$(library build --show-bin-path 2>/dev/null)/Modules"
    document Foldback
    at_once "document FoldbackHistory Foldback" "document FoldbackSync Foldback" \
        "document FoldbackUI Foldback"
    at_once "document FoldbackTesting Foldback FoldbackHistory FoldbackSync" \
        "document FoldbackServer Foldback FoldbackSync" \
        "document FoldbackHTTP Foldback FoldbackSync" \
        "document FoldbackReplay Foldback FoldbackHistory"
    docc merge .build/docs/*.doccarchive --synthesized-landing-page-name Foldback \
        --output-path .build/docs/site
    # The pages ask for it. Without it, each page is an error in the browser's log.
    echo '{}' >.build/docs/site/theme-settings.json
    echo "documentation built without warnings in .build/docs/site; Tools/document --built serves it"
}
