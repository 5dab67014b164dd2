/** One record as one JSON object, in the words of the audit trail. */
import { decodeBody, readGenesis, readSeal } from '../../../../engine/verify/bodies.ts'
import { readEntry } from '../../../../engine/verify/entry-form.ts'
import { KIND } from '../../../../engine/verify/format-reader.ts'
import { namedChange } from './change-fields.ts'
import { namedPairs, type Printable, printable } from './change-values.ts'
import type { StoredRecord } from './record-reader.ts'
import { formatMicroseconds } from './rfc3339-time.ts'

/** Names of the results, by their number in an entry. */
export const resultNames = ['attempted', 'success', 'denied', 'failure'] as const
const EVENT_ID_DIGITS = 16

/** A record that can be printed and filtered. Fields that its kind does not have are absent. */
export interface RecordLine {
  readonly event_id: string
  readonly sequence: number
  /** RFC 3339, UTC, with microseconds. */
  readonly timestamp: string
  /** The same, of the time that orders the log; only where the clock of the host was behind the log. */
  readonly order_time?: string
  /** `genesis`, `seal`, `change` or `audit`. */
  readonly kind: string
  readonly principal?: Printable
  readonly credential_id?: Printable
  readonly source_ip?: Printable
  readonly request_id?: Printable
  readonly operation?: Printable
  readonly resource?: Printable
  readonly result?: Printable
  readonly metadata?: Printable
  readonly changes?: readonly Printable[]
  readonly genesis?: Printable
  readonly seal?: Printable
  /** In hexadecimal, if the body does not have the form of its kind: `journal verify` reports that. */
  readonly body?: string
  readonly previous_hash: string
  readonly record_hash: string
}

type Fields = Partial<RecordLine>

const kindTable: Readonly<
  Record<number, { readonly name: string; readonly read: (body: Buffer) => Fields | undefined }>
> = {
  [KIND.genesis]: { name: 'genesis', read: genesisFields },
  [KIND.seal]: { name: 'seal', read: sealFields },
  [KIND.change]: { name: 'change', read: (body) => entryFields(body, KIND.change) },
  [KIND.audit]: { name: 'audit', read: (body) => entryFields(body, KIND.audit) },
}

/** Decodes a record. Never fails: a body that cannot be decoded is shown as bytes. */
export function recordLine(record: StoredRecord): RecordLine {
  const row = kindTable[record.kind]
  return {
    event_id: eventId(record.sequence),
    sequence: record.sequence,
    timestamp: formatMicroseconds(record.time),
    ...(record.orderTime === record.time ? {} : { order_time: formatMicroseconds(record.orderTime) }),
    kind: row?.name ?? String(record.kind),
    ...(row?.read(record.body) ?? { body: record.body.toString('hex') }),
    previous_hash: record.previousHash,
    record_hash: record.hash,
  }
}

/** The id of an audit event: its sequence in 16 decimal digits. */
function eventId(sequence: number): string {
  return String(sequence).padStart(EVENT_ID_DIGITS, '0')
}

function entryFields(body: Buffer, kind: number): Fields | undefined {
  const values = readEntry(body, 0, body.length, kind) && decodeBody(body)
  if (values === undefined) return undefined
  const [result, principal, credentialId, sourceAddress, requestId, operation, resource, intent, metadata, changes] =
    values
  const pairs = namedPairs(metadata)
  const isObject = typeof pairs === 'object' && pairs !== null && !Array.isArray(pairs)
  const intentEventId = typeof intent === 'number' ? { intent_event_id: eventId(intent) } : {}
  return {
    principal: printable(principal),
    credential_id: printable(credentialId),
    source_ip: printable(sourceAddress),
    request_id: printable(requestId),
    operation: printable(operation),
    resource: printable(resource),
    result: (typeof result === 'number' ? resultNames[result] : undefined) ?? printable(result),
    metadata: { ...(isObject ? pairs : { pairs }), ...intentEventId },
    changes: Array.isArray(changes) ? changes.map(namedChange) : [],
  }
}

function genesisFields(body: Buffer): Fields | undefined {
  const genesis = readGenesis(body)
  if (genesis === undefined) return undefined
  return {
    genesis: {
      format_version: genesis.formatVersion,
      product: genesis.product,
      deployment_id: genesis.deploymentId,
      master_key_check: genesis.masterKeyCheck,
    },
  }
}

function sealFields(body: Buffer): Fields | undefined {
  const seal = readSeal(body)
  if (seal === undefined) return undefined
  return {
    seal: {
      segment_number: seal.segmentNumber,
      first_sequence: seal.firstSequence,
      last_sequence: seal.lastSequence,
      length: seal.length,
      content_digest: seal.contentDigest,
    },
  }
}
