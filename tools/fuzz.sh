#!/usr/bin/env bash
# Fuzzes every reader (or those named) for some seconds each, on stable Rust:
#
#     cargo install cargo-fuzz
#     tools/fuzz.sh 60              # all targets, a minute each
#     tools/fuzz.sh 600 ply gltf    # two of them, ten minutes each
#
# A finding is left in fuzz/artifacts/TARGET/: mend the reader and keep the file as a regression in
# crates/pliant-geometry/tests/regressions/TARGET/.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?"how many seconds for each target?"}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
memory=${TMPDIR:-$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)}
failed=()
for target in "${targets[@]}"; do
  printf '\n== %s, %s s\n' "$target" "$seconds"
  mkdir -p "fuzz/corpus/$target"
  # No sanitizer: those need a nightly compiler, and the readers have no unsafe code to watch. What libFuzzer
  # limits: 10 s and 400 MB for an input of at most 64 kB.
  # The frame log is read through a file, best in memory.
  TMPDIR=$memory cargo fuzz run --sanitizer none "$target" "fuzz/corpus/$target" $(ls -d "fuzz/seeds/$target" 2>/dev/null) -- \
    -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=400 -rss_limit_mb=1500 -max_len=65536 \
    -print_final_stats=1 2>&1 | grep -E "stat::number|stat::peak|ERROR|panicked|SUMMARY|Test unit" || true
  if [ -n "$(ls -A "fuzz/artifacts/$target" 2>/dev/null)" ]; then failed+=("$target"); fi
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "findings: ${failed[*]}"
  exit 1
fi
echo "no findings"
