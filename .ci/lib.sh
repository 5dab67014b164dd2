# What .ci/run and .ci/nightly share: steps, suites and proofs, and the count of what passed and failed.
# Whoever reads it in has its last line be "N passed, N failed": assertions of the specs, and one for each step that has none.

passed=0
failed=0
logs=$(mktemp -d)

finish() {
  rm -rf "$logs" "${nodes:-$logs}"
  echo "$passed passed, $failed failed"
}
trap finish EXIT

# The clients that the specs in spec/clients try, a browser for pages, and what other specs run beside the store or install it by.
install_tools() {
  local missing=() administrator=()
  command -v adduser >/dev/null || missing+=(adduser)
  command -v aws >/dev/null || missing+=(awscli)
  command -v buildah >/dev/null || missing+=(buildah)
  command -v busybox >/dev/null || missing+=(busybox-static)
  [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing+=(chromium)
  command -v curl >/dev/null || missing+=(curl)
  command -v docker-registry >/dev/null || missing+=(docker-registry)
  command -v faketime >/dev/null || missing+=(faketime)
  command -v ip >/dev/null || missing+=(iproute2)
  command -v openssl >/dev/null || missing+=(openssl)
  command -v pgrep >/dev/null || missing+=(procps)
  command -v promtool >/dev/null || missing+=(prometheus)
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
  command -v rclone >/dev/null || missing+=(rclone)
  command -v restic >/dev/null || missing+=(restic)
  command -v s3fs >/dev/null || missing+=(s3fs)
  command -v skopeo >/dev/null || missing+=(skopeo)
  command -v systemd-analyze >/dev/null || missing+=(systemd)
  command -v strace >/dev/null || missing+=(strace)
  /usr/bin/python3 -c 'import boto3' 2>/dev/null || missing+=(python3-boto3)
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "missing: ${missing[*]}"
  [ "$(id -u)" -eq 0 ] || administrator=(sudo -n)
  "${administrator[@]}" apt-get -qq update
  "${administrator[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"
}

# tell LOG STATUS SECONDS: counts what passed or failed as a whole; says of a success its time and the last line.
tell() {
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
    tail -n 1 "$1"
    echo "   passed in $3 s"
  else
    failed=$((failed + 1))
    tail -n 200 "$1"
    echo "   failed after $3 s"
    return 1
  fi
}

# step NAME COMMAND...
step() {
  local log=$logs/step status=0
  echo "== $1"
  shift
  SECONDS=0
  "$@" >"$log" 2>&1 || status=$?
  tell "$log" "$status" "$SECONDS"
}

# One number of the line that tap ends with, such as "# { total: 8, pass: 7, fail: 1 }"; a number that is 0 is left out.
count() {
  local number
  number=$(sed -n "s/^# {.*\b$1: \([0-9]\+\).*/\1/p" "$2" | tail -n 1)
  echo "${number:-0}"
}

# suite NAME COMMAND...: adds the counts of a tap run. A run that ends badly without a failed assertion counts as one.
suite() {
  local name=$1 log=$logs/suite status=0 good bad
  shift
  echo "== $name"
  SECONDS=0
  TAP_REPORTER=tap "$@" >"$log" 2>&1 || status=$?
  good=$(count pass "$log")
  bad=$(count fail "$log")
  if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$good" -eq 0 ]; }; then
    bad=1
    tail -n 100 "$log"
  elif [ "$bad" -gt 0 ]; then
    # Each failed assertion with what tap says about it, up to the "..." that ends it; the first 400 lines. Not by `head`,
    # which would end this script when there are more.
    awk '/^ *not ok /{shown=1} shown && lines++ < 400 {print} /^ *\.\.\.$/{shown=0}' "$log"
    # What ended a server by itself, which the assertion does not know.
    awk '/the server ended: /{left=40} left-- > 0' "$log"
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  echo "   $good passed, $bad failed in $SECONDS s"
}

# specs JOBS SECONDS WORD...: what `tap run` does, without the two seconds of a processor that it takes by itself.
specs() {
  local jobs=$1 seconds=$2
  shift 2
  TAP_JOBS=$jobs TAP_TIMEOUT=$seconds node build/spec/run-specs.js "$@"
}

# Where a proof has its store that tries no disk: in memory where there is room, as run-specs.ts has it; in nightly on a disk.
store_place() {
  local free
  free=$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1) || true
  if [ "${SPEC_FULL:-0}" != 1 ] && [ "${free:-0}" -ge 4 ]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi
}

# lane SEED PROOF...: runs them one after the other, for `verdict` to tell of. A PROOF is a name and flags of its amount, such
# as "disk --seeds 9"; `attack:node` is `attack` over the HTTP of Node.js.
lane() {
  local seed=$1 proof words driver status log place
  shift
  for proof in "$@"; do
    read -ra words <<<"$proof"
    status=0
    driver=auto
    [[ ${words[0]} != *:* ]] || driver=${words[0]#*:}
    place=${TMPDIR:-/tmp}
    [[ ${words[0]} != attack* ]] || place=$(store_place)
    log=$logs/${words[0]}-$seed
    SECONDS=0
    TMPDIR=$place SPEC_HTTP_DRIVER=$driver node build/spec/prove/main.js "${words[0]%:*}" "${words[@]:1}" --seed "$seed" >"$log" 2>&1 || status=$?
    echo "$status $SECONDS" >"$log.verdict"
  done
}

# verdict SEED PROOF: one that has none did not run to its end.
verdict() {
  local status=none seconds=? log=$logs/${2%% *}-$1
  echo "== npm run prove -- $2 --seed $1"
  [ ! -f "$log.verdict" ] || read -r status seconds <"$log.verdict"
  tell "$log" "$status" "$seconds"
}

# proofs SEED: what the script names in `beside`, `meanwhile` and `alone`. Two lanes, since most proofs leave a processor idle half
# of the time; those that are judged by the time of answers, or by what a server keeps, go alone.
proofs() {
  local proof
  lane "$1" "${beside[@]}" &
  lane "$1" "${meanwhile[@]}" &
  wait
  lane "$1" "${alone[@]}"
  for proof in "${meanwhile[@]}" "${beside[@]}" "${alone[@]}"; do verdict "$1" "$proof" || true; done
}

# The versions of Node that are promised beside the one that runs this. Their binaries are an npm package each, and no
# dependency of the project.
nodes=$(mktemp -d)
other_nodes=(22.23.3 24.21.0 26.10.0)
install_nodes() {
  local version
  for version in "${other_nodes[@]}"; do
    npm install --prefix "$nodes/$version" --no-save --loglevel=error --no-audit --no-fund "node@$version"
    [ "$("$nodes/$version/node_modules/node/bin/node" --version)" = "v$version" ]
  done
}

# on_node VERSION SPEC...: what was built, with another version: uWebSockets.js has a binary for 22, not for 24 and 26.
on_node() {
  local version=$1
  shift
  SPEC_NODE="$nodes/$version/node_modules/node/bin/node" suite "on Node $version" specs 3 600 "$@"
}
