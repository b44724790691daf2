#!/bin/sh
# Model-steps per second of ensembles on an accelerator: batch 128, hidden 256, 80 time steps (strings of 40 symbols).
# Usage: sh benchmarks/ensemble_speed.sh > records.jsonl
set -e
cd "$(dirname "$0")/.."
for model in rnn lstm stack_rnn; do
    for precision in float32 bfloat16; do
        PYTHONPATH=src python3 benchmarks/training_speed.py --model $model --members 30 --lengths 40 --precision $precision
    done
done
