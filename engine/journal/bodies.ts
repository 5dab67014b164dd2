import { type Sequence, sequenceOf } from '../brands.ts'
import { Packr } from 'msgpackr/index-no-eval'
import { NewerFormatError } from '../errors.ts'
import { FORMAT_VERSION, HASH_BYTES, SEGMENT_HEADER } from './format.ts'
import { JournalDamagedError } from './journal-errors.ts'

const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

const DEPLOYMENT_ID_BYTES = SEGMENT_HEADER.deploymentIdBytes

const PRODUCT = 'object-store'

/** The first record of a journal: the id of the store, and a check of its master key. */
export interface Genesis {
  /** 16 bytes. */
  readonly deploymentId: Uint8Array
  /** 32 bytes derived from the master key; reveals a wrong key and not the key. */
  readonly masterKeyCheck: Uint8Array
}

export function encodeGenesis(genesis: Genesis): Buffer {
  return packr.pack([FORMAT_VERSION, PRODUCT, genesis.deploymentId, genesis.masterKeyCheck])
}

/** @throws JournalDamagedError, NewerFormatError, or Error for another program */
export function decodeGenesis(body: Uint8Array): Genesis {
  const [version, product, deploymentId, masterKeyCheck] = fieldsOf(body)
  if (product === PRODUCT && Number(version) > FORMAT_VERSION) {
    throw new NewerFormatError(
      `the journal begins with format ${String(version)}, and this program knows ${FORMAT_VERSION}`,
    )
  }
  if (version !== FORMAT_VERSION || product !== PRODUCT) throw new Error('not a genesis record of this program')
  if (!isBytes(deploymentId, DEPLOYMENT_ID_BYTES) || !isBytes(masterKeyCheck, HASH_BYTES)) {
    throw new JournalDamagedError('the genesis record does not have its form')
  }
  return { deploymentId, masterKeyCheck }
}

/** The last record of a sealed segment. */
export interface Seal {
  readonly segmentNumber: number
  readonly firstSequence: Sequence
  readonly lastSequence: Sequence
  /** Offset of the sealing batch: the digest covers the bytes before it. */
  readonly lengthBytes: number
  readonly contentDigest: Uint8Array
}

export function encodeSeal(seal: Seal): Buffer {
  return packr.pack([seal.segmentNumber, seal.firstSequence, seal.lastSequence, seal.lengthBytes, seal.contentDigest])
}

/** The seal, or undefined when the body does not have its form. */
export function decodeSeal(body: Uint8Array): Seal | undefined {
  const [segmentNumber, firstSequence, lastSequence, lengthBytes, contentDigest] = fieldsOf(body)
  const numbers = [segmentNumber, firstSequence, lastSequence, lengthBytes]
  if (!numbers.every(Number.isSafeInteger) || !isBytes(contentDigest, HASH_BYTES)) return undefined
  return {
    segmentNumber: segmentNumber as number,
    firstSequence: sequenceOf(firstSequence as number),
    lastSequence: sequenceOf(lastSequence as number),
    lengthBytes: lengthBytes as number,
    contentDigest,
  }
}

/** The values of a body; none where the body is not a MessagePack array. */
function fieldsOf(body: Uint8Array): readonly unknown[] {
  try {
    const fields: unknown = packr.unpack(body)
    return Array.isArray(fields) ? fields : []
  } catch {
    // The library's message is about its buffer.
    return []
  }
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length
}
