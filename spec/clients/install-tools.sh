#!/usr/bin/env bash
# Installs what requirements.txt pins into a virtual environment that is kept between runs, and prints where that is. With --more
# it is more-requirements.txt; with --where it installs nothing, and fails unless everything is there.
set -euo pipefail
cd "$(dirname "$0")"

pinned=requirements.txt
command='npm run install:clients'
only_where=
for word; do
  case $word in
    --more) pinned=more-requirements.txt command+=' -- --more' ;;
    --where) only_where=1 ;;
    *)
      echo "unknown: $word" >&2
      exit 2
      ;;
  esac
done
place=${XDG_CACHE_HOME:-$HOME/.cache}/object-store-specs/clients-$(sha256sum "$pinned" | cut -c 1-12)

is_complete() {
  [ -f "$place/complete" ] && "$place/bin/python" -c '' 2>/dev/null
}

install() {
  rm -rf "$place"
  python3 -m venv "$place"
  "$place/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary :all: --require-hashes \
    --requirement "$pinned"
  touch "$place/complete"
}

if [ -z "$only_where" ]; then
  mkdir -p "$(dirname "$place")"
  exec 9>"$place.lock"
  flock 9
  is_complete || install
elif ! is_complete; then
  echo "the tools of spec/clients/$pinned are not installed: $command" >&2
  exit 1
fi
echo "$place"
