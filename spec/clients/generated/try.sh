#!/usr/bin/env bash
# Makes a client of the management interface with one generator, and has it create, upload, list, query and be refused.
# See README.md beside it for what each needs.
set -euo pipefail

usage() {
  echo "usage: OBJECT_STORE_URL=... OBJECT_STORE_TOKEN=... $0 typescript|python|go|openapi-generator" >&2
  exit 2
}

[ $# -eq 1 ] && [ -n "${OBJECT_STORE_URL:-}" ] && [ -n "${OBJECT_STORE_TOKEN:-}" ] || usage
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
curl --silent --show-error --fail -H "Authorization: Bearer $OBJECT_STORE_TOKEN" \
  --output api.json "$OBJECT_STORE_URL/api/v1/openapi.json"

virtual_environment() {
  python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check "$@"
}

case $1 in
  typescript)
    cp "$here"/typescript/* .
    npm ci --loglevel=error --no-audit --no-fund
    npx openapi-typescript api.json --output api.d.ts
    npx tsc
    node round-trip.mjs
    ;;
  python)
    virtual_environment --requirement "$here/requirements.txt"
    PATH=$place/venv/bin:$PATH openapi-python-client generate --path api.json --output-path client --fail-on-warning
    PYTHONPATH=client venv/bin/python "$here/python_round_trip.py"
    ;;
  go)
    mkdir api
    go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -package api -generate types,client \
      -o api/api.go api.json
    cp "$here/go/main.go" .
    go mod init example.com/generated
    go mod tidy
    go run .
    ;;
  openapi-generator)
    mvn --quiet dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=.
    java -jar openapi-generator-cli-7.17.0.jar validate --input-spec api.json
    java -jar openapi-generator-cli-7.17.0.jar generate --generator-name python --input-spec api.json --output client
    virtual_environment ./client
    venv/bin/python "$here/openapi_generator_round_trip.py"
    ;;
  *) usage ;;
esac
echo "$1: created, uploaded, listed, queried, refused"
