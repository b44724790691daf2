#!/bin/sh
# What the numbers in README.md were made with. Each command may be stopped and run again; finished work is kept.
# Dropping the --set options runs the paper's whole grid.
set -e
out=${1:-results}
both="--task an_bn --task dyck_1"
humboldt run bliss $both --model stack_lstm --model baby_ntm --preset paper --set epochs=3 --out "$out"
humboldt run bliss $both --model lstm --preset paper --set hidden_size=32 --set penalties=none --out "$out"
humboldt run bliss $both --model lstm --preset paper --set hidden_size=2 --out "$out"
humboldt run bliss --task an_bn --model stack_lstm --model baby_ntm --preset paper --set epochs=50 --set factors=4,10 --out "$out"
humboldt show "$out" --suite bliss
