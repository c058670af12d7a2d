#!/usr/bin/env bash
# Whether every crate has the same features whatever is built of the workspace: all of it or one package (`-p`), with its tests or
# without. If not, `cargo run` after `cargo test` compiles what the two ask for differently, and all that stands on it, once more.
set -euo pipefail
cd "$(dirname "$0")/.."

# Lines of "name version [features]" of what is compiled for the choice of packages. clap's derive asks for more of syn than serde's
# does, and only the program has both: syn and serde are compiled a second time for single crates, in seconds.
chosen() { cargo tree --locked --prefix none -f '{p} [{f}]' "$@" | sed 's/ (\*)$//' | grep -v '^syn v' | sort -u; }

all=$(chosen --workspace -e normal,build,dev)
differ=0
compare() {
  local odd
  odd=$(comm -13 <(echo "$all") <(chosen "$@"))
  if [ -n "$odd" ]; then
    differ=1
    printf 'cargo tree %s\n' "$*"
    echo "$odd" | while read -r name version _; do
      echo "$all" | grep -F "$name $version" | sed 's/^/  everywhere: /' || true
    done
    echo "$odd" | sed 's/^/  here:       /'
  fi
}
compare --workspace -e normal,build
for manifest in crates/*/Cargo.toml; do
  package=$(basename "$(dirname "$manifest")")
  compare -p "$package" -e normal,build
  compare -p "$package" -e normal,build,dev
done
if [ $differ = 1 ]; then
  echo "Ask for the missing features in the root's Cargo.toml, where the dependency enters." >&2
  exit 1
fi
