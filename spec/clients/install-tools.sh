#!/usr/bin/env bash
# Installs what requirements.txt pins into a virtual environment that is kept between runs, and prints where that is.
# With --where it installs nothing, and fails unless everything is there.
set -euo pipefail
cd "$(dirname "$0")"

place=${XDG_CACHE_HOME:-$HOME/.cache}/object-store-specs/clients-$(sha256sum requirements.txt | cut -c 1-12)

is_complete() {
  [ -f "$place/complete" ] && "$place/bin/python" -c '' 2>/dev/null
}

install() {
  rm -rf "$place"
  python3 -m venv "$place"
  "$place/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary :all: --require-hashes \
    --requirement requirements.txt
  touch "$place/complete"
}

if [ "${1:-}" != --where ]; then
  mkdir -p "$(dirname "$place")"
  exec 9>"$place.lock"
  flock 9
  is_complete || install
elif ! is_complete; then
  echo "the tools of spec/clients/requirements.txt are not installed: npm run install:clients" >&2
  exit 1
fi
echo "$place"
