#!/usr/bin/env bash
# Compares the wavefronts of shared memory that the emulator counts for the catalogue's probes with those that a GPU
# counts, as Nsight Compute tells:
#
#   crates/emulator/catalogue/wavefronts.sh PROGRAM OUT
#
# PROGRAM is slm-emulator-runner's. OUT becomes a table: for each probe the wavefronts of loads, stores and atomic
# operations, on the GPU and emulated, and whether those of loads and stores are the same. (How a GPU serves lanes whose
# atomic operations meet, it does not tell; the emulator has the degree for that.) OUT.csv is what Nsight Compute says.
# Ends with 0 if all are the same, 1 if not, 2 if it is called wrongly or something is missing.
set -uo pipefail

die() {
  echo "$*" >&2
  exit 2
}

[[ $# -eq 2 ]] || die "usage: ${BASH_SOURCE[0]} PROGRAM OUT"
program=$1 out=$2
[[ $program == */* ]] || program=./$program
[[ -x $program ]] || die "no program: $program"
command -v ncu >/dev/null || die 'ncu is not on the path'

metric=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_
emulated=$("$program" emulate probes) || die "$program does not know its probes"
ncu --metrics "${metric}ld.sum,${metric}st.sum,${metric}atom.sum" --clock-control none --csv --print-units base \
  "$program" probes >"$out.csv" || die "ncu has failed, see $out.csv"

# The lines that begin with a quotation mark are the table; other ones are ncu's messages.
awk -F '","' -v OFS='\t' -v metric="$metric" '
  FILENAME == "-" {
    split($0, field, "\t")
    names[++count] = field[1]
    for (k = 1; k <= 3; k++) emulated[field[1], k] = field[k + 1]
    next
  }
  !/^"/ { next }
  { gsub(/^"|"$/, "") }
  !kernel {
    for (k = 1; k <= NF; k++) column[$k] = k
    kernel = column["Kernel Name"]
    next
  }
  {
    value = $column["Metric Value"]
    gsub(/,/, "", value)
    measured[$kernel, $column["Metric Name"]] = value
  }
  END {
    split("ld st atom", op, " ")
    print "probe", "loads", "emulated", "stores", "emulated", "atomics", "emulated", "same"
    for (n = 1; n <= count; n++) {
      row = names[n]
      same = "yes"
      for (k = 1; k <= 3; k++) {
        value = measured[names[n], metric op[k] ".sum"]
        if (value == "") value = "missing"
        if (value != emulated[names[n], k] && op[k] != "atom") same = "no"
        row = row OFS value OFS emulated[names[n], k]
      }
      print row, same
      if (same == "no") differences++
    }
    exit differences > 0
  }' - "$out.csv" <<<"$emulated" >"$out"
status=$?
echo "$(($(wc -l <"$out") - 1)) probes, $(grep -c $'\tno$' "$out") differ: $out"
exit "$status"
