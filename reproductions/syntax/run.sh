#!/usr/bin/env bash
# All four languages and four models at T = 2 and T = 100, with the paper's settings.
#
#   OUT=results bash reproductions/syntax/run.sh
#
# Three experiments share the accelerator (LANES; 30 Transformers hold up to 33 GB), so that it is not idle while one
# compiles or is scored. Stops by itself after LIMIT seconds, with what is finished saved, and exits with 3; the same command goes on
# from there, also on another machine if OUT travels with it (what is half-trained is then trained again). Exits with 0
# when all is done. Other variables narrow it down: TERMINALS, MODELS, TASKS (lists), SEEDS (10 in the paper; each with
# three learning rates), EXTRA (more options). More SEEDS later train only the new ones.
set -u
export OUT=${OUT:-reproductions/syntax/results} LIMIT=${LIMIT:-570} PYTHON=${PYTHON:-python3} SEEDS=${SEEDS:-10}
export EXTRA=${EXTRA:-} PYTHONPATH=${PYTHONPATH:-src} XLA_PYTHON_CLIENT_PREALLOCATE=false
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-${TMPDIR:-/tmp}/humboldt-compiled}
export END=$(($(date +%s) + LIMIT))
mkdir -p "$OUT"

one() { # MODEL TERMINALS TASK
    local left=$((END - $(date +%s))) precision=float32 code
    # Starting takes most of a minute of compilation, which would be wasted on less.
    [ "$left" -lt "${LEAST:-60}" ] && return 1
    # The Transformers take half the time in half precision.
    case $1 in transformer_*) precision=bfloat16 ;; esac
    # On SIGINT humboldt saves and leaves with 130.
    # shellcheck disable=SC2086
    timeout --signal=INT --kill-after=20 "$((left - 20))" \
        "$PYTHON" -m humboldt run syntax --preset paper --seeds "$SEEDS" --model "$1" --task "$3" \
        --set terminals="$2" --set precision=$precision $EXTRA --out "$OUT" > /dev/null 2> "$OUT/$1-$2-$3.log"
    code=$?
    echo "$(date +%T) $1 $2 $3: exit status $code"
    return $((code != 0))
}
export -f one

for terminals in ${TERMINALS:-2 100}; do
    for task in ${TASKS:-nested_dependency cross_serial_dependency np_n_vp_n adj_n_np}; do
        for model in ${MODELS:-lstm bilstm transformer_decoder transformer_encoder}; do
            echo "$model $terminals $task"
        done
    done
done | xargs -P "${LANES:-3}" -I{} bash -c 'one {}'
status=$?
"$PYTHON" -m humboldt show "$OUT" --suite syntax | tee "$OUT/table.txt"
[ $status -eq 0 ] || { echo "Not all is done; run the same command again to go on (logs are in $OUT)." >&2; exit 3; }
