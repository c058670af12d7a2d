#!/usr/bin/env bash
# Makes every picture of the guide from the chapters' own scenes, the demos and the papers' figures.
# Usage: docs/guide/pictures.sh [PROGRAM]; builds the program if none is given. About a minute.
set -euo pipefail
cd "$(dirname "$0")"
guide=$PWD
program=${1:-}
if [ -z "$program" ]; then
  (cd ../.. && cargo build --release -p pliant-cli)
  program=$(cd ../.. && cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/pliant
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p pictures

# The scenes of the chapters, under their names.
for chapter in *.md; do
  awk -v to="$work" '/^```toml [a-z_]+\.toml$/ { file = to "/" $2; next } /^```/ { file = "" } file { print > file }' "$chapter"
done
cd "$work"

# sheet NAME SCENE FIRST LAST STEP SIZE: some frames of a scene of the guide or of a demo, side by side.
sheet() {
  local scene=$2
  [ -e "$2.toml" ] && scene=$2.toml
  echo "$1"
  [ -e "$2.plog" ] || "$program" run "$scene" --frames "$4" --log "$2.plog" --quiet 2>/dev/null
  "$program" export "$2.plog" -o "$guide/pictures/$1.png" --first "$3" --last "$4" --step "$5" --size "$6" --quiet
}

sheet start                 drop                         16 36 10 240x150
sheet scene                 picnic                       30 104 37 300x200
sheet clustered             bears_rigid_linear_quadratic 12 12 1  330x190
sheet projective            draped_cloth                 90 90 1  360x260
sheet position_based        position_based               14 14 1  720x200
sheet five_solvers          five_solvers                 15 15 1  720x200
sheet materials             materials                    15 60 45 320x192
sheet clusters              clusters                     14 34 20 420x180
sheet goals                 goals                        19 34 15 420x180
sheet limits                limits                       20 50 30 340x146
sheet volume_against_strain volume_against_strain        20 60 40 360x200
sheet curtain_limits        curtain_limits               120 120 1 360x260
sheet colliders             table                        20 80 30  240x176
sheet rigid                 rigid_bodies                 40 40 1  320x210
sheet bumping_bears         bumping_bears                20 50 30 240x150
sheet tearing               torn_flag                    130 160 30 240x160
sheet garment               garment                      9 99 45   190x177
sheet washing_line          washing_line                 70 70 1   300x188
sheet keyframed_jelly       keyframed_jelly              50 230 60 240x180

# figure NAME FIGURE: a drawing of `pliant figures`.
figure() {
  echo "$1"
  "$program" figures "$2" -o figures >/dev/null 2>&1
  cp "figures/$2.svg" "$guide/pictures/$1.svg"
}
figure convergence        convergence
figure clusters_five_ways clusters
figure multi_scale        multi_scale
figure limit_excess       limit_excess
figure peak_strain        peak_strain
figure embedding          embedding

echo growth
"$program" bench --filter clustered/scaling --plot "$guide/pictures/growth.svg" >/dev/null
du -ch "$guide"/pictures/* | tail -1
