#!/usr/bin/env bash
# What a new user does, with the commands of README.md, spec/manual/operating.md and spec/manual/clients/tls.md: installs the service, gives it TLS,
# makes a bucket, backs up, loses everything and restores, upgrades, changes the keys, and removes the package.
# Installs software: walk.spec.ts runs it in a copy of the machine that is thrown away.
# walk.sh PACKAGE.deb NEWER.deb
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=spec/packaging/unit.sh
. "$here/unit.sh"
package=$1 newer=$2
pages=/usr/share/doc/object-store

say() {
  echo "== $*"
}

# same WHAT EXPECTED ACTUAL
same() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected\n%s\nbut it is\n%s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

# commands_below HEADING PAGE: the first block of commands after a heading.
commands_below() {
  awk -v heading="$1" '$0 == heading {found=1} found && /^```$/ {exit} shown {print} found && /^```sh$/ {shown=1}' "$2"
}

as_user() {
  runuser -u object-store -- "$@"
}

secret() {
  sed -n "s/^OBJECT_STORE_$1=//p" /etc/object-store/secrets.env
}

say 'install as a service'
dpkg --install "$package"
same 'mode of the data directory' '700 object-store' "$(stat -c '%a %U' /var/lib/object-store)"
same 'mode of the secrets' '600 object-store' "$(stat -c '%a %U' /etc/object-store/secrets.env)"
as_user object-store server doctor
systemd-analyze verify "$UNIT"
# Of 10: what is more than 2 loses a protection that it had.
systemd-analyze security --offline=true --threshold=20 "$UNIT" | tail -n 1
start_service
same 'user of the server' object-store "$(ps -o user= -p "$MAINPID")"
as_user object-store status
first_secrets=$(cat /etc/object-store/secrets.env)

say 'TLS, with an authority and a certificate by it'
stop_service
cd /etc/object-store
commands_below '# A certificate for TLS' "$pages/spec/manual/clients/tls.md" | bash -e
chown object-store key.pem certificate.pem
chmod 600 key.pem ca-key.pem
sed -i 's/^# tls_/tls_/' object-store.toml
start_service
cd /

say 'the first bucket'
export AWS_DEFAULT_REGION=us-east-1 AWS_CA_BUNDLE=/etc/object-store/ca.pem AWS_REQUEST_CHECKSUM_CALCULATION=when_required
use_root() {
  AWS_ACCESS_KEY_ID=$(secret ROOT_ACCESS_KEY)
  AWS_SECRET_ACCESS_KEY=$(secret ROOT_SECRET_KEY)
  export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}
use_root
s3() {
  aws --endpoint-url https://localhost:7600 s3 "$@"
}
mkdir -p /tmp/walk && cd /tmp/walk
s3 mb s3://first
echo hello >hello.txt
s3 cp hello.txt s3://first/
export OBJECT_STORE_URL=https://localhost:7601 OBJECT_STORE_TOKEN
OBJECT_STORE_TOKEN=$(secret MANAGEMENT_SYSTEM_TOKEN)
object-store bucket list --ca-file /etc/object-store/ca.pem | grep first
reload_service

say 'back up while it serves'
install -d -o object-store -m 700 /backup
as_user object-store backup /backup/store --data-dir /var/lib/object-store
as_user object-store backup verify /backup/store

say 'lose everything, and restore'
stop_service
rm -rf /var/lib/object-store
install -d -o object-store -g object-store -m 700 /var/lib/object-store
as_user object-store restore /backup/store --to /var/lib/object-store
as_user object-store server doctor
start_service
same 'the restored object' hello "$(s3 cp s3://first/hello.txt -)"

say 'upgrade'
stop_service
dpkg --install "$newer"
same 'the secrets after an upgrade' "$first_secrets" "$(cat /etc/object-store/secrets.env)"
grep -q '^tls_key_file' /etc/object-store/object-store.toml
start_service
same version "$(dpkg-query -f '${Version}' -W object-store)" "$(object-store version | cut -d " " -f 1)"
same 'the object after the upgrade' hello "$(s3 cp s3://first/hello.txt -)"

say 'change the master key and the root credential'
fails_with_old_credential() {
  ! s3 ls s3://first 2>/dev/null
}
stop_service
old_key=$(secret CREDENTIAL_MASTER_KEY)
as_user object-store key rotate --data-dir /var/lib/object-store
as_user object-store root rotate --data-dir /var/lib/object-store
[ "$old_key" != "$(secret CREDENTIAL_MASTER_KEY)" ]
as_user object-store server doctor
start_service
fails_with_old_credential
use_root
same 'the object after the rotation' hello "$(s3 cp s3://first/hello.txt -)"
rotated_secrets=$(cat /etc/object-store/secrets.env)

say 'remove and purge: the data and its key stay'
stop_service
dpkg --purge object-store
[ ! -e /usr/bin/object-store ] && [ ! -e /etc/object-store/object-store.toml ]
same 'the secrets after a purge' "$rotated_secrets" "$(cat /etc/object-store/secrets.env)"
[ -e /var/lib/object-store/journal ]

say 'install again: the store is there'
dpkg --install "$newer"
sed -i 's/^# tls_/tls_/' /etc/object-store/object-store.toml
start_service
same 'the object after all' hello "$(s3 cp s3://first/hello.txt -)"
stop_service
echo 'a new user arrived'
