#!/usr/bin/env bash
# Builds and runs all peers of Filter1d:
#
#   benches/peers/run.sh [FOLDER]     # filter1d is built into FOLDER, or into a temporary one that is then removed
#
# NVCC and PYTHON name the compiler and the interpreter. Fails if a peer failed or gave a wrong result, after the
# others have run.
set -uo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit
if [[ $# -gt 0 ]]; then
  build=$1
  mkdir -p "$build" || exit
else
  build=$(mktemp -d) || exit
  trap 'rm -rf "$build"' EXIT
fi
failed=0
attempt() { # COMMAND…
  "$@" && return
  echo "# failed: $*"
  failed=1
  return 1
}
export PYTHONDONTWRITEBYTECODE=1
attempt "${NVCC:-nvcc}" -O3 -std=c++17 -arch=sm_90 -o "$build/filter1d" "$sources/filter1d.cu" &&
  attempt "$build/filter1d"
attempt "${PYTHON:-python3}" "$sources/filter1d.py"
attempt "${PYTHON:-python3}" "$sources/cpu_filter1d.py"
exit "$failed"
