import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Sequence, sequenceOf } from '../brands.ts'
import type { Disk } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { ZeroedFile } from '../disk/unreadable.ts'
import type { ChangeNamed } from '../events/changes.ts'
import { decodeChanges } from '../events/entry-codec.ts'
import { KeyRing } from '../keys/key-ring.ts'
import { MasterKeyMismatchError, masterKeyId } from '../keys/master-key-id.ts'
import { keyFileKey, type MasterKeyChange, masterKeyCheck } from '../keys/store-keys.ts'
import { decodeGenesis, type Genesis } from './bodies.ts'
import { RECORD_KIND } from './format.ts'
import { readHeadMark, refusedBatchId } from './head-mark.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { lastBefore } from './positions.ts'
import { readGenesis, scanOneSegment } from './read-journal.ts'
import { segmentFirsts } from './segment.ts'
import { factsOrFault } from './segment-chain.ts'

/**
 * The key file, `journal/keys`: where the journal changes the master key, so that a start need not read all of it to know. It
 * is derived from the journal and may be removed; its form is in spec/formats/journal.md, "The master key".
 */
const FORMAT = 'object-store.keys'
const FORMAT_VERSION = 1
const CODE_BYTES = 32
/** A change takes less than 512 bytes. */
const BYTES_MAXIMUM = 1 << 20
const BEGINNING = sequenceOf(0)

interface KeyFile {
  readonly changes: readonly MasterKeyChange[]
  /** The journal may have more of them from this sequence on. */
  readonly searchFrom: Sequence | undefined
  /** The authenticated part, and its code. */
  readonly covered: string
  readonly code: Uint8Array
}

/** The master keys of a store, and whether its key file has them. */
export interface FoundKeys {
  readonly ring: KeyRing
  readonly isRecorded: boolean
  /** Why the genesis cannot be read, if so: the key file has proved the key instead. */
  readonly genesisFault: string | undefined
}

/**
 * The master keys of a store, from the current one. Reads the journal only if the key file is incomplete.
 * @throws MasterKeyMismatchError for a key of another store and for a replaced key; JournalDamagedError
 */
export function findKeys(disk: Disk, paths: StorePaths, masterKey: Uint8Array): FoundKeys {
  const { genesis, fault: genesisFault } = originOf(disk, paths, masterKey)
  const { ring, isRecorded } = knownKeys(disk, paths, genesis, masterKey)
  if (ring.isCurrent) return { ring, isRecorded, genesisFault }
  const { sequence, check } = ring.next as MasterKeyChange
  throw MasterKeyMismatchError.ofEarlier(sequence, check)
}

/**
 * The genesis; when it is damaged, as the key file proves it.
 * @throws JournalDamagedError
 */
function originOf(
  disk: Disk,
  paths: StorePaths,
  masterKey: Uint8Array,
): { readonly genesis: Genesis; readonly fault: string | undefined } {
  try {
    return { genesis: decodeGenesis(readGenesis(disk, paths)), fault: undefined }
  } catch (error) {
    const genesis = error instanceof JournalDamagedError ? provedGenesis(disk, paths, masterKey) : undefined
    if (genesis === undefined) throw error
    return { genesis, fault: (error as Error).message }
  }
}

/** Each segment states the deployment, and the code of the key file proves that this key is of it, and the current one. */
function provedGenesis(disk: Disk, paths: StorePaths, masterKey: Uint8Array): Genesis | undefined {
  const file = readKeyFile(disk, paths)
  const last = segmentFirsts(disk, paths).at(-1)
  if (file === undefined || file.searchFrom !== undefined || last === undefined) return undefined
  const facts = factsOrFault(disk, paths.segment(last))
  if (typeof facts === 'string') return undefined
  const { deploymentId } = facts.header
  const check = KeyRing.firstCheck(deploymentId, file.changes, masterKey)
  const genesis = check && { deploymentId, masterKeyCheck: check }
  const ring = genesis && KeyRing.of(genesis, file.changes, masterKey)
  return ring !== undefined && isRight(file, ring) ? genesis : undefined
}

type KnownKeys = Omit<FoundKeys, 'genesisFault'>

function knownKeys(disk: Disk, paths: StorePaths, genesis: Genesis, masterKey: Uint8Array): KnownKeys {
  const file = readKeyFile(disk, paths)
  const listed = file && KeyRing.of(genesis, file.changes, masterKey)
  // Written without the key.
  const isForged = file !== undefined && listed?.isCurrent === true && !isRight(file, listed)
  if (file !== undefined && !isForged && file.searchFrom === undefined) {
    return { ring: listed ?? refuse(genesis, file.changes, masterKey), isRecorded: true }
  }
  const before = file === undefined || isForged ? [] : file.changes
  const known = KeyRing.of(genesis, before, masterKey)
  // Without a file: rows of access that are sealed with the first key are from before any change, and replay finds the others.
  if (known?.isFirst === true && before.length === 0 && file?.searchFrom === undefined) {
    return { ring: known, isRecorded: false }
  }
  const from = isForged ? BEGINNING : (file?.searchFrom ?? BEGINNING)
  const changes = [...before, ...changesOfMasterKey(disk, paths, from)]
  return { ring: KeyRing.of(genesis, changes, masterKey) ?? refuse(genesis, changes, masterKey), isRecorded: false }
}

