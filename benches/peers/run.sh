#!/usr/bin/env bash
# Measures an operation and its peers in one run, one line per case (README.md explains the columns):
#
#   benches/peers/run.sh filter1d|filter2d|gaussians|rank2d|histogram|transpose [--slm PROGRAM] [--cpu] [--build FOLDER]
#
#   --slm PROGRAM    the crate's own benchmark of the operation, already built; its rows are the first
#   --cpu            on the CPU instead of the GPU, which takes minutes
#   --build FOLDER   keep the compiled programs in FOLDER
#
# NVCC and PYTHON name the compiler and the interpreter. If a program fails or has a wrong result, the script runs the
# others, and then fails.
set -uo pipefail

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit
slm='' on=gpu build=''
case ${1:-} in
  filter1d | filter2d | gaussians | rank2d | histogram | transpose) operation=$1 && shift ;;
  *) usage ;;
esac
while [[ $# -gt 0 ]]; do
  case $1 in
    --slm) slm=${2:-} ;;
    --build) build=${2:-} ;;
    --cpu) on=cpu && shift && continue ;;
    *) usage ;;
  esac
  [[ -n ${2:-} ]] || usage
  shift 2
done
[[ -z $slm || -x $slm ]] || usage
temporary=$(mktemp -d) || exit
trap 'rm -rf "$temporary"' EXIT
build=${build:-$temporary}
mkdir -p "$build" || exit
[[ $slm != [!/]* ]] || slm=$PWD/$slm

export PYTHONDONTWRITEBYTECODE=1

failed=0
attempt() { # COMMAND…
  local start=$SECONDS
  echo "# command: ${*##*/}"
  "$@" || {
    echo "# failed: $*"
    failed=1
    return 1
  }
  echo "# complete: ${*##*/} took $((SECONDS - start)) s"
}

cuda() {
  local libraries=()
  [[ $operation != transpose ]] || libraries=(-lcublas)
  attempt "${NVCC:-nvcc}" -O3 -std=c++17 -arch=sm_90 -o "$build/$operation" "$sources/$operation.cu" "${libraries[@]}" &&
    attempt "$build/$operation"
}

on_gpu() {
  # Not `auto`, which would measure the CPU if there were no GPU.
  [[ -z $slm ]] || SLM_DEVICE=cuda attempt "$slm" --table
  [[ ! -e $sources/$operation.cu ]] || cuda
  attempt "${PYTHON:-python3}" "$sources/$operation.py"
  return "$failed"
}

on_cpu() {
  [[ -z $slm ]] || SLM_DEVICE=cpu attempt "$slm" --table
  # The crate's own benchmark also measures the naive loop and ndarray.
  [[ ! -e $sources/cpu_$operation.py ]] || attempt "${PYTHON:-python3}" "$sources/cpu_$operation.py"
  return "$failed"
}

# Prints the host time of the crate's call in excess of the launch that it makes.
difference() { # FILE
  awk -F '\t' '
    $1 == "CUDA launch" { launch = $3 }
    $1 == "slm apply_into" { call = $3 }
    END { if (launch && call) printf "# apply_into adds %.2f us of host time to a bare launch\n", call - launch }
  ' "$1"
}

echo "# $(date -u +%Y-%m-%dT%H:%M:%SZ), commit $(git -C "$sources" describe --always --dirty 2>/dev/null || echo unknown)"
echo "# benchmark: $operation"
if [[ $on == gpu ]]; then on_gpu; else on_cpu; fi | tee "$temporary/rows"
failed=${PIPESTATUS[0]}
difference "$temporary/rows"
exit "$failed"
