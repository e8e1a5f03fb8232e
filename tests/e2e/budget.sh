# What operations cost, counted and not timed.
# shellcheck shell=bash

budget_of_requests_calls_and_records() {
    needs strace
    usual "each mode costs something else"
    mkdir "$scratch/counted"
    python3 "$here/../../bench/budget" "$program" "$scratch/counted" || { (($? == 77)) && skip "nothing can be mounted under strace here"; fail "over the budget"; }
}

# The mode "waiting" (tests/README.md).
budget_of_workers_that_never_spin() {
    needs strace
    usual "it is what the variable makes of it"
    local tracer spun
    spins() {
        begin --on-unfinished keep
        strace -f -qq -p "$daemon" -o "$scratch/trace" -e trace=sched_yield 2>"$scratch/err" &
        tracer=$!
        traced_by "$tracer"
        kill -0 "$tracer" 2>/dev/null || skip "strace cannot look at the daemon here: $(cat "$scratch/err")"
        seq 100 >counted
        cat counted >/dev/null
        kill "$tracer"
        wait "$tracer" || true
        spun=$(grep -c sched_yield "$scratch/trace" || true)
        end
    }
    # On a crowded machine a worker may be off its processor whenever it would look.
    for _ in 1 2 3 4 5; do
        spins
        [[ $spun == 0 ]] || break
    done
    (($(nproc) == 1)) || [[ $spun != 0 ]] || fail "nobody looked for the next request"
    export UNWRITE_SPIN=no
    spins
    [[ $spun == 0 ]] || fail "workers looked $spun times for the next request"
}
