/** Parses the bytes of a file into a `ProofBundle`: strictly, so that a bundle contains nothing that is not verified. */
import {
  HISTORY_REASONS,
  type HistoryReason,
  PROOF_FORMAT,
  PROOF_FORMAT_VERSIONS,
  type ProofBundle,
  type ProofFormatVersion,
  type ProofHistory,
  SIGNATURE_ALGORITHM,
} from './bundle-types.ts'
import { parseStrictJson, StrictJsonError } from './strict-json.ts'
import {
  base64,
  BundleFormError,
  hexadecimal,
  list,
  membersOf,
  object,
  oneOf,
  text,
  time,
  whole,
} from './value-readers.ts'

/** Result of parsing a file. */
type ParsedBundle =
  | { readonly kind: 'bundle'; readonly bundle: ProofBundle }
  /** A proof bundle of a newer format, which cannot be verified. */
  | { readonly kind: 'newer'; readonly formatVersion: number }
  | { readonly kind: 'malformed'; readonly reason: string }

const HASH = hexadecimal(32)

const readStep = object({ side: oneOf('left', 'right'), hash: HASH })

const RECORD = {
  sequence: whole,
  timestamp: time,
  operation: text,
  principal: text,
  result: text,
  previous_hash: HASH,
  record_hash: HASH,
  inclusion_path: object({ index: whole, steps: list(readStep) }),
}
const readRecordBy = { 1: object(RECORD), 2: object({ ...RECORD, record: base64 }) } as const

const readCheckpoint = object({
  sequence: whole,
  from_sequence: whole,
  to_sequence: whole,
  leaf_count: whole,
  root: HASH,
  previous_checkpoint_hash: HASH,
})

const REASONS = Object.keys(HISTORY_REASONS) as HistoryReason[]

function historyReader(version: ProofFormatVersion) {
  const readers = {
    unavailable: object({ status: oneOf('unavailable'), reason: oneOf(...REASONS), detail: text }),
    present: object(
      { status: oneOf('present'), records: list(readRecordBy[version]), checkpoint: readCheckpoint },
      { anchor: object({ kind: text, receipt: base64 }, { asserted_at: time }) },
    ),
  } as const
  return (value: unknown, member: string): ProofHistory => {
    const status = oneOf('unavailable', 'present')(membersOf(value, member).get('status'), `${member}.status`)
    return readers[status](value, member)
  }
}

function bundleReader(version: ProofFormatVersion) {
  return object({
    format: oneOf(PROOF_FORMAT),
    format_version: () => version,
    object: object(
      { bucket: text, key: text, version_id: text, size: whole, created_at: time },
      { content_type: text },
    ),
    payload: object({ sha256: HASH }),
    history: historyReader(version),
    deployment: object({
      algorithm: oneOf(SIGNATURE_ALGORITHM),
      public_key: hexadecimal(32),
      key_id: hexadecimal(8),
    }),
    signature: object({
      algorithm: oneOf(SIGNATURE_ALGORITHM),
      canonical_version: whole,
      value: hexadecimal(64),
    }),
  })
}

const READERS = { 1: bundleReader(1), 2: bundleReader(2) } as const

/**
 * Reads the bytes of a bundle. It checks format and version first, since a newer version may have other members. Never
 * throws for any bytes.
 */
export function parseBundle(bytes: Uint8Array): ParsedBundle {
  try {
    const value = parseStrictJson(bytes)
    const members = membersOf(value, 'the document')
    oneOf(PROOF_FORMAT)(members.get('format'), 'format')
    const formatVersion = whole(members.get('format_version'), 'format_version')
    if (formatVersion === 0) throw new BundleFormError('format_version', 'this version does not exist')
    const known = PROOF_FORMAT_VERSIONS.find((version) => version === formatVersion)
    if (known === undefined) return { kind: 'newer', formatVersion }
    if (known === 2 && !isOverEncodingTwo(members.get('signature'))) return { kind: 'newer', formatVersion }
    return { kind: 'bundle', bundle: READERS[known](value, '') }
  } catch (error) {
    if (error instanceof StrictJsonError || error instanceof BundleFormError) {
      return { kind: 'malformed', reason: error.message }
    }
    throw error
  }
}

/** Format version 2 is known with its own encoding number only; any other combination is undefined so far. */
function isOverEncodingTwo(signature: unknown): boolean {
  return (signature as { readonly canonical_version?: unknown } | null | undefined)?.canonical_version === 2
}
