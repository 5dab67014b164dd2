# For scripts: runs the service as its unit says, where systemd is not there to do it. Source this.

UNIT=/lib/systemd/system/object-store.service
SERVICE_LOG=/var/log/object-store.log

# unit KEY: the values of a key of the unit, one a line.
unit() {
  sed -n "s/^$1=//p" "$UNIT"
}

# become_service COMMAND...: turns this process into the command, as the user of the unit, with its environment and nothing else, and
# without any capability.
become_service() {
  local user group environment
  user=$(unit User)
  group=$(unit Group)
  environment=$(unit Environment)
  cd "$(unit WorkingDirectory)"
  umask "$(unit UMask)"
  # The view of /proc that the sandbox gives, in a mount namespace as systemd makes one.
  local proc
  proc=hidepid=$(unit ProtectProc)
  [ "$(unit ProcSubset)" != pid ] || proc=$proc,subset=pid
  # Several variables in one line are several words.
  # shellcheck disable=SC2086,SC2016
  exec unshare --mount sh -c 'mount -t proc -o "$1" proc /proc && shift && exec "$@"' proc "$proc" \
    setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $environment "$@"
}

# start_service: ExecStart, then ExecStartPost, which waits until the server is ready.
start_service() {
  local post
  # shellcheck disable=SC2046
  become_service $(unit ExecStart) >>"$SERVICE_LOG" 2>&1 &
  MAINPID=$!
  # Type=exec: the command is running, as its user, before anything else happens.
  until [ "$(stat -c %U "/proc/$MAINPID")" = "$(unit User)" ]; do sleep 0.05; done
  post=$(unit ExecStartPost | sed "s/^[^']*'//; s/'\$//; s/\$MAINPID/$MAINPID/")
  if ! (become_service sh -c "$post") >>"$SERVICE_LOG" 2>&1; then
    tail -n 30 "$SERVICE_LOG" >&2
    return 1
  fi
}

# stop_service: as systemd does; the server must end in good order.
stop_service() {
  kill "$MAINPID"
  wait "$MAINPID"
}

# reload_service: ExecReload.
reload_service() {
  # shellcheck disable=SC2046
  $(unit ExecReload | sed "s/\$MAINPID/$MAINPID/")
}
