#!/usr/bin/env bash
# Several lanes of commands on one machine at the same time, stopped together: small networks leave most of a GPU idle.
#
#   bash reproductions/lanes.sh OUT SECONDS LANE ...
#
# A lane is one argument: commands of the shell, which run one after the other, with OUT in their environment. When the
# time is up each lane is told to stop, as by Ctrl-C, so that humboldt saves what it has; the same command goes on from
# there. A lane with a time limit of its own, as pcfg_set/run.sh has, needs one that ends before. What lanes print is in
# OUT/lane-1.log and so on. At the end OUT/members.jsonl has all members (`humboldt archive`). Exits with 3 if a lane
# has not come to its end. For example:
#
#   bash reproductions/lanes.sh results 1500 \
#       'bash reproductions/bias/run.sh $OUT lengths' \
#       'TASKS=productivity MODELS=transformer LIMIT=1400 bash reproductions/pcfg_set/run.sh'
#
# Each lane may use its part of the GPU's memory. With less than a program wants, XLA tries to make it smaller. The
# Transformer of PCFG SET wants 35 GiB. With 20 GiB, in three of seven lanes, none had begun to train after five minutes;
# without a limit one was compiled in two. With NVIDIA's MPS lanes compute at the same time, otherwise in turn. LSTMS2S
# makes more than 100 steps a second alone, and 28 beside a large ensemble of LSTMs and two other programs.
set -um # -m: otherwise commands in the background would not notice Ctrl-C
[ $# -ge 3 ] || { sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2; }
export OUT=$1
seconds=$2
shift 2
export PYTHONPATH=${PYTHONPATH:-src} XLA_PYTHON_CLIENT_PREALLOCATE=false
XLA_PYTHON_CLIENT_MEM_FRACTION=$(python3 -c "print(0.9 / $#)")
export XLA_PYTHON_CLIENT_MEM_FRACTION
if command -v nvidia-cuda-mps-control > /dev/null; then
    export CUDA_MPS_PIPE_DIRECTORY=${TMPDIR:-/tmp}/mps CUDA_MPS_LOG_DIRECTORY=${TMPDIR:-/tmp}/mps-log
    mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
    nvidia-cuda-mps-control -d 2> /dev/null || true # it may be running already
fi
mkdir -p "$OUT"

pids=()
for lane in "$@"; do
    timeout --signal=INT "$seconds" bash -c "trap 'exit 130' INT; $lane" > "$OUT/lane-$((${#pids[@]} + 1)).log" 2>&1 &
    pids+=($!)
done
status=0
for place in "${!pids[@]}"; do
    wait "${pids[$place]}"
    code=$?
    echo "$(date +%T) lane $((place + 1)): exit status $code"
    [ $code -eq 0 ] || status=3
done
[ ! -e "$OUT/results.db" ] || python3 -m humboldt archive "$OUT" --output "$OUT/members.jsonl"
exit $status
