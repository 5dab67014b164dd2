#!/usr/bin/env bash
# Builds the image of cli/packaging/Containerfile and runs it, as its user, with secrets as files. The base is made here of Node.js, its
# libraries and busybox: the one that the file names is in a registry. image.spec.ts runs this in namespaces of its own.
# image.sh PACKAGE.tgz DIRECTORY
set -euo pipefail
package=$1 place=$2
mount -t proc proc /proc
ip link set lo up

export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot TMPDIR=$place
image() {
  buildah --root "$place/storage" --runroot "$place/run" "$@"
}

# same WHAT EXPECTED ACTUAL
same() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected\n%s\nbut it is\n%s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

echo '== the base'
base=$place/base
mkdir -p "$base"/{bin,etc,tmp,usr/bin,run/secrets}
chmod 1777 "$base/tmp"
cp "$(command -v busybox)" "$base/bin/busybox"
for applet in sh mkdir chown chmod ln; do ln -s busybox "$base/bin/$applet"; done
ln -s /bin/busybox "$base/usr/bin/env"
node=$(readlink -f "$(command -v node)")
cp "$node" "$base/usr/bin/node"
tar xzf "$package" -C "$place"
# Of libc what Node.js and the native libraries ask for; a real base has all of it.
find "$node" "$place/package/node_modules" -name node -o -name '*.node' ! -name '*musl*' | xargs ldd | grep -o '/[^ :]*lib[^ :]*\.so[^ :]*' | sort -u | while read -r library; do cp --dereference --parents "$library" "$base"; done
echo 'root:x:0:0:root:/:/bin/sh' >"$base/etc/passwd"
container=$(image from scratch)
image copy --quiet "$container" "$base" / >/dev/null
image commit --quiet "$container" localhost/base >/dev/null

echo '== the image'
image build --quiet --format docker --build-arg BASE=localhost/base --file "$place/package/cli/packaging/Containerfile" \
  --tag localhost/object-store "$place/package"
configuration=$(image inspect --type image --format \
  '{{.Docker.Config.User}} {{.Docker.Config.Entrypoint}} {{.Docker.Config.Cmd}} {{.Docker.Config.StopSignal}} {{.Docker.Config.Healthcheck.Test}}' \
  localhost/object-store)
same configuration '65532:65532 [object-store] [server] SIGTERM [CMD object-store status]' "$configuration"

echo '== a container'
secrets=$place/secrets
mkdir "$secrets"
for name in master-key root-secret-key management-token; do openssl rand -hex 32 >"$secrets/$name"; done
printf ROOTOFTHEIMAGE >"$secrets/root-access-key"
chown 65532 "$secrets"/*
chmod 400 "$secrets"/*
container=$(image from localhost/object-store)
inside() {
  image run --volume "$secrets:/run/secrets:ro" \
    --env OBJECT_STORE_CREDENTIAL_MASTER_KEY_FILE=/run/secrets/master-key \
    --env OBJECT_STORE_ROOT_ACCESS_KEY_FILE=/run/secrets/root-access-key \
    --env OBJECT_STORE_ROOT_SECRET_KEY_FILE=/run/secrets/root-secret-key \
    --env OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN_FILE=/run/secrets/management-token \
    --env OBJECT_STORE_TOKEN_FILE=/run/secrets/management-token \
    --env OBJECT_STORE_PORT=tcp://10.0.0.1:7600 "$container" -- object-store "$@"
}
inside server >"$place/log" 2>&1 &
if ! inside status --wait=2m; then
  cat "$place/log" >&2
  exit 1
fi
server=$(pgrep -u 65532 -x node)
grep -q 'OBJECT_STORE_PORT: of a Kubernetes service and ignored' "$place/log"
inside bucket create first >/dev/null
inside object put first hello.txt /etc/passwd >/dev/null
same 'the object' "$(cat "$base/etc/passwd")" "$(inside object get first hello.txt)"
data=$(image mount "$container")/data
same 'the data directory' '700 65532' "$(stat -c '%a %u' "$data")"
# In pieces, since the script itself would match.
same 'secrets in the environment' 0 "$(tr '\0' '\n' <"/proc/$server/environ" | grep -c -f "$secrets/master-key" || true)"
kill -TERM "$server"
wait %1
echo 'the image works'
