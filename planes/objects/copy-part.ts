import type { CommandOf, Done } from '../../engine/commands/commands.ts'
import { DomainError } from '../../engine/errors.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import { BodyRemovedError, type HttpRequest } from '../http/exchange.ts'
import { nameOf, whileSourceChanges } from './copy-object.ts'
import { copyTurns } from './copy-turns.ts'
import type { FoundObject } from './find-object.ts'
import { PayloadBody } from './payload-body.ts'
import { type PayloadSources, readObject, untilThere } from './read-object.ts'
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
}

type PartPlace = Pick<CommandOf<'copy-part'>, 'bucket' | 'key' | 'upload' | 'part'>

interface CopiedPart {
  readonly done: Done
  readonly source: FoundObject
}

/** What is read from a payload was held against the journal and the proofs of its blocks. */
const NO_CLAIMS: PayloadChecks = { update: () => undefined, finish: () => undefined }

/**
 * Makes a part of an upload out of bytes that are stored. All bytes of a version are shared by reference, as by CopyObject.
 * A range, and an object of parts, are copied: their MD5 and SHA-256 are known to nobody, so the bytes have to be read, and
 * they are stored like those of an upload (spec/decisions/0141).
 * @param find finds the source and judges the conditions on it; what it throws ends the copy
 * @throws DomainError when the rules refuse; `source-changed` when the source is replaced each time that it is looked for,
 *   or removed each time that it is read; as readObject, storeObject and CopyTurns.run
 */
export async function copyPart(
  services: PayloadSources & PayloadStores,
  request: CopyRequest,
  place: PartPlace,
  find: () => CopiedRange,
): Promise<CopiedPart> {
  const details = ['part', place.part] as const
  const shared = await whileSourceChanges(request.journal, async () => {
    const range = find()
    const { source } = range
    if (!isOnePayload(range)) return undefined
    const done = await request.journal.execute({ kind: 'copy-part', ...nameOf(source), ...place }, details)
    return { done, source }
  })
  if (shared !== undefined) return shared
  const copy = async () => copyBytes(services, request, place, find())
  return copyTurns
    .run(() => untilThere(copy(), copy))
    .catch((error: unknown) => {
      throw error instanceof BodyRemovedError ? new DomainError('source-changed') : error
    })
}

/** Whether a range is all bytes of a version that was written whole. */
function isOnePayload({ source: { snapshot, object }, start, end }: CopiedRange): boolean {
  if (start !== 0 || end !== object.size) return false
  return object.payload === undefined || snapshot.payload(object.payload)?.kind !== 'parts'
}

async function copyBytes(
  services: PayloadSources & PayloadStores,
  { journal, http }: CopyRequest,
  place: PartPlace,
  { source, start, end }: CopiedRange,
): Promise<CopiedPart> {
  const body = new PayloadBody(await readObject(services, source, start, end), http)
  const upload = { journal, body, length: end - start, checks: NO_CLAIMS }
  const written = await storeObject(
    services,
    upload,
    (received) => ({ kind: 'write-part', ...place, ...received }) as const,
    ['part', place.part],
  )
  return { done: written.done, source }
}
