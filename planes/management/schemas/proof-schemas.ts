import {
  CANONICAL_VERSION,
  HISTORY_REASONS,
  PROOF_FORMAT,
  PROOF_FORMAT_VERSION,
  SIGNATURE_ALGORITHM,
} from '../../../engine/proof/bundle-types.ts'
import { json, type RouteSchemas } from './route-schema.ts'
import { form, listOf, object, oneOf, type Schema, SHA256, TIME, text, whole } from './schema.ts'

const ALGORITHM = oneOf(SIGNATURE_ALGORITHM)

function exactly(value: number): Schema {
  return whole({ minimum: value, maximum: value })
}

const RECORD = object({
  sequence: whole(),
  timestamp: TIME,
  operation: text(),
  principal: text(),
  result: text(),
  previous_hash: SHA256,
  record_hash: SHA256,
  inclusion_path: object({
    index: whole(),
    steps: listOf(object({ side: oneOf('left', 'right'), hash: SHA256 })),
  }),
})

const CHECKPOINT = object({
  sequence: whole(),
  from_sequence: whole(),
  to_sequence: whole(),
  leaf_count: whole({ minimum: 1 }),
  root: SHA256,
  previous_checkpoint_hash: SHA256,
})

const HISTORY: Schema = {
  anyOf: [
    object({ status: oneOf('unavailable'), reason: oneOf(...Object.keys(HISTORY_REASONS)), detail: text() }),
    object(
      { status: oneOf('present'), records: listOf(RECORD), checkpoint: CHECKPOINT },
      { anchor: object({ kind: text(), receipt: text() }, { asserted_at: TIME }) },
    ),
  ],
}

/** The form of spec/formats/proof-bundle.md. */
const BUNDLE = object({
  format: oneOf(PROOF_FORMAT),
  format_version: exactly(PROOF_FORMAT_VERSION),
  object: object(
    { bucket: text(), key: text(), version_id: text(), size: whole(), created_at: TIME },
    { content_type: text() },
  ),
  payload: object({ sha256: SHA256 }),
  history: HISTORY,
  deployment: object({ algorithm: ALGORITHM, public_key: form('[0-9a-f]{64}'), key_id: form('[0-9a-f]{16}') }),
  signature: object({
    algorithm: ALGORITHM,
    canonical_version: exactly(CANONICAL_VERSION),
    value: form('[0-9a-f]{128}'),
  }),
})

export const PROOF_SCHEMAS: RouteSchemas = {
  'GET /buckets/{bucket}/object-proof/{key}': json(200, BUNDLE, {
    errors: ['OBJECT_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_IS_MARKER', 'DIGEST_PENDING', 'CONFLICT'],
  }),
}
