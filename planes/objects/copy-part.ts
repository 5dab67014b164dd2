import type { CommandOf } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { DomainError } from '../../engine/errors.ts'
import type { ChecksumAlgorithm, ObjectChecksum } from '../../engine/events/values.ts'
import type { Share } from '../../engine/shares/shares.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import { BodyRemovedError, type HttpRequest } from '../http/exchange.ts'
import { nameOf, whileSourceChanges } from './copy-object.ts'
import { copyTurns } from './copy-turns.ts'
import type { FoundObject } from './find-object.ts'
import { PayloadBody } from './payload-body.ts'
import { named, type PayloadSources, readObject, retryIfRemoved } from './read-object.ts'
import type { PayloadChecks, PayloadStores } from './receive-payload.ts'
import { storeObject } from './store-object.ts'

/** Bytes `start` to `end` (exclusive) of a version. */
interface CopiedRange {
  readonly source: FoundObject
  readonly start: number
  readonly end: number
}

interface CopyRequest {
  readonly journal: RequestJournal
  readonly http: Pick<HttpRequest, 'onAborted'>
  /** Account whose share of the turns a copy uses. */
  readonly account: string
}

type PartPlace = Pick<CommandOf<'copy-part'>, 'bucket' | 'key' | 'upload' | 'part'>

/** The checksum wanted for a part. */
interface WantedChecksum {
  readonly algorithm: ChecksumAlgorithm
  start(): { update(chunk: Uint8Array): void; digest(): Uint8Array }
}

interface CopiedPart {
  readonly done: Done
  readonly source: FoundObject
  /** Checksum of the part's bytes, if one was wanted. */
  readonly checksum: ObjectChecksum | undefined
}

/** No checks: bytes read from a payload were verified against the journal and the proofs of its blocks. */
const NO_CLAIMS: PayloadChecks = { update: () => undefined, finish: () => undefined }

/**
 * Makes a part of an upload from stored bytes. A whole version is shared by reference, as in CopyObject. A range, a
 * multipart object and a version without the wanted checksum are read and stored again, because their MD5, SHA-256 or
 * checksum is not known (spec/decisions/0012).
 * @param wanted the checksum that the upload asked for
 * @param find finds the source and checks the conditions on it; its exceptions end the copy
 * @throws DomainError when the rules refuse; `source-changed` when every try finds the source replaced or removed; as
 *   readObject, storeObject and Shares.run
 */
export async function copyPart(
  services: PayloadSources & PayloadStores,
  request: CopyRequest,
  place: PartPlace,
  wanted: WantedChecksum | undefined,
  find: () => CopiedRange,
): Promise<CopiedPart> {
  const details = ['part', place.part] as const
  const shared = await whileSourceChanges(request.journal, async () => {
    const range = find()
    const { source } = range
    if (!isOnePayload(range) || !hasChecksum(range, wanted)) return undefined
    const done = await request.journal.execute({ kind: 'copy-part', ...nameOf(source), ...place }, details)
    return { done, source, checksum: wanted && source.object.checksum }
  })
  if (shared !== undefined) return shared
  return copyTurns
    .run(request.account, (share) => {
      const copy = async () => copyBytes(services, request, share, place, wanted, find())
      return retryIfRemoved(copy(), copy)
    })
    .catch((error: unknown) => {
      throw error instanceof BodyRemovedError ? new DomainError('source-changed') : error
    })
}

/** Whether a range is the whole of a version that is not multipart. */
function isOnePayload({ source: { snapshot, object }, start, end }: CopiedRange): boolean {
  if (start !== 0 || end !== object.size) return false
  return object.payload === undefined || snapshot.payload(object.payload)?.kind !== 'parts'
}

/** Whether a version has the wanted checksum over its bytes; a composite checksum does not count. */
function hasChecksum({ source: { object } }: CopiedRange, wanted: WantedChecksum | undefined): boolean {
  return wanted === undefined || (object.checksum?.algorithm === wanted.algorithm && !object.checksum.composite)
}

async function copyBytes(
  services: PayloadSources & PayloadStores,
  { journal, http }: CopyRequest,
  share: Share,
  place: PartPlace,
  wanted: WantedChecksum | undefined,
  { source, start, end }: CopiedRange,
): Promise<CopiedPart> {
  const body = new PayloadBody(await readObject(services, source, start, end), http, () => share.turn())
  const sum = wanted?.start()
  const checks: PayloadChecks = sum === undefined ? NO_CLAIMS : { ...NO_CLAIMS, update: (chunk) => sum.update(chunk) }
  let checksum: ObjectChecksum | undefined
  const written = await storeObject(
    services,
    { journal, body, length: end - start, checks },
    (received) => {
      const command = { kind: 'write-part', ...place, ...received } as const
      if (wanted === undefined || sum === undefined) return command
      checksum = { algorithm: wanted.algorithm, value: Uint8Array.from(sum.digest()), composite: false }
      return { ...command, checksum }
    },
    ['part', place.part],
  ).catch((error: unknown) => {
    throw named(error, source)
  })
  return { done: written.done, source, checksum }
}
