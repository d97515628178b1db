#!/usr/bin/env bash
# Runs the catalogue's cases and their correct twins under NVIDIA's compute-sanitizer, each in a separate process, and
# compares its findings with the emulator's:
#
#   crates/emulator/catalogue/sanitizer.sh [--jobs N] [--each SECONDS] [--limit SECONDS] PROGRAM FOLDER
#
#   --jobs N          processes at a time (4)
#   --each SECONDS    time limit of a process, because some kernels wait forever (30)
#   --limit SECONDS   stop in time, and print how much is left
#
# PROGRAM is slm-emulator-runner's. Cases whose bug the device's accessors prevent also run without accessors, from bypass.cu, which
# nvcc compiles. FOLDER receives the logs and table.tsv: case, way (kernel or bypass), variant (bug or twin), and the results of
# racecheck, memcheck, synccheck and the emulator:
#
#   found    the tool reports something
#   silent   the tool reports nothing, and the kernel ends
#   fails    the tool reports nothing, but the device ends the kernel with an error
#   hangs    the time limit was exceeded
#
# Called again with the same program and folder, it continues. Ends with 0 if the emulator finds everything that another tool finds
# and reports nothing for the twins, 1 if not, 2 if the arguments are invalid or something is missing, 3 if the time ended first.
set -uo pipefail

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

die() {
  echo "$*" >&2
  exit 2
}

jobs=4 each=30 limit=''
while [[ ${1:-} == --* ]]; do
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
  case $1 in
    --jobs) jobs=$2 ;;
    --each) each=$2 ;;
    --limit) limit=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[[ $# -eq 2 ]] || usage
program=$1 folder=$2
[[ $program == */* ]] || program=./$program
[[ -x $program ]] || die "no program: $program"
for tool in compute-sanitizer nvcc; do
  command -v "$tool" >/dev/null || die "$tool is not on the path"
done
tools=(racecheck memcheck synccheck)

mkdir -p "${tools[@]/#/$folder/}" || exit 2
source=$(dirname "${BASH_SOURCE[0]}")/bypass.cu
digest=$(cat "$program" "$source" | sha256sum)
if [[ -e $folder/program ]]; then
  [[ $(<"$folder/program") == "$digest" ]] || die "$folder has the results of another program"
else
  echo "$digest" >"$folder/program"
fi
[[ -x $folder/bypass ]] || nvcc -o "$folder/bypass" "$source" || die "nvcc does not compile $source"
# Name, whether accessors prevent the bug, and the emulator's verdicts on the bug and on the twin.
"$program" emulate cases >"$folder/emulator.tsv" || die "$program does not know its cases"

# Prints the number in the tool's last summary: of errors, or of racecheck's hazards including warnings.
errors() { # LOG
  sed -n 's/^=* *\(ERROR SUMMARY:\|RACECHECK SUMMARY:\) \([0-9]*\) .*/\2/p' "$1" | tail -n 1
}

verdict() { # STATUS LOG NAME
  local count
  count=$(errors "$2")
  if [[ $1 -eq 124 || $1 -eq 137 ]]; then
    echo hangs
  elif [[ -z $count ]]; then
    echo unknown
  elif [[ $count -gt 0 ]]; then
    echo found
  elif grep -qx "launched $3" "$2"; then
    echo silent
  else
    echo fails
  fi
}

# Prints the path of the log and the verdict, without extension.
place() { # TOOL NAME WAY VARIANT
  echo "$folder/$1/$2.$3.$4"
}

# Runs one case under one tool. Writes the verdict only at the end, so a stopped run counts as not done.
run() { # TOOL NAME WAY VARIANT
  local base child command
  base=$(place "$@")
  command=("$program" case)
  [[ $3 == kernel ]] || command=("$folder/bypass")
  timeout --kill-after 5 "$each" compute-sanitizer --tool "$1" "${command[@]}" "$2" "$4" >"$base.log" 2>&1 &
  child=$!
  trap 'kill "$child" 2>/dev/null; exit' TERM
  wait "$child"
  verdict $? "$base.log" "$2" >"$base.tmp"
  mv "$base.tmp" "$base.verdict"
}

# Prints name, way, variant and the emulator's verdict for each row of the table.
rows() {
  awk -v OFS='\t' '{
    for (way = 0; way <= ($2 == "bypassed"); way++) {
      print $1, (way ? "bypass" : "kernel"), "bug", $3
      print $1, (way ? "bypass" : "kernel"), "twin", $4
    }
  }' "$folder/emulator.tsv"
}

pending=()
while read -r name way variant _; do
  for tool in "${tools[@]}"; do
    [[ -e $(place "$tool" "$name" "$way" "$variant").verdict ]] || pending+=("$tool $name $way $variant")
  done
done < <(rows)
echo "$(rows | wc -l) variants, ${#tools[@]} tools; ${#pending[@]} runs to do, $jobs at a time"

trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
for item in "${pending[@]}"; do
  while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do
    wait -n
  done
  # Every started process may take its full time.
  [[ -z $limit || $((SECONDS + each)) -lt $limit ]] || break
  # shellcheck disable=SC2086 # four words
  run $item &
done
wait

table=$folder/table.tsv
printf 'case\tway\tvariant\tracecheck\tmemcheck\tsynccheck\temulator\n' >"$table"
while read -r name way variant emulator; do
  row=("$name" "$way" "$variant")
  for tool in "${tools[@]}"; do
    row+=("$(cat "$(place "$tool" "$name" "$way" "$variant").verdict" 2>/dev/null || echo left)")
  done
  (IFS=$'\t' && echo "${row[*]}"$'\t'"$emulator") >>"$table"
done < <(rows)

# Prints a line for each wrong row.
awk -F '\t' 'NR > 1 {
  others = $4 " " $5 " " $6
  if (others ~ /unknown/) print "unknown: " $0
  else if ($3 == "twin" && $7 != "silent") print "the emulator finds fault with the twin: " $0
  else if ($3 == "twin" && others ~ /fails|hangs/) print "the twin does not end well: " $0
  else if ($3 == "bug" && others ~ /found|fails|hangs/ && $7 != "found") print "the emulator misses it: " $0
}' "$table" | tee "$folder/wrong.txt"
# A false alarm of another tool about a correct kernel does not count against the emulator.
awk -F '\t' '$3 == "twin" && $4 " " $5 " " $6 ~ /found/ { print "a false alarm: " $0 }' "$table"
left=$(grep -cw left "$table")
echo "$SECONDS s, $table, $left rows with something left"
[[ ! -s $folder/wrong.txt ]] || exit 1
[[ $left -eq 0 ]] || exit 3
