#!/usr/bin/env bash
# The runs behind what we say of the paper beyond its table: nondeterministic stacks, Missing Duplicate, the LSTM on
# Bucket Sort, three cells that need more steps; and the Transformers of the syntax suite with PyTorch's dropout.
#
#   bash reproductions/chomsky/findings.sh OUT [ndstack|others|syntax|all]
#
# Stops by itself after LIMIT seconds, with what is finished or half-trained saved in OUT, and exits with 3; the same
# command goes on from there. Exits with 0 when all is done. Two lanes share the accelerator, so that one trains while the
# other compiles, but only one process at a time has an NDStack-RNN, whose programs take minutes to compile; the runs of
# each lane are in the order of their importance. Compiled programs are kept in TMPDIR. SMALL=1 shrinks everything: a
# trial of this script in a few minutes on a CPU, whose scores mean nothing.
#
# One learning rate, 5e-4 (4e-3 for the small RNN), where the paper tries three; float32 but for `syntax`, which is
# bfloat16; fewer steps than the paper's million.
set -u
cd "$(dirname "$0")/../.." || exit 1
OUT=${1:?"usage: bash reproductions/chomsky/findings.sh OUT [ndstack|others|syntax|all]"}
PART=${2:-all}
LIMIT=${LIMIT:-570} PYTHON=${PYTHON:-python3} SMALL=${SMALL:-}
export PYTHONPATH=${PYTHONPATH:-src} XLA_PYTHON_CLIENT_PREALLOCATE=false
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-${TMPDIR:-/tmp}/humboldt-compiled}
END=$(($(date +%s) + LIMIT))
mkdir -p "$OUT"

left() { echo $((END - $(date +%s) - 20)); } # the last seconds are for the tables

run() { # TASK MODEL SEEDS STEPS [SETTING=VALUE ...]
    local task=$1 model=$2 seeds=$3 settings=() code seconds begin=$SECONDS log each
    settings=(learning_rates=5e-4 steps="$4" num_test_lengths=47 strings_per_length=128 "${@:5}")
    log=$OUT/$(echo "$task-$model-${*:4:2}" | tr ' =' '--').log
    if [ -n "$SMALL" ]; then
        seeds=1
        settings+=(steps=3 batch_size=4 train_lengths=1,6 test_lengths=7,12 num_test_lengths=3 strings_per_length=4)
        case $model in
            transformer_*) settings+=(width=8 num_heads=2 num_layers=1) ;;
            *) settings+=(hidden_size=8) ;;
        esac
    fi
    local -A last=() # of several values for one setting, the last
    for each in "${settings[@]}"; do last[${each%%=*}]=${each#*=}; done
    settings=()
    for each in "${!last[@]}"; do settings+=(--set "$each=${last[$each]}"); done
    seconds=$(left)
    # Starting and compiling take most of a minute, which would be wasted on less.
    [ "$seconds" -lt "${LEAST:-60}" ] && return 1
    # On SIGINT everything so far is saved.
    timeout --signal=INT --kill-after=20 "$seconds" \
        "$PYTHON" -m humboldt run chomsky --preset paper --no-estimate --task "$task" --model "$model" --seeds "$seeds" \
        "${settings[@]}" --out "$OUT" > "$log" 2>&1
    code=$?
    echo "$(date +%T) $task $model ${*:4}: exit status $code after $((SECONDS - begin)) s"
    return $((code != 0))
}

ndstack() {
    # Both arms of a task, then the next task. A string of 500 symbols needs 65 MB in the test: 12 lengths, 16 strings each.
    local arm=(num_stack_symbols=2 read_states=true num_test_lengths=12 strings_per_length=16) status=0 task fading seeds=10
    for task in reverse_string stack_manipulation; do
        for fading in false true; do
            run $task ndstack_rnn $seeds 5000 fading=$fading "${arm[@]}" || status=3
        done
        seeds=5
    done
    return $status
}

others() {
    local status=0
    run missing_duplicate rnn 10 8000 || status=3
    run missing_duplicate rnn 10 4000 hidden_size=64 batch_size=32 learning_rates=4e-3 || status=3
    run bucket_sort lstm 5 60000 relu_readout=true || status=3
    run bucket_sort lstm 5 60000 relu_readout=false || status=3
    run stack_manipulation stack_rnn 4 15000 || status=3
    run bucket_sort transformer_encoder 4 8000 positions=relative || status=3
    run reverse_string tape_rnn 4 26000 computation_tokens=0 num_tapes=1 || status=3
    return $status
}

syntax() {
    local extra="--set dropout=0.1" seeds=4 terminals="2 100"
    if [ -n "$SMALL" ]; then
        extra+=" --set train=64 --set validation=16 --set test=16 --set long=16 --set epochs=1 --set batch_size=32"
        extra+=" --set width=8 --set feed_forward_size=16 --set num_layers=1 --set learning_rates=5e-4"
        seeds=1 terminals=2
    fi
    OUT=$OUT LIMIT=$(left) SEEDS=$seeds TERMINALS=$terminals EXTRA=$extra PYTHON=$PYTHON \
        TASKS="nested_dependency cross_serial_dependency" MODELS="transformer_decoder transformer_encoder" \
        bash reproductions/syntax/run.sh
}

status=0
case $PART in
    ndstack | others | syntax) $PART || status=3 ;;
    all)
        ndstack &
        others || status=3
        wait $! || status=3
        syntax || status=3
        ;;
    *)
        echo "No part named '$PART'. Use ndstack, others, syntax or all." >&2
        exit 2
        ;;
esac
"$PYTHON" -m humboldt show "$OUT" | tee "$OUT/table.txt"
[ $status -eq 0 ] || echo "Not all is done; run the same command again to go on (logs are in $OUT)." >&2
exit $status
