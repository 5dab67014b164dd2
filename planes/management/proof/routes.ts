import { contentTypeOf } from '../../../engine/events/values.ts'
import { HISTORY_REASONS, PROOF_FORMAT, SIGNATURE_ALGORITHM } from '../../../engine/proof/bundle-types.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { digestOf, requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import { jsonResponse } from '../responses.ts'
import { queryNumber } from '../schemas/query.ts'
import { anyOf, form, listOf, object, oneOf, SHA256, TIME, text, whole } from '../schemas/schema.ts'
import { threadTurns } from '../../../projections/audit/turns.ts'
import { entriesOf, versionHistory } from './version-history.ts'

const ALGORITHM = oneOf(SIGNATURE_ALGORITHM)

/** Version of the format, and of the signed encoding. */
const VERSION = whole({ minimum: 1, maximum: 2 })

const RECORD = object(
  {
    sequence: whole(),
    timestamp: TIME,
    operation: text(),
    principal: text(),
    result: text(),
    previous_hash: SHA256,
    record_hash: SHA256,
    inclusion_path: object({ index: whole(), steps: listOf(object({ side: oneOf('left', 'right'), hash: SHA256 })) }),
  },
  { record: text() },
)

const CHECKPOINT = object({
  sequence: whole(),
  from_sequence: whole(),
  to_sequence: whole(),
  leaf_count: whole({ minimum: 1 }),
  root: SHA256,
  previous_checkpoint_hash: SHA256,
})

const HISTORY = anyOf(
  object({ status: oneOf('unavailable'), reason: oneOf(...Object.keys(HISTORY_REASONS)), detail: text() }),
  object(
    { status: oneOf('present'), records: listOf(RECORD), checkpoint: CHECKPOINT },
    { anchor: object({ kind: text(), receipt: text() }, { asserted_at: TIME }) },
  ),
)

/** The form of spec/formats/proof-bundle.md. */
const BUNDLE = object({
  format: oneOf(PROOF_FORMAT),
  format_version: VERSION,
  object: object(
    { bucket: text(), key: text(), version_id: text(), size: whole(), created_at: TIME },
    { content_type: text() },
  ),
  payload: object({ sha256: SHA256 }),
  history: HISTORY,
  deployment: object({ algorithm: ALGORITHM, public_key: form('[0-9a-f]{64}'), key_id: form('[0-9a-f]{16}') }),
  signature: object({
    algorithm: ALGORITHM,
    canonical_version: VERSION,
    value: form('[0-9a-f]{128}'),
  }),
})

const getProof = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-proof/{key}',
  roles: EVERYONE,
  summary: 'A signed proof bundle of one version.',
  query: { ...VERSION_QUERY, format_version: queryNumber(1, { minimum: 1, maximum: 2 }) },
  answer: { 200: json(BUNDLE) },
  errors: [...VERSION_ERRORS, 'DIGEST_PENDING', 'CONFLICT'],
  async handle(request, services) {
    const found = requireVersion(request, services)
    const { bucket, key, object: version } = found
    const sha256 = digestOf(found)
    if (sha256 === undefined) throw new ManagementError('DIGEST_PENDING')
    // The snapshot is valid for this turn only, so it is read before the first await.
    const format = request.query('format_version') === 2 ? 2 : 1
    const history = await versionHistory(
      entriesOf(found),
      format,
      services,
      threadTurns.of(request.identity.credentialId),
    )
    const contentType = contentTypeOf(version.headers)
    const bundle = services.proofs.sign({
      object: {
        bucket: bucket.name,
        key,
        version_id: versionIdOf(version, services.versionIds),
        size: version.size,
        ...(contentType === undefined ? {} : { content_type: contentType }),
        created_at: rfc3339(version.modifiedMicroseconds),
      },
      sha256,
      history,
      version: format,
    })
    return jsonResponse(200, bundle)
  },
})

export const PROOF_ROUTES: readonly Route[] = [getProof]
