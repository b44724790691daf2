#!/usr/bin/env bash
# Table 1 with the paper's settings, on a machine with one accelerator.
#
#   OUT=results bash reproductions/pcfg_set/run.sh
#
# Trains the cells of TASKS x MODELS one after the other, three seeds as one program. Stops by itself after LIMIT
# seconds, with everything saved, and exits with 3; the same command goes on from there, also on another machine if OUT
# travels with it. Exits with 0 when all is done. What is trained is kept, so that more evaluations (EXTRA="--set
# function_items=5000") train nothing. Other variables: SEEDS (3 in the paper), PRECISION (bfloat16; the paper does
# not speak of it, and scores are always computed in float32), AUXILIARY=1 for the tests of single functions, EXTRA.
set -u
trap 'exit 130' INT
export PYTHONPATH=${PYTHONPATH:-src} XLA_PYTHON_CLIENT_PREALLOCATE=${XLA_PYTHON_CLIENT_PREALLOCATE:-false}
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-${TMPDIR:-/tmp}/humboldt-compiled}
OUT=${OUT:-reproductions/pcfg_set/results} LIMIT=${LIMIT:-570} PYTHON=${PYTHON:-python3}
END=$(($(date +%s) + LIMIT))
auxiliary="--set function_items=0 --set longer_items=0"
[ "${AUXILIARY:-0}" = 1 ] && auxiliary=""
mkdir -p "$OUT"

status=0
for task in ${TASKS:-task_accuracy systematicity productivity substitutivity_equally_distributed substitutivity_primitive overgeneralisation}; do
    for model in ${MODELS:-transformer lstm_s2s conv_s2s}; do
        left=$((END - $(date +%s)))
        # Starting takes a minute of compilation, which would be wasted on less.
        [ "$left" -lt "${LEAST:-90}" ] && { status=1; break 2; }
        # On SIGINT humboldt saves and leaves with 130.
        # shellcheck disable=SC2086
        timeout --signal=INT --kill-after=30 "$((left - 30))" \
            "$PYTHON" -m humboldt run pcfg_set --preset paper --seeds "${SEEDS:-3}" --task "$task" --model "$model" \
            --set precision="${PRECISION:-bfloat16}" $auxiliary ${EXTRA:-} --keep all --save-every "${SAVE_EVERY:-240}" \
            --no-estimate --out "$OUT" > /dev/null 2> "$OUT/$task-$model.log"
        code=$?
        echo "$(date +%T) $task $model: exit status $code"
        [ $code -eq 0 ] || status=1
    done
done
"$PYTHON" -m humboldt show "$OUT" --suite pcfg_set | tee "$OUT/table.txt"
"$PYTHON" -m humboldt show "$OUT" --suite pcfg_set --json > "$OUT/records.json"
[ $status -eq 0 ] || { echo "Not all is done; run the same command again to go on (logs are in $OUT)." >&2; exit 3; }
