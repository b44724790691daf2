#!/bin/sh
# Model-steps per second of ensembles on an accelerator: batch 128, hidden 256, 80 time steps (strings of 40 symbols).
# Fused loops beside scans, then PyTorch (cuDNN, CUDA graphs, streams).
# Usage: sh benchmarks/ensemble_speed.sh > records.jsonl
set -e
cd "$(dirname "$0")/.."
PYTHONPATH=src python3 benchmarks/ensemble_speed.py
PYTHONPATH=src python3 benchmarks/torch_recurrent.py
