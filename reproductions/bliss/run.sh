#!/bin/sh
# What the numbers in README.md were made with. Each command may be stopped and run again; finished work is kept.
# Without the --set options these commands run the paper's whole grid.
set -e
cd "$(dirname "$0")"
out=${1:-results}
both="--task an_bn --task dyck_1"
memory="--model stack_lstm --model baby_ntm"
humboldt run bliss $both $memory --preset paper --set epochs=3 --out "$out"
humboldt run bliss $both --model lstm --preset paper --set hidden_size=32 --set penalties=none --out "$out"
humboldt run bliss $both --model lstm --preset paper --set hidden_size=2 --out "$out"
humboldt run bliss --task an_bn $memory --preset paper --set batch_size=none --set epochs=300 --set factors=1 --out "$out"
humboldt show "$out" --suite bliss --json > results.json
python figure_3.py < results.json > figure_3.csv
