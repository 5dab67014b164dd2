/**
 * The Debian package under systemd itself, by `systemd.sh`: started by the package, reloaded, killed, stopped, and with a wrong
 * setting. Needs root, and a kernel that lets namespaces have control groups of their own.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { temporaryDirectory } from '../support/test-clients.ts'
import { debianPackage, packedInto, runs } from './installed.ts'

const place = temporaryDirectory()
tap.teardown(() => rmSync(place, { recursive: true }))

/** What the machine lacks. */
function lacking(): string | undefined {
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed'
  return /\bcgroup2$/m.test(readFileSync('/proc/filesystems', 'utf8')) ? undefined : 'the kernel has no cgroup2'
}

const lacks = lacking()
const options = lacks === undefined ? {} : { skip: lacks }

test(
  'systemd starts, reloads, restarts and stops the service, and leaves a wrong setting alone',
  options,
  async (t) => {
    const made = await debianPackage(await packedInto(place), place)
    const machine = join(place, 'machine')
    mkdirSync(machine)
    const unshared = ['--mount', '--fork', '--kill-child', '--propagation', 'private', 'spec/packaging/systemd.sh']
    t.match(await runs('.', 'unshare', ...unshared, machine, made), /^systemd runs the service\n$/m)
  },
)
