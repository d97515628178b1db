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
source "$(dirname "${BASH_SOURCE[0]}")/ncu.sh"

emulated=$(SLM_DEVICE=emulated:sm_90 "$program") || die "$program has failed on the emulated device"
export SLM_DEVICE=${SLM_DEVICE:-cuda}
counts=$(counted "${shared}ld.sum,${shared}st.sum") || exit

awk -F '\t' -v OFS='\t' -v metric="$shared" -v limit=2 -v out="$out" '
  function fail(message) {
    print message >"/dev/stderr"
    exit failed = 2
  }

  function counted(launch, op) {
    return value[launch, metric op ".sum"]
  }

  # Returns the difference between the measured and the emulated number of a launch in per cent. Fails if it was not
  # measured.
  function difference(launch, op, measured, expected) {
    if (counted(launch, op) !~ /^[0-9.]+$/) fail("launch " launch " lacks " metric op ".sum")
    measured = counted(launch, op) + 0
    expected = emulated[launch, op] + 0
    if (measured == expected) return 0
    return 100 * (measured > expected ? 1 - expected / measured : 1 - measured / expected)
  }

  FILENAME == ARGV[1] {
    launches[++count] = $1 " of " $2 " blocks"
    names[count] = $1
    emulated[count, "ld"] = $3
    emulated[count, "st"] = $4
    next
  }
  $1 != measured_count {
    measured_count = $1
    launch = $2 " of " $3 " blocks"
    if (launch != launches[$1]) fail("launch " $1 " is " launch " on the GPU, and emulated " launches[$1])
  }
  { value[$1, $4] = $5 }
  END {
    if (failed) exit failed
    if (measured_count != count) fail(count " launches were emulated, and " measured_count + 0 " measured")
    print "kernel", "launch", "loads", "emulated", "stores", "emulated", "difference in %" >out
    for (n = 1; n <= count; n++) {
      loads = difference(n, "ld")
      stores = difference(n, "st")
      larger = loads > stores ? loads : stores
      print names[n], n, counted(n, "ld"), emulated[n, "ld"], counted(n, "st"), emulated[n, "st"], \
        sprintf("%.1f", larger) >out
      if (larger > limit) differing++
    }
    print count " launches, " differing + 0 " differ by more than " limit " %: " out
    exit differing > 0
  }' <(echo "$emulated") <(echo "$counts")
