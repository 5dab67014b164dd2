/**
 * A new user's walk: the Debian package installed, used, upgraded and removed, by `walk.sh`. In a copy of the machine's files
 * that is thrown away, which needs root; the processes of the walk end with it.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { temporaryDirectory } from '../support/test-clients.ts'
import { debianPackage, packedInto, runs, withVersion } from './installed.ts'

const place = temporaryDirectory()
tap.teardown(() => rmSync(place, { recursive: true }))

/** Mounts a copy of `/` whose changes go to $1, and runs the rest of the words in it. Mounts and processes end with this. */
const IN_A_COPY = `
set -e
mkdir -p "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs none "$1/root/run"
mount --bind "$2" "$1/root/mnt"
root=$1/root
shift 2
ip link set lo up
exec chroot "$root" env -i PATH="$PATH" HOME=/root "$@"
`

test('a new user installs, serves, backs up, restores, upgrades, and removes', async (t) => {
  const packed = await packedInto(place)
  const packages = [await debianPackage(packed, place), await debianPackage(await withVersion(packed, '0.1.1'), place)]
  t.match(packages, [/object-store_0\.1\.0_.*\.deb$/, /object-store_0\.1\.1_/])
  const copy = join(place, 'copy')
  mkdirSync(copy)
  await runs('.', 'cp', 'spec/packaging/walk.sh', 'spec/packaging/unit.sh', place)
  const inside = packages.map((path) => join('/mnt', path.slice(place.length)))
  // A network and processes of its own: the ports that users have are free there, and nothing of it stays.
  const unshared = ['--mount', '--pid', '--net', '--fork', '--kill-child', 'bash', '-c', IN_A_COPY, 'copy', copy, place]
  const output = await runs('.', 'unshare', ...unshared, '/mnt/walk.sh', ...inside)
  t.match(output, /^a new user arrived\n$/m)
})
