#!/bin/sh
# The pictures of README.md, made from the committed records. From the repository's root: sh docs/pictures/make.sh
set -e
${HUMBOLDT:-humboldt} references --picture docs/pictures/bench.svg  # from the references that ship
PLOT="${HUMBOLDT:-humboldt} plot"
$PLOT reproductions chomsky/scores --heading "paper, num_test_lengths=47, steps=10,000, strings_per_length=128" --output docs/pictures/chomsky.svg
$PLOT reproductions bliss/network-an_bn --heading "paper, generations=8,000, patience=2,500" --output docs/pictures/bliss.svg
$PLOT reproductions syntax/accuracies --heading "paper, precision=bfloat16" --output docs/pictures/syntax.svg
$PLOT reproductions bias/agreement --heading paper --output docs/pictures/bias.svg
# Trained on the corpus of version 1 (reproductions/pcfg_set/README.md).
$PLOT reproductions pcfg_set/depth --heading "paper, buckets=3, precision=bfloat16, second_beta=0.998, superseded" --output docs/pictures/pcfg_set.svg
