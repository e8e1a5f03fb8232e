# What operations cost, counted and not timed.
# shellcheck shell=bash

budget_of_requests_calls_and_records() {
    needs strace
    usual "each mode costs something else"
    mkdir "$scratch/counted"
    python3 "$here/../../bench/budget" "$program" "$scratch/counted" || { (($? == 77)) && skip "nothing can be mounted under strace here"; fail "over the budget"; }
}
