#!/usr/bin/env bash
# Compares the emulator's wavefronts of shared memory for the library's kernels with those of a GPU of compute capability 9.0,
# counted by Nsight Compute:
#
#   benches/wavefronts.sh PROGRAM OUT
#
# PROGRAM is the benchmark `wavefronts`; SLM_DEVICE selects the GPU. OUT becomes a table: for each launch the wavefronts of loads and
# stores, on the GPU and emulated, and the larger of their differences, in per cent of the larger number. OUT.csv is the output of
# Nsight Compute. Ends with 0 if none differs by more than 2 %, 1 if one does, 2 if the arguments are invalid, something is missing,
# or the launches differ.
#
# Some differ, such as the loads of `histogram_weigh_*`: GPUs have no 64-bit addition in shared memory, but load, compare and swap
# until they succeed. WAVEFRONTS.md has the results and explains the differences.
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
emulated=$(SLM_DEVICE=emulated:sm_90 "$program") || die "$program has failed on the emulated device"
SLM_DEVICE=${SLM_DEVICE:-cuda} ncu --metrics "${metric}ld.sum,${metric}st.sum" --clock-control none --csv \
  --print-units base "$program" >"$out.csv" || die "ncu has failed, see $out.csv"

# Lines that begin with a quotation mark belong to the table, the others are messages of ncu.
awk -F '","' -v OFS='\t' -v metric="$metric" -v limit=2 -v out="$out" '
  function product(sizes, n) {
    gsub(/[^0-9]+/, " ", sizes)
    split(sizes, n, " ")
    return n[1] * n[2] * n[3]
  }

  function fail(message) {
    print message >"/dev/stderr"
    exit failed = 2
  }

  # Returns the difference between the measured and the emulated number of a launch in per cent. Fails if it was not
  # measured.
  function difference(launch, op, measured, expected) {
    if (value[launch, op] !~ /^[0-9.]+$/) fail("launch " launch " lacks " metric op ".sum")
    measured = value[launch, op] + 0
    expected = emulated[launch, op] + 0
    if (measured == expected) return 0
    return 100 * (measured > expected ? 1 - expected / measured : 1 - measured / expected)
  }

  FILENAME == "-" {
    split($0, field, "\t")
    launches[++count] = field[1] " of " field[2] " blocks"
    names[count] = field[1]
    emulated[count, "ld"] = field[3]
    emulated[count, "st"] = field[4]
    next
  }
  !/^"/ { next }
  { gsub(/^"|"$/, "") }
  !id {
    for (k = 1; k <= NF; k++) column[$k] = k
    id = column["ID"]
    next
  }
  !($id in numbers) {
    numbers[$id] = ++measured_count
    launch = $column["Kernel Name"] " of " product($column["Grid Size"]) " blocks"
    if (launch != launches[measured_count]) {
      fail("launch " measured_count " is " launch " on the GPU, and emulated " launches[measured_count])
    }
  }
  {
    op = $column["Metric Name"]
    sub(metric, "", op)
    sub(/\.sum$/, "", op)
    number = $column["Metric Value"]
    gsub(/,/, "", number)
    value[numbers[$id], op] = number
  }
  END {
    if (failed) exit failed
    if (measured_count != count) fail(count " launches were emulated, and " measured_count + 0 " measured")
    print "kernel", "launch", "loads", "emulated", "stores", "emulated", "difference in %" >out
    for (n = 1; n <= count; n++) {
      loads = difference(n, "ld")
      stores = difference(n, "st")
      larger = loads > stores ? loads : stores
      print names[n], n, value[n, "ld"], emulated[n, "ld"], value[n, "st"], emulated[n, "st"], \
        sprintf("%.1f", larger) >out
      if (larger > limit) differing++
    }
    print count " launches, " differing + 0 " differ by more than " limit " %: " out
    exit differing > 0
  }' - "$out.csv" <<<"$emulated"
