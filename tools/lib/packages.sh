# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this
# Debian packages, by what they are for. Nothing is fetched and no right is asked for where all of
# them are there. Sourced after common.sh.

build_packages=(g++ cmake ninja-build ccache pkg-config python3 libfmt-dev libcli11-dev libedit-dev)
engine_packages=(patchelf debian-archive-keyring)
test_packages=(git catch2 clang clang-format clang-tidy zstd)

oldest_boost=1.81

on_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# The version that apt would install; empty where it knows of none.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)' || true; }

available() { [[ -n $(candidate "$1") ]]; }

at_least() { dpkg --compare-versions "$1" ge "$2"; }

# boost_parts VERSION SUFFIX: the packages of one Boost. Process is a library of its own from 1.86.
boost_parts() {
  echo "libboost$2-dev" "libboost-json$2-dev"
  if at_least "$1" 1.86; then echo "libboost-process$2-dev"; fi
}

# Versions of Boost (1.81, 1.83, ...) in a list of package names on stdin, newest first.
boost_versions() { sed -n 's/^libboost\(1\.[0-9]*\)-dev$/\1/p' | sort -rV; }

# A Boost that is whole already: nothing to do.
has_boost() {
  local version part
  for version in $(dpkg-query -W -f='${Package}\n' 'libboost1.*-dev' 2>/dev/null | boost_versions); do
    at_least "$version" "$oldest_boost" || continue
    for part in $(boost_parts "$version" "$version"); do installed "$part" || continue 2; done
    return 0
  done
  return 1
}

# The distribution's own Boost where it is new enough, else the newest one that it has beside it
# (Debian 12: 1.74 is its own, 1.81 stands beside it).
boost_packages() {
  local version
  version=$(candidate libboost-dev)
  if [[ -n $version ]] && at_least "$version" "$oldest_boost"; then
    boost_parts "$version" ""
    return
  fi
  for version in $(apt-cache pkgnames libboost1. 2>/dev/null | boost_versions); do
    at_least "$version" "$oldest_boost" || continue
    if available "libboost-json$version-dev"; then
      boost_parts "$version" "$version"
      return
    fi
  done
  echo "libboost$oldest_boost-dev" "libboost-json$oldest_boost-dev"
}

# clang's runtime library (sanitizers, fuzzing): named without a version on some distributions only.
has_clang_runtime() { dpkg-query -W -f='${db:Status-Status} ${Package}\n' 'libclang-rt*-dev' 2>/dev/null | grep -q '^installed '; }

clang_runtime_package() {
  local version
  if available libclang-rt-dev; then
    echo libclang-rt-dev
  else
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    echo "libclang-rt${version:+-$version}-dev"
  fi
}

# A program will do, whoever installed it.
has_program() {
  case $1 in
    *-dev | catch2) return 1 ;;
    ninja-build) command -v ninja ;;
    *) command -v "$1" ;;
  esac >/dev/null
}

# missing PACKAGE...: those that are not installed. `boost` and `clang-runtime` stand for whatever
# this distribution calls them.
missing() {
  local package
  for package in "$@"; do
    case $package in
      boost) has_boost || boost_packages ;;
      clang-runtime) has_clang_runtime || clang_runtime_package ;;
      *) has_program "$package" || installed "$package" || echo "$package" ;;
    esac
  done
}

# Outside Debian nothing can be installed for the person; CMake names the libraries that are missing.
missing_programs() {
  local program
  for program in g++ cmake ninja python3 patchelf; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

may_be_root() {
  [[ $EUID -eq 0 ]] && return
  command -v sudo >/dev/null || return
  sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }
}

# apt waits for dpkg's lock by itself, but not for the one on its lists.
apt() {
  local tries=0 log
  log=$(mktemp)
  until as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" \
    </dev/null >"$log" 2>&1; do
    if ! grep -q 'Could not get lock' "$log" || ((++tries > 120)); then
      grep -E '^(E|W|Err)' "$log" >&2 || tail -n 5 "$log" >&2
      rm -f "$log"
      return 1
    fi
    ((tries == 1)) && say "waiting for another apt to end"
    sleep 5
  done
  rm -f "$log"
}

# need NAME...: installs what is missing, or says in one line what it is and ends.
need() {
  local wanted
  if ! on_debian; then
    wanted=$(missing_programs | xargs)
    [[ -z $wanted ]] || die "missing: $wanted (install them, and the libraries that third_party/README.md lists)"
    return 0
  fi
  [[ -n $(missing "$@") ]] || return 0
  if [[ ${install:-yes} == no ]] || ! may_be_root; then
    die "missing packages: as root, apt-get update && apt-get install $(missing "$@" | xargs)"
  fi
  step "reading the package lists"
  apt update || die "apt-get update failed: its words are above"
  wanted=$(missing "$@" | xargs)
  step "installing $wanted"
  # shellcheck disable=SC2086 # a list of names
  apt install -y --no-install-recommends $wanted ||
    die "these packages could not be installed: $wanted (apt's words are above)"
}
