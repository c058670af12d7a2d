#!/usr/bin/env bash
# Packages every crate that is published, and builds the packages as a stranger would get them: unpacked, beside each other, without
# the repository around them. Nothing is fetched or sent. With --full they are compiled, not only checked.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
target=${CARGO_TARGET_DIR:-target}
rm -f "$target"/package/*.crate
cargo package --locked --workspace --no-verify --allow-dirty --quiet \
  --exclude pliant-guide --exclude pliant-testing 2> >(grep -v 'documentation, homepage or repository\|^  |\|^  = note\|^$' >&2)

mkdir "$out/crates"
for package in "$target"/package/*.crate; do
  tar -xzf "$package" -C "$out/crates"
done
# The packages take each other from beside them, where they would come from the registry.
{
  echo '[workspace]'
  echo 'resolver = "3"'
  echo 'members = ["crates/*"]'
  echo '[patch.crates-io]'
  for crate in "$out"/crates/*; do
    name=$(basename "$crate")
    echo "${name%-[0-9]*} = { path = \"crates/$name\" }"
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
      [ -f "$crate/$file" ] || { echo "$name: $file is missing" >&2; exit 1; }
    done
  done
} >"$out/Cargo.toml"
cp Cargo.lock "$out/"
command=check
[ "${1:-}" = --full ] && command=build
CARGO_TARGET_DIR="$target" cargo "$command" --release --offline --quiet --manifest-path "$out/Cargo.toml"
