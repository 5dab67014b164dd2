import { sequenceOf } from '../../../../engine/brands.ts'
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { isStoreLocked } from '../../../../engine/disk/store-lock.ts'
import { segmentName, StorePaths } from '../../../../engine/disk/store-paths.ts'
import { ChainVerdicts } from '../../../../engine/journal/chain-verdicts.ts'
import { decodeGenesis, type Genesis } from '../../../../engine/journal/bodies.ts'
import { requireKnownFormat } from '../../../../engine/journal/known-format.ts'
import { readGenesis } from '../../../../engine/journal/read-journal.ts'
import { systemMilliseconds } from '../../../../engine/clock.ts'
import { behindSentence, clockBehind } from '../../../server/clock-behind.ts'
import { formatAddress } from '../../../config/address.ts'
import type { Config } from '../../../config/config-types.ts'
import { keyAdvice, masterKeysOf } from '../../../config/server-credentials.ts'
import { findKeys } from '../../../../engine/journal/key-file.ts'
import { MasterKeyMismatchError } from '../../../../engine/keys/master-key-id.ts'
import { mustChangeMasterKey } from '../../../server/store/change-master-key.ts'
import { lockPlaceOf } from '../../../checkpoints/lock-place-of.ts'
import { isOnOneFileSystem } from '../../../server/store/payload-places.ts'
import { problemOfDates } from '../../../server/tls/certificate-dates.ts'
import { ListenerTls, tlsListeners } from '../../../server/tls/listener-tls.ts'
import { claimPort } from '../../../server/threads/claim-port.ts'
import { checkpointLock } from '../../../checkpoints/examine-lock.ts'
import { type Finding, findingOf } from './finding.ts'
import { getManagement, type ManagementAnswer } from '../../../client/management-request.ts'
import { readinessOf } from '../../../client/readiness.ts'
import { segmentFirsts } from '../../../../engine/journal/segment.ts'
import { type HeadMark, readHeadMark } from '../../../../engine/verify/head-mark.ts'
import type { SegmentResult } from '../../../../engine/verify/segment-result.ts'
import { verifySegment } from '../../../../engine/verify/segment-verifier.ts'

const MEBIBYTE = 1024 ** 2
/** Free space that is recommended (specification, Limits). */
const FREE_SHARE = 0.2

/** Checks everything that a start needs. Starts nothing, changes nothing, prints no secret. */
export async function examine(config: Config): Promise<Finding[]> {
  const paths = new StorePaths(config.data_dir)
  const locked = await isStoreLocked(nodeDisk, paths.root).catch((error: Error) => error)
  const isRunning = locked === true
  const genesis = genesisOf(paths)
  const place = lockPlaceOf(config)
  // Each check that needs it says what is wrong with it.
  const journalEnd = endOfJournal(paths)
  journalEnd.catch(() => undefined)
  return [
    await findingOf('data directory', () => dataDirectory(paths, locked)),
    await findingOf('atomic publication', () => atomicPublication(paths)),
    await findingOf('storage format', () => storageFormat(genesis)),
    await findingOf('restore state', async () => restoreState(paths, await journalEnd)),
    await findingOf('chain', async () => chainVerdict(paths, genesis, await journalEnd)),
    await findingOf('clock', async () => clock(config, await journalEnd)),
    await findingOf('free space', () => freeSpace(config, paths)),
    await findingOf('S3 listener', () => listener(config['s3.bind'], isRunning)),
    await findingOf('management listener', () => listener(config['api.bind'], isRunning)),
    await findingOf('console listener', () => consoleListener(config, isRunning)),
    await findingOf('certificates', () => certificates(config)),
    await findingOf('credential master key', () => masterKey(config, paths, genesis)),
    await findingOf('root credential', () => rootCredential(config)),
    await findingOf('metrics token', () => metricsToken(config)),
    ...(isRunning ? [await findingOf('running server', () => runningServer(config))] : []),
    ...(place === undefined ? [] : [await findingOf('checkpoint lock', () => checkpointLock(place, config, genesis))]),
  ]
}

/** Undefined if the store was not created yet; an error if it cannot be read. */
function genesisOf(paths: StorePaths): Genesis | Error | undefined {
  try {
    requireKnownFormat(nodeDisk, paths.journal)
    return nodeDisk.exists(paths.segment(sequenceOf(0))) ? decodeGenesis(readGenesis(nodeDisk, paths)) : undefined
  } catch (error) {
    return error as Error
  }
}

function dataDirectory({ root }: StorePaths, locked: boolean | Error): string {
  const place = nodeDisk.exists(root) ? root : dirname(root)
  if (!statSync(place).isDirectory()) throw new Error(`${place} is a file where a directory must be`)
  accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK)
  if (locked instanceof Error) throw locked
  return place === root ? `${root} can be read and written` : `${root} does not exist yet and can be created`
}

