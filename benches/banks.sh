#!/usr/bin/env bash
# Compares the model of shared memory's banks with the counts and times of a GPU of compute capability 9.0:
#
#   benches/banks.sh PROGRAM OUT
#
# PROGRAM is the benchmark `banks`; SLM_DEVICE selects the GPU. It runs twice: alone, for the cycles by the GPU's clock,
# and under Nsight Compute, for the wavefronts of loads, stores and atomic operations. OUT becomes a table with a line for
# each pattern: wavefronts of an access by the model (passes of atomic operations) and by the counter, cycles of an access, and its
# time relative to an access without conflicts, by the model and measured. OUT.csv is the output of Nsight Compute. Ends with 0 if no
# wavefronts of loads and stores differ by more than 1 % and no times by more than 10 %, 1 if some do, 2 if the arguments are
# invalid, something is missing, or the launches are unexpected.
source "$(dirname "${BASH_SOURCE[0]}")/ncu.sh"

export SLM_DEVICE=${SLM_DEVICE:-cuda}
measured=$("$program") || die "$program has failed"
counts=$(counted "${shared}ld.sum,${shared}st.sum,${shared}atom.sum") || exit

awk -F '\t' -v OFS='\t' -v metric="$shared" -v out="$out" '
  function fail(message) {
    print message >"/dev/stderr"
    exit failed = 2
  }

  # Returns whether two numbers differ by more than a part of the second one.
  function differ(a, b, part) {
    return a - b > part * b || b - a > part * b
  }

  FILENAME == ARGV[1] {
    lines[++count] = $0
    next
  }
  {
    launches = $1
    kernels[$1] = $2
    value[$1, $4] = $5
  }
  END {
    if (failed) exit failed
    if (launches != 2 * count) fail(2 * count " launches were expected, and " launches + 0 " counted")
    op_of["load"] = "ld"
    op_of["store"] = "st"
    op_of["atomic"] = "atom"
    print "access", "bytes", "index", "wavefronts", "counted", "cycles", "serialisation", "measured" >out
    for (n = 1; n <= count; n++) {
      split(lines[n], field, "\t")
      expected = "banks_probe_" field[1] "_" field[2]
      if (kernels[2 * n] != expected) fail("launch " 2 * n " is " kernels[2 * n] ", and should be " expected)
      counter = value[2 * n, metric op_of[field[1]] ".sum"]
      if (counter !~ /^[0-9.]+$/) fail("launch " 2 * n " lacks " metric op_of[field[1]] ".sum")
      counted = counter / field[4]
      predicted = field[5] / field[6]
      serialisation = field[7] / field[8]
      print field[1], field[2], field[3], field[5], sprintf("%.3f", counted), sprintf("%.3f", field[7] / field[4]), \
        sprintf("%.3g", predicted), sprintf("%.3f", serialisation) >out
      if (field[1] == "atomic") continue
      if (differ(counted, field[5], 0.01)) wavefronts++
      if (differ(serialisation, predicted, 0.1)) times++
    }
    print count " patterns; of loads and stores the wavefronts of " wavefronts + 0 " differ by more than 1 %, the times of " \
      times + 0 " by more than 10 %: " out
    exit wavefronts + times > 0
  }' <(echo "$measured") <(echo "$counts")
