#!/usr/bin/env bash
# All four languages and four models at T = 2 and T = 100, all 30 members, as the paper has them.
#
#   OUT=results bash reproductions/syntax/run.sh
#
# Stops by itself after LIMIT seconds with everything saved and exits with 3; the same command goes on from there, also
# on another machine if OUT travels with it (what is half-trained is then trained again). Exits with 0 when all is done.
# Other variables narrow it down: TERMINALS, MODELS, TASKS (lists), SEEDS (10 in the paper), EXTRA (more options).
set -u
OUT=${OUT:-reproductions/syntax/results}
LIMIT=${LIMIT:-570}
PYTHON=${PYTHON:-python3}
TERMINALS=${TERMINALS:-2 100}
MODELS=${MODELS:-lstm bilstm transformer_decoder transformer_encoder}
TASKS=${TASKS:-adj_n_np np_n_vp_n nested_dependency cross_serial_dependency}
read -r -a extra <<< "${EXTRA:-}"
tasks=()
for task in $TASKS; do tasks+=(--task "$task"); done
export PYTHONPATH=${PYTHONPATH:-src}
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-${TMPDIR:-/tmp}/humboldt-compiled}
mkdir -p "$OUT"

end=$((SECONDS + LIMIT))
for terminals in $TERMINALS; do
    for model in $MODELS; do
        left=$((end - SECONDS))
        # Starting costs about 20 s of compilation, which would be wasted on less.
        if [ "$left" -lt "${LEAST:-40}" ]; then
            echo "Stopped after $LIMIT s; run the same command again to go on." >&2
            exit 3
        fi
        # On SIGINT humboldt saves and leaves with 130.
        timeout --signal=INT --kill-after=20 "$((left - 20))" \
            "$PYTHON" -m humboldt run syntax --preset paper --seeds "${SEEDS:-10}" --model "$model" "${tasks[@]}" \
            --set terminals="$terminals" "${extra[@]}" --out "$OUT" > /dev/null
        code=$?
        case $code in
            0) ;;
            124 | 130 | 137) echo "Stopped after $LIMIT s; run the same command again to go on." >&2; exit 3 ;;
            *) exit "$code" ;;
        esac
    done
done
"$PYTHON" -m humboldt show "$OUT" --suite syntax | tee "$OUT/table.txt"
"$PYTHON" -m humboldt show "$OUT" --suite syntax --csv > "$OUT/records.csv"