function atomicPublication(paths: StorePaths): string | Omit<Finding, 'check'> {
  if (!isOnOneFileSystem(paths)) return { status: 'skipped', detail: 'the store was not created yet' }
  return 'uploads and payload files are on one file system'
}

function storageFormat(genesis: Genesis | Error | undefined): string | Omit<Finding, 'check'> {
  if (genesis instanceof Error) throw genesis
  if (genesis === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  return `version 1, deployment ${Buffer.from(genesis.deploymentId).toString('hex')}`
}

function freeSpace(config: Config, paths: StorePaths): string | Omit<Finding, 'check'> {
  const place = nodeDisk.exists(paths.root) ? paths.root : dirname(paths.root)
  const { availableBytes, capacityBytes } = nodeDisk.space(place)
  const share = availableBytes / capacityBytes
  const text = `${Math.floor(availableBytes / MEBIBYTE)} MiB of ${Math.floor(capacityBytes / MEBIBYTE)} MiB are free`
  if (availableBytes < config['storage.reserved_mib'] * MEBIBYTE) throw new Error(`${text}: every upload is refused`)
  return share < FREE_SHARE ? { status: 'warning', detail: `${text}, less than a fifth` } : text
}

async function listener(
  address: { readonly host: string; readonly port: number },
  isRunning: boolean,
): Promise<string | Omit<Finding, 'check'>> {
  if (isRunning) return { status: 'skipped', detail: 'a server has the data directory open' }
  if (address.port === 0) return 'any free port is taken'
  await claimPort(address.host, address.port)
  return `${formatAddress(address)} is free`
}

async function consoleListener(config: Config, isRunning: boolean): Promise<string | Omit<Finding, 'check'>> {
  if (config['console.enabled']) return listener(config['console.bind'], isRunning)
  return { status: 'skipped', detail: 'console.enabled is false' }
}

/** @throws Error for files that cannot be used, and certificates that clients refuse */
function certificates(config: Config): string | Omit<Finding, 'check'> {
  const tls = new ListenerTls(config)
  const shown = tlsListeners.flatMap((name) => {
    const certificate = tls.certificate(name)
    return certificate === undefined
      ? []
      : [{ name, validTo: certificate.validTo, problem: problemOfDates(certificate) }]
  })
  const said = shown
    .filter(({ problem }) => problem !== undefined)
    .map(({ name, problem, validTo }) => `${name}: ${problem} (${validTo})`)
  if (shown.some(({ problem }) => problem !== undefined && problem !== 'the certificate expires soon')) {
    throw new Error(said.join('; '))
  }
  if (said.length > 0) return { status: 'warning', detail: said.join('; ') }
  if (shown.length === 0) return 'no listener speaks TLS'
  return shown.map(({ name, validTo }) => `${name} until ${validTo}`).join(', ')
}

function masterKey(config: Config, paths: StorePaths, genesis: Genesis | Error | undefined): string {
  const { masterKey: key, previousMasterKey } = masterKeysOf(config)
  if (key === undefined) throw new Error('no master key is configured (OBJECT_STORE_CREDENTIAL_MASTER_KEY)')
  if (genesis === undefined || genesis instanceof Error) return 'it is configured'
  if (mustChangeMasterKey(nodeDisk, paths, { masterKey: key, previousMasterKey })) {
    return 'the previous one is the key of this store, and the next start changes it'
  }
  try {
    findKeys(nodeDisk, paths, key)
  } catch (error) {
    throw error instanceof MasterKeyMismatchError
      ? new Error(`${error.message}; ${keyAdvice(config)}`, { cause: error })
      : error
  }
  return 'it is the key of this store'
}

function rootCredential(config: Config): string {
  if (config['root.access_key'] === undefined || config['root.secret_key'] === undefined) {
    throw new Error('no root credential is configured (OBJECT_STORE_ROOT_ACCESS_KEY, OBJECT_STORE_ROOT_SECRET_KEY)')
  }
  return 'it is configured'
}

function metricsToken(config: Config): string | Omit<Finding, 'check'> {
  if (config['metrics.scrape_token'] !== undefined) return 'it is configured'
  return { status: 'warning', detail: 'no scrape token is configured, so the metrics are closed' }
}

/** Whether the server that has the data directory open is ready, and what it does not do at the moment. */
async function runningServer(config: Config): Promise<string | Omit<Finding, 'check'>> {
  let answer: ManagementAnswer
  try {
    answer = await getManagement(config, '/ready')
  } catch (error) {
    // It may still be starting, or have been started with another address.
    return { status: 'warning', detail: (error as Error).message }
  }
  const { ready, failing, degraded } = readinessOf(answer)
  if (!ready) throw new Error(`it is not ready: ${sentenceOf(failing)}`)
  return degraded.length === 0
    ? 'it is ready'
    : { status: 'warning', detail: `it is ready, degraded: ${sentenceOf(degraded)}` }
}

function sentenceOf(checks: readonly { readonly name: string; readonly reason: string }[]): string {
  return checks.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
}

/** Time for a running server to finish the batch that it is writing. */
const SETTLE_MILLISECONDS = 50

/**
 * A journal that ends before its high-water mark was restored from an older copy or has lost its end. Verifies only the
 * last segment; the journal ends before the first problem in it.
 */
function restoreState(paths: StorePaths, { mark, result }: JournalEnd): string | Omit<Finding, 'check'> {
  if (!nodeDisk.exists(paths.head)) return { status: 'skipped', detail: 'there is no high-water mark yet' }
  const problem = result?.problems[0]
  if (problem?.offset === 0) throw new Error(`${join(paths.journal, problem.segment)}: header is damaged`)
  if (mark === undefined) return { status: 'warning', detail: 'the high-water mark cannot be read' }
  if (result === undefined) throw new Error('the journal has no entries, but its high-water mark says that it had some')
  const last = (problem?.sequence ?? result.nextSequence) - 1
  if (last < mark.sequence) throw new Error(`the journal ends at ${last}, but ${mark.sequence} was acknowledged`)
  const marked = result.found[0]
  if (marked !== undefined && marked.hash !== mark.hash) {
    throw new Error(`entry ${mark.sequence} is not the one that was acknowledged`)
  }
  const state = `the journal ends at ${last}, its high-water mark is ${mark.sequence}`
  if (!mark.refusesNext) return state
  const detail = `${state}; the disk failed at the batch after it, which was refused: the next start cuts it off`
  return { status: 'warning', detail }
}

interface JournalEnd {
  readonly mark: HeadMark | undefined
  /** Of the last segment; undefined without a segment. */
  readonly result: SegmentResult | undefined
}

/** What the mark says of the end of the journal, and what the last segment has. */
async function endOfJournal(paths: StorePaths): Promise<JournalEnd> {
  const mark = nodeDisk.exists(paths.head) ? (await readHeadMark(paths.journal)).mark : undefined
  return { mark, result: verifyLastSegment(paths, mark?.sequence) }
}

/** The last verdict on the chain that is kept. It is not verified again: that takes long. */
function chainVerdict(
  paths: StorePaths,
  genesis: Genesis | Error | undefined,
  { result }: JournalEnd,
): string | Omit<Finding, 'check'> {
  if (result === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  const id =
    genesis === undefined || genesis instanceof Error ? undefined : Buffer.from(genesis.deploymentId).toString('hex')
  const { whole, ignored } = new ChainVerdicts(nodeDisk, paths, id).read(result.nextSequence - 1)
  if (ignored !== undefined) return { status: 'warning', detail: `${paths.verified} is ignored: ${ignored}` }
  if (whole === undefined) return 'the whole chain was not verified yet; journal verify does it'
  const { through, by, program, problem, atMilliseconds } = whole
  const when = `${new Date(atMilliseconds).toISOString()} by ${program} of ${by}`
  if (problem === undefined) return `it was intact up to record ${through}, verified ${when}`
  const place = problem.sequence === undefined ? '' : ` at record ${problem.sequence}`
  throw new Error(`damage was found${place}, ${when}: ${problem.verdict}, ${problem.detail}; run journal verify`)
}

/** Whether the clock of this host is behind the last entry of the journal. */
function clock(config: Config, { result }: JournalEnd): string | Omit<Finding, 'check'> {
  if (result === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  const entry = result.lastTime === 0 ? (result.header?.createdMicroseconds ?? 0) : result.lastTime
  const behind = clockBehind(systemMilliseconds(), Math.floor(entry / 1000))
  const tolerance = config['object_lock.clock_backwards_tolerance_seconds'] * 1000
  if (behind.milliseconds > tolerance) return { status: 'warning', detail: behindSentence(behind) }
  return 'it is not before the last entry of the journal'
}

/** Undefined if there is no segment. */
function verifyLastSegment(paths: StorePaths, watched: number | undefined): SegmentResult | undefined {
  const first = segmentFirsts(nodeDisk, paths).at(-1)
  if (first === undefined) return undefined
  const job = {
    path: paths.segment(first),
    name: segmentName(first),
    isLast: true,
    settleMilliseconds: SETTLE_MILLISECONDS,
  }
  return verifySegment({ ...job, watched: watched === undefined ? [] : [watched] }, () => undefined)
}
