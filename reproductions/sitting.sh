#!/usr/bin/env bash
# One call of a sitting on a machine with a GPU and many cores that is lent for a while, a call of some minutes at a time:
#
#     BACK=FOLDER bash reproductions/sitting.sh SECONDS          and again, until
#     BACK=FOLDER bash reproductions/sitting.sh SECONDS stop     the last call
#
# Three groups of lanes run side by side (reproductions/lanes.py): the papers' tables on the GPU, references of the quick
# bench on the GPU from the beginning of their list, and on processor cores from its end. They are begun by the first call
# and run on between calls; a call that finds them ended begins them again, and they go on where they were. All stays in
# $FOLDER. After SECONDS a call writes what there is into $BACK, at most four files, and returns; with `stop` it
# tells the lanes to save and end first, a minute before. Nothing is killed.
#
# What is on record is left out of the lists.
#
# Variables: FOLDER (/tmp/sitting), TOTAL (seconds after which lanes end by themselves, 1500), PAPERS (lists for the GPU),
# PAPER_LANES (6), PAPER_MEMORY (100 GiB), PAPER_SHARE (percent of the GPU's multiprocessors for each of them), PAPER_ALSO
# (more options for these commands), REFERENCES (their list), SKIP (lines of it that are left out, a pattern),
# REFERENCE_LANES (8 on the GPU; 0 for none), REFERENCE_MEMORY (48), CORES (of processor lanes, the last four; `none` for
# none), ALSO (more options for references), STOPPING (seconds of the last call for saving, 60), PYTHON (python3).
set -u

seconds=$1
begun=$(date +%s)
folder=${FOLDER:-/tmp/sitting}
back=${BACK:?where to write what there is}
total=${TOTAL:-1500}
export PYTHON=${PYTHON:-python3} PYTHONUNBUFFERED=1

mkdir -p "$folder" "$back"
if [ ! -e "$folder/code" ]; then # later calls may bring other code: a sitting has one
    mkdir "$folder/code.new"
    cp -r src reproductions "$folder/code.new/"
    mv "$folder/code.new" "$folder/code"
fi
export PYTHONPATH=$folder/code/src

# open_jobs LIST: the commands that are not on record, of a file or of a list in reproductions/jobs
open_jobs() {
    "$PYTHON" "$folder/code/reproductions/jobs.py" "$1"
}

# group NAME OPTION...: lanes in a session of their own, unless they run already
group() {
    name=$1
    shift
    if [ -e "$folder/$name.pid" ] && kill -0 "$(cat "$folder/$name.pid")" 2>/dev/null; then
        return
    fi
    setsid "$PYTHON" "$folder/code/reproductions/lanes.py" "$@" --back "$folder/$name" \
        >>"$folder/$name.log" 2>&1 </dev/null &
    echo $! >"$folder/$name.pid"
}

if [ "${2:-}" != stop ] || [ ! -e "$folder/papers.pid" ]; then
    rm -f "$folder/papers.txt"
    for list in ${PAPERS:-1_chomsky_table_2 6_syntax_tables_2_and_3 4_bias_agreement 9_standard_references \
        10_tracking_table_3}; do
        open_jobs "$list" >>"$folder/papers.txt"
    done
    references=$folder/references.txt
    open_jobs "${REFERENCES:-0_quick_references}" | grep -v -E "${SKIP:-^$}" >"$references"
    if [ "${PAPER_LANES:-6}" -gt 0 ]; then
        group papers "$folder/papers-results" "$total" --file "$folder/papers.txt" --every 0 \
            --lanes "${PAPER_LANES:-6}" --memory "${PAPER_MEMORY:-100}" ${PAPER_SHARE:+--gpu-share "$PAPER_SHARE"} \
            --also "${PAPER_ALSO:-}"
    fi
    if [ "${REFERENCE_LANES:-8}" -gt 0 ]; then
        # The best algorithm for a product is searched for when a program is compiled; small networks gain nothing by it.
        flags="${XLA_FLAGS:-} --xla_gpu_autotune_level=0"
        XLA_FLAGS=$flags JAX_PLATFORMS=cpu "$PYTHON" -c "import jax; jax.numpy.zeros(1)" 2>/dev/null ||
            flags=${XLA_FLAGS:-} # another version of JAX, which has no such flag
        XLA_FLAGS=$flags \
            group references-gpu "$folder/references-results" "$total" --file "$references" --every 0 \
            --lanes "${REFERENCE_LANES:-8}" --memory "${REFERENCE_MEMORY:-48}" --also "${ALSO:-}"
    fi
    cores=${CORES:-$(($(nproc) - 4))-$(($(nproc) - 1))}
    if [ "$cores" != none ]; then
        JAX_COMPILATION_CACHE_DIR=$folder/compiled JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=2 \
            group references-cpu "$folder/references-results" "$total" --file "$references" --every 0 \
            --cores "$cores" --reversed --also "${ALSO:-}"
    fi
fi

# archive NAME: all members that are stored, compressed
archive() {
    [ -e "$folder/$1-results/results.db" ] || return
    if "$PYTHON" -m humboldt archive "$folder/$1-results" --output "$folder/$1.jsonl" >>"$folder/archive.log" 2>&1; then
        gzip -9 -c "$folder/$1.jsonl" >"$back/$1.jsonl.gz.new" && mv "$back/$1.jsonl.gz.new" "$back/$1.jsonl.gz"
    fi
}

bring_back() {
    archive papers
    archive references
    tar -czf "$back/logs.tar.gz" --exclude='*.jsonl' --exclude=code --exclude=compiled --exclude='*-results' \
        -C "$folder" . 2>/dev/null
}

running() {
    for pid in "$folder"/*.pid; do
        kill -0 "$(cat "$pid")" 2>/dev/null && return 0
    done
    return 1
}

last=$((begun + seconds))
[ "${2:-}" = stop ] && last=$((last - ${STOPPING:-60}))
next=$((begun + 120))
while running && [ "$(date +%s)" -lt "$last" ]; do
    sleep 1
    if [ "$(date +%s)" -ge "$next" ] && [ "$next" -lt $((last - 60)) ]; then
        bring_back
        next=$((next + 120))
    fi
done
if [ "${2:-}" = stop ]; then
    for pid in "$folder"/*.pid; do
        kill -TERM "$(cat "$pid")" 2>/dev/null
    done
    while running && [ "$(date +%s)" -lt $((last + ${STOPPING:-60} * 3 / 4)) ]; do
        sleep 1
    done
fi
bring_back
for name in papers references-gpu references-cpu; do
    [ -e "$folder/$name.log" ] || continue
    echo "$name: $(cat "$folder/$name/done.txt" 2>/dev/null | wc -l) commands done"
    grep -h "exit status [^0]" "$folder/$name.log" | tail -n 3
    tail -n 15 "$folder/$name/seconds.txt" 2>/dev/null | sed 's/--no-estimate.*//; s/${PYTHON:-python3} -m humboldt run//'
done
