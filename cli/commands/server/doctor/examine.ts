import { dirname } from 'node:path'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { isStoreLocked } from '../../../../engine/disk/store-lock.ts'
import { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { checkpointLock } from '../../../checkpoints/examine-lock.ts'
import { lockPlaceOf } from '../../../checkpoints/lock-place-of.ts'
import type { Config } from '../../../config/config-types.ts'
import { HEAL_ADVICE } from '../../../server/store/heal-advice.ts'
import { type Finding, type Found, findingOf } from './finding.ts'
import { recordIndex } from './record-index.ts'
import {
  chainVerdict,
  clock,
  endOfJournal,
  genesisOf,
  lastBackup,
  restoreState,
  storageFormat,
} from './journal-checks.ts'
import { askReadiness, foundDamage, runningServer } from './server-checks.ts'
import {
  certificates,
  consoleListener,
  httpDriver,
  listener,
  masterKey,
  metricsToken,
  openFiles,
  rootCredential,
  s3Profile,
} from './settings-checks.ts'
import { newProjections, wholeJournal } from './upgrade-checks.ts'
import { atomicPublication, damagedRows, dataDirectory, freeSpace } from './store-checks.ts'

type Check = readonly [name: string, next: string, run: () => Found | Promise<Found>]

/**
 * Checks everything that a start needs. Starts nothing, leaves everything as it is, prints no secret.
 * @param beforeUpgrade also what the first start of this program on a store of an earlier one needs, which reads the whole journal
 */
export async function examine(config: Config, beforeUpgrade: boolean): Promise<Finding[]> {
  const paths = new StorePaths(config.data_dir)
  const locked = await isStoreLocked(nodeDisk, paths.root).catch((error: Error) => error)
  const isRunning = locked === true
  const checks = [
    ...storeChecks(config, paths, locked),
    ...(beforeUpgrade ? upgradeChecks(config, paths) : []),
    ...settingsChecks(config, paths, isRunning),
  ]
  const findings: Finding[] = []
  // One after the other: two would slow each other down, and a listener takes the port that it looks at.
  for (const check of checks) findings.push(await findingOf(...check))
  return findings
}

function storeChecks(config: Config, paths: StorePaths, locked: boolean | Error): Check[] {
  const genesis = genesisOf(paths)
  // Each check that needs it says what is wrong with it.
  const journalEnd = endOfJournal(paths)
  journalEnd.catch(() => undefined)
  const place = nodeDisk.exists(paths.root) ? paths.root : dirname(paths.root)
  return [
    [
      'data directory',
      `make ${place} a directory that the account of the server can read and write, or set data_dir to another`,
      () => dataDirectory(paths, locked),
    ],
    ['atomic publication', 'have payloads/tmp and payloads/files in one file system', () => atomicPublication(paths)],
    ['storage format', `run object-store journal verify; ${HEAL_ADVICE}`, () => storageFormat(genesis)],
    [
      'restore state',
      `run object-store journal verify; ${HEAL_ADVICE}`,
      async () => restoreState(paths, await journalEnd),
    ],
    [
      'chain',
      `${HEAL_ADVICE}; then run object-store journal verify`,
      async () => chainVerdict(paths, genesis, await journalEnd),
    ],
    [
      'projections',
      'start the server, or start it again: it derives all rows from the journal first',
      () => damagedRows(paths),
    ],
    [
      'record index',
      'start the server: it is made in the background',
      async () => recordIndex(paths, await journalEnd),
    ],
    [
      'backup',
      'run object-store backup DIRECTORY, regularly',
      async () => lastBackup(paths, genesis, await journalEnd),
    ],
    ['clock', 'see "When the clock is wrong" in spec/manual/operating.md', async () => clock(config, await journalEnd)],
    ['free space', 'free some space, or use a larger disk', () => freeSpace(config, paths)],
  ]
}

function upgradeChecks(config: Config, paths: StorePaths): Check[] {
  return [
    ['whole journal', HEAL_ADVICE, () => wholeJournal(paths)],
    ['new projections', 'free some space, or use a larger disk', () => newProjections(config, paths)],
  ]
}

/** What to do when the address of a setting is taken. */
function other(setting: string): string {
  return `end the program that listens there, or set ${setting} to another address`
}

function settingsChecks(config: Config, paths: StorePaths, isRunning: boolean): Check[] {
  const genesis = genesisOf(paths)
  const place = lockPlaceOf(config)
  return [
    ['S3 profile', 'see "Strict and compatible" in spec/manual/operating.md', () => s3Profile(config)],
    ['S3 listener', other('s3.bind'), () => listener(config['s3.bind'], isRunning)],
    ['management listener', other('api.bind'), () => listener(config['api.bind'], isRunning)],
    ['console listener', other('console.bind'), () => consoleListener(config, isRunning)],
    [
      'HTTP driver',
      'see "The HTTP driver" in spec/manual/operating.md, or set server.http_driver to node',
      () => httpDriver(config),
    ],
    ['open files', 'raise the limit of open files (ulimit -n, LimitNOFILE of the unit)', () => openFiles(config)],
    ['certificates', 'renew the certificate, then send SIGHUP to the server', () => certificates(config)],
    ['credential master key', 'give the key of this store', () => masterKey(config, paths, genesis)],
    [
      'root credential',
      'set OBJECT_STORE_ROOT_ACCESS_KEY and OBJECT_STORE_ROOT_SECRET_KEY, or the files in their _FILE',
      () => rootCredential(config),
    ],
    [
      'metrics token',
      'set OBJECT_STORE_METRICS_SCRAPE_TOKEN if Prometheus is to read the metrics',
      () => metricsToken(config),
    ],
    ...(isRunning ? serverChecks(config) : []),
    ...(place === undefined ? [] : lockChecks(() => checkpointLock(place, config, genesis))),
  ]
}

function serverChecks(config: Config): Check[] {
  const ready = askReadiness(config)
  return [
    [
      'running server',
      'do what its sentence says; the log of the server says more',
      async () => runningServer(await ready),
    ],
    ['found damage', HEAL_ADVICE, async () => foundDamage(config, await ready)],
  ]
}

function lockChecks(run: Check[2]): Check[] {
  const next =
    'see that the place of checkpoints.lock can be reached with its access key: no checkpoint is published without it'
  return [['checkpoint lock', next, run]]
}