function refuse(genesis: Genesis, changes: readonly MasterKeyChange[], masterKey: Uint8Array): never {
  const { deploymentId } = genesis
  const own = masterKeyId(changes.at(-1)?.check ?? genesis.masterKeyCheck)
  const given = masterKeyId(masterKeyCheck(masterKey, deploymentId))
  const message = `the credential master key is not the one of this store: its id is ${given}, that of the store's key ${own}`
  throw new MasterKeyMismatchError(message)
}

/**
 * Writes the key file durably.
 * @param searchFrom a change of the key may follow at this sequence or later
 */
export function writeKeyFile(disk: Disk, paths: StorePaths, ring: KeyRing, searchFrom?: Sequence): void {
  const covered = JSON.stringify({
    format: FORMAT,
    format_version: FORMAT_VERSION,
    search_from: searchFrom ?? null,
    changes: ring.changes.map(({ sequence, check, sealedPrevious, after }) => {
      return { sequence, check: hex(check), sealed_previous: hex(sealedPrevious), after: hex(after) }
    }),
  })
  const signed = `${covered}\n${hex(codeOf(covered, ring))}\n`
  const text = `${signed}${digestOf(signed)}\n`
  disk.remove(paths.keysMaking)
  const file = disk.create(paths.keysMaking)
  try {
    file.writeAt(Buffer.from(text), 0)
    file.sync()
  } finally {
    file.close()
  }
  disk.rename(paths.keysMaking, paths.keys)
  disk.syncDirectory(paths.journal)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function codeOf(covered: string, { masterKey, deploymentId }: KeyRing): Buffer {
  return createHmac('sha256', keyFileKey(masterKey, deploymentId)).update(covered).digest()
}

/** Shows damage to a reader whose key the file does not list: only the owner of a listed key can check the code. */
function digestOf(signed: string): string {
  return createHash('sha256').update(signed).digest('hex')
}

function isRight({ covered, code }: KeyFile, ring: KeyRing): boolean {
  return timingSafeEqual(codeOf(covered, ring), code)
}

/** Undefined for a missing or unreadable key file: the caller reads the journal then. */
function readKeyFile(disk: Disk, paths: StorePaths): KeyFile | undefined {
  if (!disk.exists(paths.keys)) return undefined
  const bytes = Buffer.alloc(Math.min(BYTES_MAXIMUM, disk.sizeOf(paths.keys)))
  const file = new ZeroedFile(disk.openToRead(paths.keys))
  try {
    file.readAt(bytes, 0, bytes.length)
  } finally {
    file.close()
  }
  return parseKeyFile(bytes.toString('utf8'))
}

/** A key file; undefined for any other text, and for a damaged one. */
function parseKeyFile(text: string): KeyFile | undefined {
  const [covered = '', code = '', digest] = text.split('\n')
  if (digest !== digestOf(`${covered}\n${code}\n`)) return undefined
  try {
    const parsed = JSON.parse(covered) as Readonly<Record<string, unknown>>
    if (parsed['format'] !== FORMAT || parsed['format_version'] !== FORMAT_VERSION) return undefined
    const from = parsed['search_from']
    const changes = (parsed['changes'] as readonly Readonly<Record<string, unknown>>[]).map((change) => ({
      sequence: sequenceIn(change['sequence']),
      check: bytesIn(change['check'], CODE_BYTES),
      sealedPrevious: bytesIn(change['sealed_previous']),
      after: bytesIn(change['after'], CODE_BYTES),
    }))
    const searchFrom = from === null ? undefined : sequenceIn(from)
    return { changes, searchFrom, covered, code: bytesIn(code, CODE_BYTES) }
  } catch {
    return undefined
  }
}

function sequenceIn(value: unknown): Sequence {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error('not a sequence')
  return sequenceOf(value as number)
}

function bytesIn(value: unknown, length?: number): Uint8Array {
  const bytes = Buffer.from(String(value), 'hex')
  if (bytes.toString('hex') !== value || (length !== undefined && bytes.length !== length)) throw new Error('not bytes')
  return Uint8Array.from(bytes)
}

/**
 * The changes of the master key in the journal from a sequence on. It may end in a torn or refused batch, which
 * recovery has not cut off yet.
 * @throws JournalDamagedError
 */
function changesOfMasterKey(disk: Disk, paths: StorePaths, from: Sequence): MasterKeyChange[] {
  const refused = readHeadMark(disk, paths)?.refused
  const firsts = segmentFirsts(disk, paths)
  const begun = firsts.findLastIndex((first) => first <= from)
  return firsts.slice(Math.max(0, begun)).flatMap((first) => changesInSegment(disk, paths, first, from, refused))
}

function changesInSegment(
  disk: Disk,
  paths: StorePaths,
  first: Sequence,
  from: Sequence,
  refused: Uint8Array | undefined,
): MasterKeyChange[] {
  const found: MasterKeyChange[] = []
  let ofBatch: MasterKeyChange[] = []
  scanOneSegment(disk, paths, first, {
    record: ({ kind, sequence, body }) => {
      if (kind !== RECORD_KIND.change || sequence < from) return
      const change = keyChangeIn(body)
      if (change !== undefined) ofBatch.push({ ...change, sequence })
    },
    batch: (chain) => {
      const { head } = lastBefore(chain)
      if (refused === undefined || Buffer.compare(refusedBatchId(head), refused) !== 0) found.push(...ofBatch)
      ofBatch = []
    },
  })
  return found
}

function keyChangeIn(body: Uint8Array): ChangeNamed<'master-key.changed'> | undefined {
  try {
    return decodeChanges(body).find((change) => change.name === 'master-key.changed')
  } catch {
    // Replay names the record of a newer program.
    return undefined
  }
}
