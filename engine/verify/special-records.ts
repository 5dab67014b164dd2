/** Compares genesis and seal with the verified segment. */
import { readGenesis, readSeal, type SealBody } from './bodies.ts'
import type { SpecialRecord } from './chain-walker.ts'
import { FORMAT_VERSION } from './format-reader.ts'
import type { Verdict } from './verdicts.ts'

const PRODUCT = 'object-store'

/** A verdict on a genesis or seal, with its reason. */
export interface Objection {
  readonly verdict: Verdict
  readonly detail: string
}

/** Facts about a segment, up to its sealing batch. */
interface SealedSegment {
  readonly segmentNumber: number | undefined
  readonly firstSequence: number
  /** Offset of the sealing batch. */
  readonly length: number
  /** SHA-256 of the bytes before the sealing batch, in hexadecimal. */
  readonly contentDigest: string
}

/**
 * Compares a genesis with its segment.
 * @param deploymentId of the segment header, undefined when that is damaged
 */
export function examineGenesis(
  record: SpecialRecord,
  deploymentId: string | undefined,
): { readonly deploymentId?: string; readonly masterKeyCheck?: string; readonly objections: readonly Objection[] } {
  if (record.body === undefined) return { objections: [] }
  const genesis = readGenesis(record.body)
  if (genesis === undefined) return { objections: [damaged('the body of the genesis does not have its form')] }
  const objections: Objection[] = []
  if (genesis.formatVersion !== FORMAT_VERSION || genesis.product !== PRODUCT) {
    objections.push(damaged(`the genesis is of ${JSON.stringify(genesis.product)}, format ${genesis.formatVersion}`))
  }
  if (deploymentId !== undefined && genesis.deploymentId !== deploymentId) {
    objections.push(
      damaged(`the deployment id is ${genesis.deploymentId} in the genesis and ${deploymentId} in the header`),
    )
  }
  return { deploymentId: genesis.deploymentId, masterKeyCheck: genesis.masterKeyCheck, objections }
}

/** Compares a seal with the segment that it closes. */
export function examineSeal(
  record: SpecialRecord,
  found: SealedSegment,
): { readonly seal?: SealBody; readonly objections: readonly Objection[] } {
  if (record.body === undefined) return { objections: [] }
  const seal = readSeal(record.body)
  if (seal === undefined) {
    return { objections: [damaged('the body of the seal does not have its form')] }
  }
  const statements: readonly (readonly [name: string, stated: number, found: number | undefined])[] = [
    ['segment number', seal.segmentNumber, found.segmentNumber],
    ['first sequence', seal.firstSequence, found.firstSequence],
    ['last sequence', seal.lastSequence, record.sequence - 1],
    ['length', seal.length, found.length],
  ]
  const objections: Objection[] = statements
    .filter(([, stated, real]) => real !== undefined && stated !== real)
    .map(([name, stated, real]) => damaged(`the seal states the ${name} ${stated}; it is ${real}`))
  if (seal.contentDigest !== found.contentDigest) {
    const detail = `the seal states the content digest ${seal.contentDigest}; the bytes have ${found.contentDigest}`
    objections.push({ verdict: 'content changed', detail })
  }
  return { seal, objections }
}

/**
 * Checks the place of a seal.
 * @param flagged the batch is flagged as sealing
 * @param sealed the batch holds a seal
 * @param alone the batch holds one record
 */
export function sealPlaceObjections(flagged: boolean, sealed: boolean, alone: boolean): readonly Objection[] {
  if (flagged === sealed && (!flagged || alone)) return []
  return [damaged('a seal stands alone in a batch that is flagged as sealing, and nothing else does')]
}

function damaged(detail: string): Objection {
  return { verdict: 'damaged batch', detail }
}
