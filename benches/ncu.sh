# shellcheck shell=bash
# Sourced by the scripts that compare a program's own counts with those of Nsight Compute. Their arguments are PROGRAM and OUT.
set -uo pipefail

die() {
  echo "$*" >&2
  exit 2
}

[[ $# -eq 2 ]] || die "usage: $0 PROGRAM OUT"
program=$1 out=$2
[[ $program == */* ]] || program=./$program
[[ -x $program ]] || die "no program: $program"
command -v ncu >/dev/null || die 'ncu is not on the path'

# Wavefronts of shared memory, without the operation and `.sum`.
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_

# Runs the program under Nsight Compute, whose output becomes OUT.csv. Prints a line for each launch and each of METRICS, which are
# separated by commas: number of the launch, kernel, number of blocks, metric, value.
counted() { # METRICS [ARGUMENT…]
  local metrics=$1
  shift
  ncu --metrics "$metrics" --clock-control none --csv --print-units base "$program" "$@" >"$out.csv" ||
    die "ncu has failed, see $out.csv"
  # Lines that begin with a quotation mark belong to the table, the others are messages of ncu.
  awk -F '","' -v OFS='\t' '
    function product(sizes, n) {
      gsub(/[^0-9]+/, " ", sizes)
      split(sizes, n, " ")
      return n[1] * n[2] * n[3]
    }

    !/^"/ { next }
    { gsub(/^"|"$/, "") }
    !id {
      for (k = 1; k <= NF; k++) column[$k] = k
      id = column["ID"]
      next
    }
    !($id in launch) { launch[$id] = ++launches }
    {
      value = $column["Metric Value"]
      gsub(/,/, "", value)
      print launch[$id], $column["Kernel Name"], product($column["Grid Size"]), $column["Metric Name"], value
    }' "$out.csv"
}
