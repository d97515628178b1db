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

# In the order of the program's columns.
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_
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
ncu --metrics "$list" --clock-control none --csv --print-units base \
  "$program" probes >"$out.csv" || die "ncu has failed, see $out.csv"

# Lines that begin with a quotation mark belong to the table, the others are messages of ncu.
awk -F '","' -v OFS='\t' -v metrics="${metrics[*]}" -v titles="${names[*]}" '
  BEGIN { last = split(metrics, metric, " "); split(titles, title, " ") }
  FILENAME == "-" {
    split($0, field, "\t")
    names[++count] = field[1]
    for (k = 1; k <= last; k++) emulated[field[1], k] = field[k + 1]
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
  }' - "$out.csv" <<<"$emulated" >"$out"
status=$?
echo "$(($(wc -l <"$out") - 1)) probes, $(grep -c $'\tno$' "$out") differ," \
  "$(grep -c $'\tabout$' "$out") about the same: $out"
exit "$status"
