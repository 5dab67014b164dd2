import { hash } from 'node:crypto'
import { CHECKPOINT_SIGNED, type CheckpointEntry, readCheckpoints } from './checkpoints/checkpoint-entry.ts'
import { type HandoverEntry, KEY_ROTATED, readHandovers } from './checkpoints/handover-entry.ts'
import { type EntryParts, readEntry } from './entry-form.ts'
import { KIND, RECORD_HEADER_BYTES } from './format-reader.ts'
import { after, arrayAt, integerAt, textAt } from './message-pack.ts'
import { isKnownChange } from './newer-kinds.ts'
import type { Verdict } from './verdicts.ts'

/** An attempt or its outcome, joined by their fingerprint of the request. */
export interface OpenAttempt {
  readonly sequence: number
  /** Of principal, credential, address, request, operation and resource. */
  readonly fingerprint: number
}

/** A change whose attempt is not in its segment. */
export interface DistantChange extends OpenAttempt {
  readonly offset: number
  readonly intent: number
}

/** A record that changes access, for its check with the master key. Digests in hexadecimal. */
export interface AccessRecord {
  readonly sequence: number
  readonly offset: number
  readonly time: number
  /** Of the body without the code at its end. */
  readonly coveredDigest: string
  /** Undefined without one. */
  readonly mac: string | undefined
  /** Where it changes the master key. */
  readonly newKey: NewKey | undefined
}

/** An entry's fields about the new master key, in hexadecimal. */
export interface NewKey {
  readonly check: string
  /** The key before, sealed with the new one. */
  readonly sealedPrevious: string
  /** The code of the change of access before. */
  readonly after: string
}

/** A record that is examined. */
interface ExaminedRecord {
  readonly sequence: number
  /** In the file. */
  readonly offset: number
  /** In memory. */
  readonly start: number
  /** Order time. */
  readonly time: number
  /** Whether it hashes to the hash that it states. */
  readonly unchanged: boolean
}

type Report = (sequence: number, offset: number, verdict: Verdict, detail: string) => void
type ReportNewer = (sequence: number, offset: number, what: string) => void

/** Changes that the system makes by itself, without an attempt. */
const SYSTEM_CHANGES: ReadonlySet<number> = new Set([5, 6, 7, 21, 35, 36, 37, 47, 52, 53, 54, 55, 62, 63, 73])
/** Changes of access, of targets of events, and of links. */
const ACCESS_CHANGES = [
  { first: 23, last: 33 },
  { first: 35, last: 35 },
  { first: 37, last: 37 },
  { first: 40, last: 43 },
  { first: 50, last: 51 },
  { first: 70, last: 73 },
  { first: 75, last: 78 },
  { first: 85, last: 85 },
] as const
const ACCESS_AUTHENTICATED = 35
const MASTER_KEY_CHANGED = 37
/** Changes with a payload, and its place among their values. */
const PAYLOAD_INDEX: ReadonlyMap<number, number> = new Map([
  [3, 8],
  [16, 8],
  [39, 4],
])
const PAYLOAD_IN_FILE = 2
const FILE_NAME = /^[0-9a-f]{28}$/
const ATTEMPTED = 0
const SUCCESS = 1
const INTENT_INDEX = 7
const MAC_BYTES = 32
const HASH_BYTES = 32
/** Attempts without an outcome that are remembered; older ones are not asked for any more. */
const OPEN_MAXIMUM = 1_000_000

/** A change of the master key hands the key of the log over by itself. */
function isBySystem(kinds: readonly number[]): boolean {
  return kinds.every((kind) => SYSTEM_CHANGES.has(kind) || (kind === KEY_ROTATED && kinds.includes(MASTER_KEY_CHANGED)))
}

function changesAccess(kind: number): boolean {
  return ACCESS_CHANGES.some(({ first, last }) => kind >= first && kind <= last)
}

/** Judges the entries of one segment, beyond their form as records. */
export class EntryExaminer {
  readonly distant: DistantChange[] = []
  readonly access: AccessRecord[] = []
  readonly checkpoints: CheckpointEntry[] = []
  readonly handovers: HandoverEntry[] = []
  /** Changes of the system itself that carry another principal. */
  otherPrincipals = 0
  readonly #open = new Map<number, number>()
  /** Attempts up to this one may have been forgotten. */
  #forgotten = -1
  readonly #report: Report
  readonly #reportNewer: ReportNewer

