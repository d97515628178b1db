#!/usr/bin/env bash
# Runs the CUDA tests of a test program under NVIDIA's compute-sanitizer:
#
#   tests/sanitizer.sh [--jobs N] [--batch N] [--devices N] [--small yes] [--limit SECONDS] [--tools LIST] [--filter TEXT] PROGRAM FOLDER
#
#   --jobs N          processes at a time (4)
#   --batch N         tests in a process, one after the other (1); their modules are compiled once
#   --devices N       CUDA devices that they alternate between (1)
#   --small yes       with most of the small problems of emulated devices, in a fraction of the time
#   --limit SECONDS   stop in time, and print how much is left
#   --tools LIST      the sanitizer's tools (memcheck,racecheck,initcheck,synccheck)
#   --filter LIST     the tests with one of these in their names (::cuda::)
#
# A list for --filter, and --batch, are for programs whose filters may have several parts, such as `suite`.
#
# FOLDER receives one log for each process, named after its first test, and table.tsv: lines with the GPU, the driver, the sanitizer and the
# program; then test, tool, and the seconds, errors and verdict of its process. Called again with the same program and folder, it skips tests
# that have passed. Ends with 0 if all tests have passed, 1 if one has failed or there is none, 2 if the arguments are invalid, 3 if the time
# ended first.
set -uo pipefail

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

die() {
  echo "$*" >&2
  exit 2
}

number() { # TEXT
  [[ $1 =~ ^[1-9][0-9]*$ ]] || usage
}

