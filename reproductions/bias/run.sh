#!/bin/sh
# Cells of Tables 1, 2 and 7 of Kharitonov and Chaabouni (2021) on one GPU. The same command goes on where it stopped.
#
#   bash reproductions/bias/run.sh OUT count40|count20|count10|agreement|lengths|scan
#
# `agreement`: FPA of the other tasks. `lengths`: description length of Tables 1c, 1d (M = 36) and 1b (l = 20), then 1a
# (l = 40), which takes longest. MODELS="lstm_s2s_att cnn_s2s" and CELLS="composition_or_memorization:M=36" narrow these
# two down; EXTRA="--set precision=tf32" adds options. `../lanes.py` runs several parts on one GPU at the same time.
set -e
trap 'exit 130' INT # humboldt saves and leaves; nothing else begins
out=$1 part=$2
export PYTHONPATH=${PYTHONPATH:-src} XLA_PYTHON_CLIENT_MEM_FRACTION=${XLA_PYTHON_CLIENT_MEM_FRACTION:-0.92}
tables="hierarchical_or_linear:d=4 composition_or_memorization:M=36 add_or_multiply:l=20"

bias() {
    begin=$(date +%s)
    python3 -m humboldt run bias --preset paper --no-estimate --keep none --out "$out" "$@" ${EXTRA:-} || echo "FAILED: $*"
    echo "SECONDS $(($(date +%s) - begin)): $*"
}

each_cell() { # cells, then further options
    cells=${CELLS:-$1}
    shift
    for cell in $cells; do
        for model in ${MODELS:-lstm_s2s_no_att lstm_s2s_att cnn_s2s transformer}; do
            bias --task "${cell%:*}" --set "${cell#*:}" --model "$model" "$@"
        done
    done
}

case $part in
    count*) each_cell "count_or_memorization:l=${part#count}" --set description_length=false ;;
    agreement) each_cell "$tables multiply_by_3:l=10" --set description_length=false ;;
    lengths) each_cell "$tables count_or_memorization:l=40" ;;
    scan) for model in ${MODELS:-lstm_s2s_no_att lstm_s2s_att cnn_s2s transformer}; do
        bias --task scan_jump --model "$model" --seeds "${SEEDS:-5}" --set description_length=false
    done ;;
    *) echo "unknown part $part" >&2; exit 2 ;;
esac
