# shellcheck shell=bash
# What tools/quickstart and tools/test share: words for the person, and the way to the repository.
# Sourced, never run; the sourcing script has set `set -euo pipefail` already.

program=$(basename "$0")
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s: %s\n' "$program" "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

# step TEXT: a headline with the seconds since the script began.
step() { printf '\n%s: %s  [%s s]\n' "$program" "$*" "$SECONDS" >&2; }

# Two compile jobs at most: a file that includes Beast takes most of a gigabyte.
jobs() {
  local cores
  cores=$(nproc)
  echo $((cores < 2 ? cores : 2))
}

# build PRESET [CMAKE-OPTION...] [-- TARGET...]
build() {
  local preset=$1 options=() folder log
  shift
  while [[ $# -gt 0 && $1 != -- ]]; do
    options+=("$1")
    shift
  done
  [[ $# -eq 0 ]] || shift
  folder=$(build_folder "$preset")
  log=$folder/configure.log
  mkdir -p "$folder"
  if ! cmake -S "$repository" --preset "$preset" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    die "cmake could not configure $folder: its words are above"
  fi
  cmake --build "$folder" --parallel "$(jobs)" ${1:+--target "$@"} >&2 ||
    die "the build in $folder failed: the compiler's words are above"
}

build_folder() {
  case $1 in
    release) echo "$repository/build" ;;
    *) echo "$repository/build-$1" ;;
  esac
}
