#!/bin/sh
# Cells of Tables 1, 2 and 7 of Kharitonov and Chaabouni (2021) on one GPU. The same command goes on where it stopped.
#
#   bash reproductions/bias/run.sh OUT count40|count20|count10|agreement|lengths|scan
#
# `agreement`: FPA of the other tasks. `lengths`: description length of Tables 1b (l = 20), 1c and 1d (M = 36).
set -e
out=$1 part=$2
export PYTHONPATH=src XLA_PYTHON_CLIENT_MEM_FRACTION=0.92

bias() {
    begin=$(date +%s)
    python3 -m humboldt run bias --preset paper --no-estimate --keep none --out "$out" "$@" || echo "FAILED: $*"
    echo "SECONDS $(($(date +%s) - begin)): $*"
}

case $part in
    count*) for model in lstm_s2s_no_att lstm_s2s_att cnn_s2s transformer; do
        bias --task count_or_memorization --model $model --set l="${part#count}" --set description_length=false
    done ;;
    agreement) for cell in "add_or_multiply l=20" "hierarchical_or_linear d=4" "composition_or_memorization M=36" \
        "multiply_by_3 l=10"; do
        # shellcheck disable=SC2086
        set -- $cell
        bias --task "$1" --set "$2" --set description_length=false
    done ;;
    lengths) for cell in "hierarchical_or_linear d=4" "composition_or_memorization M=36" "add_or_multiply l=20"; do
        # shellcheck disable=SC2086
        set -- $cell
        bias --task "$1" --set "$2"
    done ;;
    scan) bias --task scan_jump --seeds "${SEEDS:-5}" --set description_length=false ;;
    *) echo "unknown part $part" >&2; exit 2 ;;
esac