  constructor(report: Report, reportNewer: ReportNewer) {
    this.#report = report
    this.#reportNewer = reportNewer
  }

  get open(): readonly OpenAttempt[] {
    return Array.from(this.#open, ([sequence, fingerprint]) => ({ sequence, fingerprint }))
  }

  /**
   * @param from offset in `bytes` of the body's MessagePack, which ends at `end`; `offset`: of the record in the file,
   *   `start` in `bytes`
   */
  examine(
    bytes: Buffer,
    [from, end]: readonly [number, number],
    record: ExaminedRecord & { readonly kind: number },
  ): void {
    const { sequence, offset, kind } = record
    const parts = readEntry(bytes, from, end, kind)
    if (parts === undefined) {
      this.#report(sequence, offset, 'damaged batch', 'the body is not an entry')
      return
    }
    const { result, intent, fingerprint } = parts
    if (result === ATTEMPTED) this.#remember(sequence, fingerprint)
    if (kind === KIND.change) this.#examineChange(bytes, [from, end], record, parts)
    if (intent !== undefined && result === SUCCESS) this.#open.delete(intent)
  }

  #remember(sequence: number, fingerprint: number): void {
    this.#open.set(sequence, fingerprint)
    if (this.#open.size <= OPEN_MAXIMUM) return
    for (const [oldest] of this.#open) {
      this.#open.delete(oldest)
      this.#forgotten = oldest
      return
    }
  }

  #examineChange(
    bytes: Buffer,
    [from, end]: readonly [number, number],
    record: ExaminedRecord,
    { result, principal, fingerprint, intent, changes }: EntryParts,
  ): void {
    const { sequence, offset } = record
    const kinds = this.#changeKinds(bytes, changes, end, sequence, offset)
    if (kinds === undefined) return this.#report(sequence, offset, 'damaged batch', 'its changes are none')
    const isNewer = record.unchanged && this.#tellNewer(kinds, record)
    const bySystem = isBySystem(kinds)
    if (bySystem && textAt(bytes, ...principal)?.startsWith('system:') !== true) this.otherPrincipals += 1
    const known = intent === undefined ? undefined : this.#open.get(intent)
    if (intent === undefined || intent >= sequence) {
      // Whether a change that is not known has an attempt is not known either.
      if (!(bySystem || isNewer) || intent !== undefined)
        this.#report(sequence, offset, 'change without its attempt', 'it names no attempt')
    } else if (known === undefined) {
      if (intent > this.#forgotten) this.distant.push({ sequence, offset, intent, fingerprint })
    } else if (known !== fingerprint) {
      this.#report(sequence, offset, 'change without its attempt', `the attempt ${intent} is of another request`)
    }
    if (result !== SUCCESS) this.#report(sequence, offset, 'change without its attempt', 'its result is not a success')
    if (kinds.includes(CHECKPOINT_SIGNED)) this.#keepCheckpoints(bytes, from, end, record)
    if (kinds.includes(KEY_ROTATED)) this.#keepHandovers(bytes.subarray(from, end), record)
    if (kinds.some(changesAccess)) {
      const stored = bytes.subarray(record.start + RECORD_HEADER_BYTES, end)
      this.#keepAccess(bytes.subarray(from, end), stored, record, kinds)
    }
  }

  /** Reports each kind that is not on the page. @returns whether there is one */
  #tellNewer(kinds: readonly number[], { sequence, offset }: ExaminedRecord): boolean {
    const unknown = new Set(kinds.filter((kind) => !isKnownChange(kind)))
    for (const kind of unknown) this.#reportNewer(sequence, offset, `change kind ${kind}`)
    return unknown.size > 0
  }

