#!/usr/bin/env bash
# Compares the emulator's counts for the catalogue's probes with those of a GPU, by Nsight Compute:
#
#   crates/emulator/catalogue/wavefronts.sh PROGRAM OUT
#
# PROGRAM is slm-emulator-runner's. OUT becomes a table: for each probe the requests and wavefronts of shared loads and stores,
# the wavefronts of shared atomic operations, and the requests and sectors of global loads and stores, on the GPU and
# emulated, and whether all except those of atomic operations are equal. (It is not documented how a GPU serves atomic operations
# that meet; the emulator counts the degree instead.) The emulator marks numbers after ~ as approximate. In kernels that compilers
# change, with names that end with _continued and _unrolled, these may differ: then the row ends with "about". OUT.csv is the output
# of Nsight Compute. Ends with 0 if no others differ, 1 if some do, 2 if the arguments are invalid or something is missing.
source "$(dirname "${BASH_SOURCE[0]}")/../../../benches/ncu.sh"

# In the order of the program's columns.
requests=l1tex__t_requests_pipe_lsu_mem_global_op_
sectors=l1tex__t_sectors_pipe_lsu_mem_global_op_
metrics=(
  smsp__inst_executed_op_shared_ld.sum "${shared}ld.sum"
  smsp__inst_executed_op_shared_st.sum "${shared}st.sum"
  "${shared}atom.sum"
  "${requests}ld.sum" "${sectors}ld.sum"
  "${requests}st.sum" "${sectors}st.sum"
)
names=(shared_loads wavefronts shared_stores wavefronts atomic_wavefronts global_loads sectors global_stores sectors)

emulated=$("$program" emulate probes) || die "$program does not know its probes"
list=$(IFS=,; echo "${metrics[*]}")
counts=$(counted "$list" probes) || exit

awk -F '\t' -v OFS='\t' -v metrics="${metrics[*]}" -v titles="${names[*]}" '
  BEGIN { last = split(metrics, metric, " "); split(titles, title, " ") }
  FILENAME == ARGV[1] {
    names[++count] = $1
    for (k = 1; k <= last; k++) emulated[$1, k] = $(k + 1)
    next
  }
  { measured[$2, $4] = $5 }
  END {
    row = "probe"
    for (k = 1; k <= last; k++) row = row OFS title[k] OFS "emulated"
    print row, "same"
    for (n = 1; n <= count; n++) {
      row = names[n]
      same = "yes"
      for (k = 1; k <= last; k++) {
        value = measured[names[n], metric[k]]
        if (value == "") value = "missing"
        told = emulated[names[n], k]
        marked = sub(/^~/, "", told)
        may_differ = marked && names[n] ~ /_(continued|unrolled)$/ && value != "missing"
        if (value != told && metric[k] !~ /_atom/ && same != "no") same = may_differ ? "about" : "no"
        row = row OFS value OFS emulated[names[n], k]
      }
      print row, same
      if (same == "no") differences++
    }
    exit differences > 0
  }' <(echo "$emulated") <(echo "$counts") >"$out"
status=$?
echo "$(($(wc -l <"$out") - 1)) probes, $(grep -c $'\tno$' "$out") differ," \
  "$(grep -c $'\tabout$' "$out") about the same: $out"
exit "$status"
