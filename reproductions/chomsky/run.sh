#!/bin/sh
# Twelve and more cells of Table 2, all 30 members each, with fewer steps than the paper's million.
# Usage: sh reproductions/chomsky/run.sh OUT [PART]; the same command again does only what is missing.
set -e
cd "$(dirname "$0")/../.."
OUT=$1
PART=${2:-all}
humboldt() { PYTHONPATH=src python3 -m humboldt "$@"; }
run() {
    steps=$1
    shift
    humboldt run chomsky --preset paper --out "$OUT" --set steps=$steps --set num_test_lengths=47 --set strings_per_length=128 "$@"
}
REGULAR="--task even_pairs --task modular_arithmetic_simple --task parity_check --task cycle_navigation"
if [ "$PART" = all ] || [ "$PART" = 1 ]; then
    run 10000 --task reverse_string --model stack_rnn
    run 5000 --task reverse_string --model rnn --model lstm
    run 10000 --model rnn $REGULAR
fi
if [ "$PART" = all ] || [ "$PART" = 2 ]; then
    run 5000 --model stack_rnn $REGULAR
    run 7000 --model lstm $REGULAR
    run 10000 --task bucket_sort --model lstm
fi
if [ "$PART" = all ] || [ "$PART" = 3 ]; then # what those steps were too few for
    run 20000 --task cycle_navigation --model lstm
    run 40000 --task modular_arithmetic_simple --model lstm
    run 25000 --task bucket_sort --model lstm
    run 40000 --task bucket_sort --model lstm --set learning_rates=5e-4
fi
humboldt show "$OUT"