  /** The kinds of the changes; undefined when they do not have their form. */
  #changeKinds(bytes: Buffer, at: number, end: number, sequence: number, offset: number): number[] | undefined {
    const all = arrayAt(bytes, at, end)
    const kinds: number[] = []
    const forbidden: string[] = []
    if (all === undefined) return undefined
    let next = all.at
    for (let count = 0; count < all.count; count += 1) {
      const change = arrayAt(bytes, next, end)
      const kind = change && integerAt(bytes, change.at, end)
      const from = next
      next = after(bytes, next, end, 1)
      if (change === undefined || kind === undefined || next < 0) return undefined
      kinds.push(kind)
      const index = PAYLOAD_INDEX.get(kind)
      const name = index === undefined ? undefined : fileNameIn(bytes, from, next, index)
      if (name !== undefined && !FILE_NAME.test(name)) forbidden.push(name)
    }
    if (next !== end || kinds.length === 0) return undefined
    for (const name of forbidden) {
      const detail = `${JSON.stringify(name.slice(0, 100))} is not the name of a payload file`
      this.#report(sequence, offset, 'forbidden value', detail)
    }
    return kinds
  }

  #keepCheckpoints(
    bytes: Buffer,
    from: number,
    end: number,
    // A record starts with its hash.
    { sequence, offset, start }: ExaminedRecord,
  ): void {
    const checkpoints = readCheckpoints(bytes.subarray(from, end), {
      sequence,
      offset,
      hash: bytes.toString('hex', start, start + HASH_BYTES),
    })
    if (checkpoints === undefined)
      this.#report(sequence, offset, 'damaged batch', 'its checkpoint has not the form of one')
    else this.checkpoints.push(...checkpoints)
  }

  #keepHandovers(body: Buffer, { sequence, offset }: { readonly sequence: number; readonly offset: number }): void {
    const handovers = readHandovers(body, { sequence, offset })
    if (handovers === undefined)
      this.#report(sequence, offset, 'damaged batch', 'its hand-over has not the form of one')
    else this.handovers.push(...handovers)
  }

  /** @param stored the body as the record has it: the code covers the host's time at its start as well */
  #keepAccess(
    body: Buffer,
    stored: Buffer,
    { sequence, offset, time }: ExaminedRecord,
    kinds: readonly number[],
  ): void {
    const covered = stored.subarray(0, Math.max(0, stored.length - MAC_BYTES))
    const mac = kinds.at(-1) === ACCESS_AUTHENTICATED ? stored.toString('hex', covered.length) : undefined
    this.access.push({
      sequence,
      offset,
      time,
      coveredDigest: hash('sha256', covered),
      mac,
      newKey: kinds.includes(MASTER_KEY_CHANGED) ? newKeyIn(body, kinds.indexOf(MASTER_KEY_CHANGED)) : undefined,
    })
  }
}

/** Start and end of the value with this index in the array at `at`. */
function valueIn(bytes: Buffer, at: number, end: number, index: number): readonly [number, number] | undefined {
  const array = arrayAt(bytes, at, end)
  if (array === undefined || array.count <= index) return undefined
  let from = array.at
  for (let passed = 0; passed < index && from >= 0; passed += 1) from = after(bytes, from, end)
  const to = from < 0 ? -1 : after(bytes, from, end)
  return to < 0 ? undefined : [from, to]
}

/** The name of the payload file in a change, for a payload with its own file. */
function fileNameIn(bytes: Buffer, at: number, end: number, index: number): string | undefined {
  const payload = valueIn(bytes, at, end, index)
  const form = payload && arrayAt(bytes, payload[0], payload[1])
  if (payload === undefined || form === undefined || integerAt(bytes, form.at, end) !== PAYLOAD_IN_FILE)
    return undefined
  const name = valueIn(bytes, payload[0], payload[1], 2)
  return name && (textAt(bytes, name[0], name[1]) ?? '')
}

function newKeyIn(body: Buffer, index: number): NewKey | undefined {
  const changes = valueIn(body, 0, body.length, INTENT_INDEX + 2)
  const changed = changes && valueIn(body, changes[0], changes[1], index)
  const [check, sealedPrevious, before] = [1, 2, 3].map((field) => {
    const value = changed && valueIn(body, changed[0], changed[1], field)
    return value && bytesAt(body, value[0], value[1])
  })
  if (check === undefined || sealedPrevious === undefined || before === undefined) return undefined
  return { check, sealedPrevious, after: before }
}

/** The bytes of a MessagePack bin (8 or 16 bits of length) that fills a place, in hexadecimal. */
function bytesAt(body: Buffer, from: number, to: number): string | undefined {
  const head = body[from] === 0xc4 ? 2 : 3
  return body[from] === 0xc4 || body[from] === 0xc5 ? body.toString('hex', from + head, to) : undefined
}
