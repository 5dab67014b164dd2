#!/bin/sh
# The command, by the Node.js of the package. Whoever may read the settings of this machine's server uses them by default.
set -eu
settings=/etc/object-store/object-store.toml
if [ -z "${OBJECT_STORE_CONFIG-}" ] && [ -r "$settings" ]; then
  export OBJECT_STORE_CONFIG="$settings"
fi
exec /usr/lib/object-store/bin/node /usr/lib/object-store/cli/object-store.mjs "$@"
