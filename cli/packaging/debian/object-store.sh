#!/bin/sh
# The command, by the Node.js of the package. Whoever may read the settings of this machine's server uses them by default.
set -eu
settings=/etc/object-store/object-store.toml
if [ -z "${OBJECT_STORE_CONFIG-}" ] && [ -r "$settings" ]; then
  export OBJECT_STORE_CONFIG="$settings"
fi
# What dpkg has installed stays as it is: only the service has a place for what Node compiled.
[ -n "${CACHE_DIRECTORY-}" ] || export NODE_DISABLE_COMPILE_CACHE=1
exec /usr/lib/object-store/bin/node /usr/lib/object-store/cli/object-store.mjs "$@"
