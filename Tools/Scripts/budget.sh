# Steps with a budget. Tools/test sources this file after prepare.sh, and sets `effort`.
#
# A budget is the seconds that a step may take on two quiet cores. A busy machine makes a step slower,
# so more seconds are only a warning. Processor time hardly depends on other work: two cores give at
# most two seconds of it in each second, so a step that needs more than twice its budget cannot keep
# it, and fails the run. A slow machine needs more of it for everything. The first step is the
# yardstick for that: it needs `yardstick` seconds on the machine of the budgets. The processor time
# has each process whose parent waited for its end, so of Chromium only a part.

yardstick=8

times=$(mktemp)
clock=$(mktemp)

# processor_time: sets `used` to the seconds that this shell's ended processes were on a processor.
processor_time() {
    times >"$clock"
    used=$(tail -n 1 "$clock" | awk '{
        for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] }
        print sum
    }')
}

# timed QUICK ALL NAME COMMAND...: runs a step, and records its times and its budget: QUICK for
# Tools/test alone, ALL for --all. A step without a budget is left out.
timed() {
    local budget="$1" name="$3" start used before
    [ "$effort" = quick ] || budget="$2"
    shift 3
    if [ "$budget" = - ]; then
        step "$name: left out. Tools/test --all runs it."
        return
    fi
    step "$name"
    processor_time
    start=$SECONDS before=$used
    "$@"
    processor_time
    printf '%s\t' "$((SECONDS - start))" "$budget" "$before" "$used" >>"$times"
    echo "$name" >>"$times"
}

# spare_slow_machine: gives the random tests the quick effort on a machine that takes much longer than
# the one of the budgets, so that CI ends in time. The first step must have run.
slow_from=1.6
is_spared=
spare_slow_machine() {
    local slowness
    slowness=$(awk -F '\t' -v yardstick="$yardstick" '{ printf "%.1f", ($4 - $3) / yardstick }' "$times")
    [ "$FOLDBACK_TEST_EFFORT" = middle ] &&
        awk "BEGIN { exit !($slowness >= $slow_from) }" || return 0
    export FOLDBACK_TEST_EFFORT=quick
    is_spared=yes
    echo "this machine takes $slowness times as long as the one of the budgets: random tests and mutants are fewer"
}

# print_times: prints a table of the steps. The total also has what was installed before them.
print_times() {
    step "where the time went"
    awk -F '\t' -v total="$SECONDS" '
        function row(seconds, budget, processor, name) {
            printf "%9s %9s %12s  %s\n", seconds, budget, processor, name
        }
        BEGIN { row("seconds", "budget", "processor s", "step") }
        {
            row($1, $2, sprintf("%.0f", $4 - $3), $5)
            budget += $2; processor += $4 - $3
        }
        END { row(total, budget, sprintf("%.0f", processor), "total") }' "$times"
}

# check_times: warns about slow steps, and fails if a step needs more than its budget allows. The
# budgets are for the effort that a step was given, so other efforts have none.
check_times() {
    [ "$effort:$FOLDBACK_TEST_EFFORT" = quick:quick ] || [ "$is_spared" ] ||
        [ "$effort:$FOLDBACK_TEST_EFFORT" = middle:middle ] || return 0
    awk -F '\t' -v yardstick="$yardstick" '
        { processor = $4 - $3 }
        NR == 1 { slowness = processor > yardstick ? processor / yardstick : 1 }
        processor > 2 * $2 * slowness {
            printf "over budget: \"%s\" needs %.0f s of processor time. On two cores, %d s fit into its budget of %d s; this machine may take %.1f times as long\n",
                $5, processor, 2 * $2, $2, slowness
            failed = 1
            next
        }
        $1 > $2 { printf "slow: \"%s\" took %d s, budget %d s; the machine may be busy\n", $5, $1, $2 }
        END { exit failed }' "$times" >&2
}