jobs=4 batch=1 devices=1 small='' limit='' tools=memcheck,racecheck,initcheck,synccheck filter=::cuda::
while [[ ${1:-} == --* ]]; do
  [[ $# -ge 2 ]] || usage
  case $1 in
    --jobs) number "$2" && jobs=$2 ;;
    --batch) number "$2" && batch=$2 ;;
    --devices) number "$2" && devices=$2 ;;
    --small) [[ $2 == yes ]] && small=1 || usage ;;
    --limit) number "$2" && limit=$2 ;;
    --tools) tools=$2 ;;
    --filter) filter=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[[ $# -eq 2 ]] || usage
program=$1 folder=$2
[[ $program == */* ]] || program=./$program
[[ -x $program ]] || die "no program: $program"
command -v compute-sanitizer >/dev/null || die 'compute-sanitizer is not on the path'
export SLM_REQUIRE_CUDA=1 SLM_SMALL_PROBLEMS=$small

mkdir -p "$folder" || exit 2
digest=$(sha256sum <"$program" | cut -d ' ' -f 1)${small:+, small problems}
if [[ -e $folder/program ]]; then
  [[ $(<"$folder/program") == "$digest" ]] || die "$folder has the results of another program"
else
  echo "$digest" >"$folder/program"
fi

place() { # TOOL TEST: where its files are, without their extension
  echo "$folder/$1/${2//[^A-Za-z0-9_]/.}"
}

passed() { # TOOL TEST
  local row
  row=$(place "$1" "$2").row
  [[ -e $row ]] && [[ $(cut -f 5 "$row") == passed ]]
}

# The number in the tool's last summary: of errors, or of racecheck's hazards, warnings among them.
errors() { # LOG
  sed -n 's/^=* *\(ERROR SUMMARY:\|RACECHECK SUMMARY:\) \([0-9]*\) .*/\2/p' "$1" | tail -n 1
}

# The driver's errors are not reported: tests provoke them, and the crate hands them to its caller.
options() { # TOOL
  [[ $1 != memcheck ]] || echo '--report-api-errors no'
}

# Some tests under one tool. Writes their rows only at the end: what was stopped is not done.
run() { # DEVICE TOOL TEST…
  local device=$1 tool=$2 tests=("${@:3}") base start=$SECONDS remaining=0 child status count verdict=failed test
  base=$(place "$tool" "${tests[0]}")
  if [[ -n $limit ]]; then
    remaining=$((limit - SECONDS))
    [[ $remaining -gt 0 ]] || return 0
  fi
  # shellcheck disable=SC2046 # several words
  CUDA_VISIBLE_DEVICES=$device timeout --kill-after 5 "$remaining" compute-sanitizer --tool "$tool" $(options "$tool") \
    --error-exitcode 86 "$program" --exact "$(IFS=, && echo "${tests[*]}")" --test-threads 1 >"$base.log" 2>&1 &
  child=$!
  trap 'kill "$child" 2>/dev/null; exit' TERM
  wait "$child"
  status=$?
  [[ -z $limit || $SECONDS -lt $limit || ($status -ne 124 && $status -ne 137) ]] || return 0
  count=$(errors "$base.log")
  # The sanitizer is content with a program that does nothing, so the program has to say what it did.
  if [[ $status -eq 0 && $count == 0 ]] && grep -q "^test result: ok\. ${#tests[@]} passed" "$base.log"; then
    verdict=passed
  fi
  for test in "${tests[@]}"; do
    printf '%s\t%s\t%d\t%s\t%s\n' "$test" "$tool" $((SECONDS - start)) "${count:-unknown}" "$verdict" >"$base.tmp"
    mv "$base.tmp" "$(place "$tool" "$test").row"
  done
  [[ $verdict == passed ]] || echo "failed: $tool ${tests[*]}, see $base.log"
}

# Those that can run.
listed() {
  "$program" --list "$filter" 2>"$folder/list.log" | sed -n 's/^\([^[].*\): test$/\1/p'
}

mapfile -t tests < <(listed)
[[ ${#tests[@]} -gt 0 ]] || {
  echo "$program has no test that can run with '$filter' in its name"
  exit 1
}
IFS=, read -r -a tools <<<"$tools"

# Everything, in the order of the tools; without what has passed earlier. A line for each process.
pending=()
for tool in "${tools[@]}"; do
  mkdir -p "$folder/$tool"
  line=()
  for test in "${tests[@]}"; do
    passed "$tool" "$test" && continue
    # A verdict of an earlier call does not count until this one has confirmed it.
    rm -f "$(place "$tool" "$test").row"
    line+=("$test")
    [[ ${#line[@]} -lt $batch ]] || { pending+=("$tool ${line[*]}") && line=(); }
  done
  [[ ${#line[@]} -eq 0 ]] || pending+=("$tool ${line[*]}")
done
echo "${#tests[@]} tests, ${#tools[@]} tools; ${#pending[@]} processes to start, $jobs at a time"

trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
turn=0
for item in "${pending[@]}"; do
  while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do
    wait -n
  done
  [[ -z $limit || $SECONDS -lt $limit ]] || break
  # shellcheck disable=SC2086 # names of tests have no spaces
  run $((turn % devices)) $item &
  turn=$((turn + 1))
done
wait

failed=0 left=0
for tool in "${tools[@]}"; do
  counts=(0 0 0)
  for test in "${tests[@]}"; do
    row=$(place "$tool" "$test").row
    if passed "$tool" "$test"; then
      counts[0]=$((counts[0] + 1))
    elif [[ -e $row ]]; then
      counts[1]=$((counts[1] + 1))
    else
      counts[2]=$((counts[2] + 1))
      echo "left: $tool $test"
    fi
  done
  echo "$tool: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} left"
  failed=$((failed + counts[1])) left=$((left + counts[2]))
done
{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sed 's/^/# /'
  compute-sanitizer --version | sed -n 's/^Version/# compute-sanitizer/p'
  echo "# program: SHA-256 $digest"
  printf 'test\ttool\tseconds\terrors\tverdict\n'
  find "$folder" -mindepth 2 -name '*.row' -exec cat {} + | sort
} >"$folder/table.tsv"
echo "$SECONDS s, $folder/table.tsv"
[[ $failed -eq 0 ]] || exit 1
[[ $left -eq 0 ]] || exit 3
