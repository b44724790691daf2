#!/bin/sh
# What the numbers in README.md were made with. Each command may be stopped and run again; finished work is kept.
# `--preset paper` alone, without --task, --model and --set, runs the paper's whole grid.
set -e
cd "$(dirname "$0")"
out=${1:-results}
both="--task an_bn --task dyck_1"
others="--task an_bn_cn --task an_bn_cn_dn --task an_bm_cn_plus_m --task dyck_2"
counting="--task an_bn --task an_bn_cn --task an_bn_cn_dn --task an_bm_cn_plus_m"
memory="--model stack_lstm --model baby_ntm"
# Table 2 and Figure 3.
humboldt run bliss $memory --preset paper --out "$out"
humboldt run bliss --model lstm --preset paper --set hidden_size=2 --out "$out"
humboldt run bliss --model lstm --preset paper --set hidden_size=32 --out "$out"
humboldt run bliss $both --model lstm --preset paper --set hidden_size=128 --out "$out"
humboldt run bliss $others --model lstm --preset paper --set hidden_size=128 --set penalties=none --out "$out"
# What the order of strings does.
humboldt run bliss $counting $memory --preset paper --set string_order=corpus --out "$out"
# What batches do.
humboldt run bliss --task an_bn $memory --preset paper --set factors=1 --set epochs=50 --set batch_size=10 --out "$out"
humboldt run bliss --task an_bn --model stack_lstm --preset paper --set factors=1 --set epochs=500 --set batch_size=10 --out "$out"
humboldt show "$out" --suite bliss --json > results.json
python figure_3.py < results.json > figure_3.csv
python met.py "$out" > met.json
# How many members meet the criteria: ten seeds in both orders, and all members of the cell with most of them.
all="humboldt run bliss --preset paper --out $out-all"
$all --task an_bn --model stack_lstm --seeds 10 --set factors=10
$all --task an_bn --model stack_lstm --seeds 10 --set factors=10 --set string_order=corpus
$all --task an_bm_cn_plus_m --model stack_lstm --set factors=2
python verdicts.py "$out-all" > verdicts.json
python table_2.py
# The preset `quick`.
humboldt run bliss --preset quick --out "$out-quick"
humboldt show "$out-quick" --suite bliss --json > quick.json
