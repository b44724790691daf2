#!/bin/sh
# The pictures of README.md, from the repository's root: sh docs/pictures/make.sh
set -e
PLOT="${HUMBOLDT:-humboldt} plot"
# From the committed records.
$PLOT reproductions chomsky/scores --heading "paper, num_test_lengths=47, steps=10,000, strings_per_length=128" --output docs/pictures/chomsky.svg
$PLOT reproductions bliss/network-an_bn --heading "paper, generations=8,000, patience=2,500" --output docs/pictures/bliss.svg
$PLOT reproductions syntax/accuracies --heading "paper, precision=bfloat16" --output docs/pictures/syntax.svg
# From quick runs on two cores, whose members are in docs/pictures/quick:
#   humboldt run bias --task hierarchical_or_linear --model cnn_s2s --model transformer
#   humboldt run pcfg_set --task task_accuracy --model conv_s2s
#   humboldt archive results --output docs/pictures/quick/members.jsonl
$PLOT docs/pictures/quick bias/agreement --output docs/pictures/bias.svg
$PLOT docs/pictures/quick pcfg_set/depth --output docs/pictures/pcfg_set.svg
