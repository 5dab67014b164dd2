import { timingSafeEqual } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore, StoreLockedError } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeGenesis, type Genesis } from '../../engine/journal/bodies.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { readGenesis } from '../../engine/journal/read-journal.ts'
import { formatAddress } from '../config/address.ts'
import type { Config } from '../config/config-types.ts'
import { decodeMasterKey } from '../config/master-key.ts'
import { masterKeyCheck } from '../store/master-key-check.ts'
import { claimPort } from '../threads/claim-port.ts'
import { type Finding, findingOf } from './finding.ts'
import { lastSequence } from './last-sequence.ts'

const MEBIBYTE = 1024 ** 2
/** Free space that is recommended (specification, Limits). */
const FREE_SHARE = 0.2

/** Looks at everything that a start would need. Starts nothing, changes nothing, prints no secret. */
export async function examine(config: Config): Promise<Finding[]> {
  const paths = new StorePaths(config.data_dir)
  const isRunning = await findRunning(paths)
  const genesis = genesisOf(paths)
  return [
    await findingOf('data directory', () => dataDirectory(paths)),
    await findingOf('atomic publication', () => atomicPublication(paths)),
    await findingOf('storage format', () => storageFormat(genesis)),
    await findingOf('restore state', () => restoreState(paths)),
    await findingOf('free space', () => freeSpace(config, paths)),
    await findingOf('S3 listener', () => listener(config['s3.bind'], isRunning)),
    await findingOf('management listener', () => listener(config['api.bind'], isRunning)),
    await findingOf('credential master key', () => masterKey(config, genesis)),
    await findingOf('root credential', () => rootCredential(config)),
    await findingOf('metrics token', () => metricsToken(config)),
  ]
}

/** Whether a server holds the data directory: then its ports are taken, and rightly. */
async function findRunning(paths: StorePaths): Promise<boolean> {
  if (!nodeDisk.exists(paths.root)) return false
  try {
    const lock = await lockStore(nodeDisk, paths.root)
    await lock.release()
    return false
  } catch (error) {
    return error instanceof StoreLockedError
  }
}

/** Undefined for a store that was not made yet; an error when it cannot be read. */
function genesisOf(paths: StorePaths): Genesis | Error | undefined {
  try {
    return nodeDisk.exists(paths.segment(0)) ? decodeGenesis(readGenesis(nodeDisk, paths)) : undefined
  } catch (error) {
    return error as Error
  }
}

function dataDirectory({ root }: StorePaths): string {
  const place = nodeDisk.exists(root) ? root : dirname(root)
  accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK)
  return place === root ? `${root} can be read and written` : `${root} is not there yet and can be made`
}

/** A payload is renamed to its place: that is atomic on one file system, and impossible between two. */
function atomicPublication(paths: StorePaths): string | Omit<Finding, 'check'> {
  const places = [paths.uploads, paths.files].filter((path) => nodeDisk.exists(path))
  if (places.length < 2) return { status: 'skipped', detail: 'the store was not made yet' }
  if (new Set(places.map((path) => statSync(path).dev)).size > 1) {
    throw new Error(`${paths.uploads} and ${paths.files} are on different file systems`)
  }
  return 'uploads and payload files are on one file system'
}

function storageFormat(genesis: Genesis | Error | undefined): string | Omit<Finding, 'check'> {
  if (genesis instanceof Error) throw genesis
  if (genesis === undefined) return { status: 'skipped', detail: 'the store was not made yet' }
  return `version 1, deployment ${Buffer.from(genesis.deploymentId).toString('hex')}`
}

/** A journal that ends before its high-water mark was restored from an older copy, or lost its end. */
function restoreState(paths: StorePaths): string | Omit<Finding, 'check'> {
  if (!nodeDisk.exists(paths.head)) return { status: 'skipped', detail: 'there is no high-water mark yet' }
  const head = HeadFile.open(nodeDisk, paths)
  const marked = head.newest?.sequence
  head.close()
  const last = lastSequence(nodeDisk, paths)
  if (marked === undefined) return { status: 'warning', detail: 'the high-water mark cannot be read' }
  if (last === undefined) throw new Error('the journal has no entries, and a high-water mark says that it had')
  if (last < marked) throw new Error(`the journal ends at ${last}, and ${marked} was acknowledged`)
  return `the journal ends at ${last}, its high-water mark is ${marked}`
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

function masterKey(config: Config, genesis: Genesis | Error | undefined): string {
  const key = decodeMasterKey(config.credential_master_key?.reveal() ?? '')
  if (key === undefined) throw new Error('no master key is configured (OBJECT_STORE_CREDENTIAL_MASTER_KEY)')
  if (genesis === undefined || genesis instanceof Error) return 'it is configured'
  const matches = timingSafeEqual(masterKeyCheck(key, genesis.deploymentId), genesis.masterKeyCheck)
  if (!matches) throw new Error('it is not the key that this store was made with')
  return 'it is the key that this store was made with'
}

function rootCredential(config: Config): string {
  if (config['root.access_key'] === undefined || config['root.secret_key'] === undefined) {
    throw new Error('no root credential is configured (OBJECT_STORE_ROOT_ACCESS_KEY, OBJECT_STORE_ROOT_SECRET_KEY)')
  }
  return 'it is configured'
}

function metricsToken(config: Config): string | Omit<Finding, 'check'> {
  if (config['metrics.scrape_token'] !== undefined) return 'it is configured'
  return { status: 'warning', detail: 'no scrape token is configured, so the metrics stay closed' }
}
