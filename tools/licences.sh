#!/usr/bin/env bash
# Whether all that is built upon, on any target, may be used under one of the licences that deny.toml allows.
set -euo pipefail
cd "$(dirname "$0")/.."

allowed=$(sed -n 's/^allow = \[\(.*\)\]$/\1/p' deny.toml | tr -d '",')
[ -n "$allowed" ] || { echo "deny.toml has no list of allowed licences" >&2; exit 1; }

# Whether an expression such as "(MIT OR Apache-2.0) AND Unicode-3.0" holds: of every part joined by AND one choice is allowed.
# Without brackets OR binds less than AND, which this takes more strictly than it is meant.
holds() {
  local part choice ok
  while read -r part; do
    ok=0
    while read -r choice; do
      for one in $allowed; do [ "$choice" = "$one" ] && ok=1; done
    done < <(echo "${part//[()]/}" | sed 's| OR |\n|g; s|/|\n|g; s|  *$||')
    [ $ok = 1 ] || return 1
  done < <(echo "$1" | sed 's| AND |\n|g')
}

bad=0
while IFS='|' read -r package licence; do
  if ! holds "$licence"; then
    bad=1
    echo "$package: licence \"${licence:-none}\" is not among $allowed (deny.toml)" >&2
  fi
done < <(cargo tree --locked --workspace --target all -e normal,build,dev --prefix none -f '{p}|{l}' |
  sed 's/ (\*)$//' | grep '|' | sed 's/ (.*)|/|/' | sort -u)
exit $bad
