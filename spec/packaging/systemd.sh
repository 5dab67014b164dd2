#!/usr/bin/env bash
# Boots systemd as process 1 of namespaces of its own, on a copy of the machine's files, installs the Debian package there, and has systemd
# start, reload, restart and stop the service. systemd.spec.ts runs this, in namespaces of its own as root.
# systemd.sh DIRECTORY PACKAGE.deb
set -euo pipefail
place=$1 package=$2
root=$place/root

# same WHAT EXPECTED ACTUAL
same() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected\n%s\nbut it is\n%s\n' "$1" "$2" "$3" >&2
    inside journalctl --no-pager --lines 40 >&2 || true
    exit 1
  fi
}

# inside COMMAND...: in the machine of that systemd.
inside() {
  nsenter --target "$booted" --mount --pid --net --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

show() {
  inside systemctl show --property "$1" --value object-store
}

# until_active: until the service is up again.
until_active() {
  local tries
  for tries in $(seq 300); do
    [ "$(show ActiveState)" != active ] || return 0
    sleep 0.2
  done
  same "the service after $tries tries" active "$(show ActiveState)"
}

echo '== a machine'
mkdir -p "$place/changes" "$place/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/changes,workdir=$place/work" "$root"
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/tmp"
mount -t tmpfs none "$root/dev"
# No device of the host but these, so that nothing in there writes to a terminal or a disk.
for device in null zero full random urandom tty; do touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs none "$root/dev/shm"
mount --bind "$(dirname "$package")" "$root/mnt"
# Only what the service needs; the machine's own services stay off.
for unit in "$root"/etc/systemd/system/*.target.wants/* "$root"/lib/systemd/system/*.target.wants/*; do
  name=$(basename "$unit")
  case $name in
    *.target | systemd-journald* | systemd-tmpfiles-setup* | systemd-sysusers* | *.slice) ;;
    *) ln -sf /dev/null "$root/etc/systemd/system/$name" ;;
  esac
done
# Images of containers forbid their packages to start services.
rm -f "$root/usr/sbin/policy-rc.d"

export root
# In a network of its own, so that the ports that users have are free there.
unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child --propagation private bash -c '
  set -e
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  ip link set lo up
  cd "$root"
  mkdir -p .host
  pivot_root . .host
  exec chroot . env -i container=namespaces PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=multi-user.target
' </dev/null >"$place/log" 2>&1 &
outer=$!
trap 'kill -9 "$outer" 2>/dev/null || true' EXIT
booted=
for _ in $(seq 100); do
  booted=$(pgrep --parent "$outer" || true)
  [ -z "$booted" ] || [ "$(cat "/proc/$booted/comm")" != systemd ] || break
  sleep 0.2
done
for _ in $(seq 300); do
  [ "$(inside systemctl is-system-running 2>/dev/null)" != running ] || break
  sleep 0.2
done
same 'the machine' running "$(inside systemctl is-system-running)"
same 'process 1' systemd "$(inside cat /proc/1/comm)"

echo '== installed, and started by the package'
inside env DEBIAN_FRONTEND=noninteractive dpkg --install "/mnt/$(basename "$package")"
until_active
same 'the start' 'active enabled' "$(show ActiveState) $(show UnitFileState)"
same 'its user' object-store "$(inside ps -o user= -p "$(show MainPID)")"
command() {
  inside sh -c '. /etc/object-store/secrets.env; export OBJECT_STORE_TOKEN=$OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN; exec object-store "$@"' - "$@"
}
command bucket create first >/dev/null
inside sh -c 'echo hello >/tmp/hello.txt'
command object put first hello.txt /tmp/hello.txt >/dev/null

echo '== the sandbox holds'
started=$(show MainPID)
same 'capabilities' 0000000000000000 "$(inside sed -n 's/^CapEff:\t//p' "/proc/$started/status")"
same 'no new privileges, filtered calls' '1 2' "$(inside sed -n 's/^NoNewPrivs:\t//p;s/^Seccomp:\t//p' "/proc/$started/status" | xargs)"
# A large upload is hashed in threads of a lower priority, which the filter of calls must allow.
inside sh -c 'head -c 67108864 /dev/zero >/tmp/large'
command object put first large /tmp/large >/dev/null
# A thread keeps a priority that is lower already, as where this runs beside other work.
lowest=$(($(nice) > 5 ? $(nice) : 5))
same 'the nicest thread' "$lowest" "$(inside ps -L -o ni= -p "$started" | sort -n | tail -n 1 | xargs)"

echo '== reloaded, killed, stopped'
inside systemctl reload object-store
same 'the process after a reload' "$started" "$(show MainPID)"
inside kill -9 "$started"
until [ "$(show NRestarts)" = 1 ]; do sleep 0.2; done
until_active
same 'the object after a kill' hello "$(command object get first hello.txt)"
inside systemctl restart object-store
until_active
same 'the object after a restart' hello "$(command object get first hello.txt)"
inside systemctl stop object-store
same 'the exit' 'inactive success 0' "$(show ActiveState) $(show Result) $(show ExecMainStatus)"

echo '== not started again with a wrong setting'
inside sh -c 'echo "no.setting = 1" >>/etc/object-store/object-store.toml'
! inside systemctl start object-store 2>/dev/null
same 'the failed start' 'failed 2 0' "$(show ActiveState) $(show ExecMainStatus) $(show NRestarts)"
echo 'systemd runs the service'
