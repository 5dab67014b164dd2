import { Packr } from 'msgpackr'
import { FORMAT_VERSION } from './format.ts'

const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

export const PRODUCT = 'object-store'

/** The first record of a journal: who this store is and which master key belongs to it. */
export interface Genesis {
  /** 16 bytes. */
  readonly deploymentId: Uint8Array
  /** 32 bytes derived from the master key; tells a wrong key without telling the key. */
  readonly masterKeyCheck: Uint8Array
}

export function encodeGenesis(genesis: Genesis): Buffer {
  return packr.pack([FORMAT_VERSION, PRODUCT, genesis.deploymentId, genesis.masterKeyCheck])
}

export function decodeGenesis(body: Uint8Array): Genesis {
  const [version, product, deploymentId, masterKeyCheck] = packr.unpack(body) as unknown[]
  if (version !== FORMAT_VERSION || product !== PRODUCT) throw new Error('not a genesis record of this program')
  return { deploymentId: deploymentId as Uint8Array, masterKeyCheck: masterKeyCheck as Uint8Array }
}

/** The last record of a sealed segment. */
export interface Seal {
  readonly segmentNumber: number
  readonly firstSequence: number
  readonly lastSequence: number
  /** Offset of the sealing batch: the bytes before it are what the digest covers. */
  readonly lengthBytes: number
  readonly contentDigest: Uint8Array
}

export function encodeSeal(seal: Seal): Buffer {
  return packr.pack([seal.segmentNumber, seal.firstSequence, seal.lastSequence, seal.lengthBytes, seal.contentDigest])
}

export function decodeSeal(body: Uint8Array): Seal {
  const [segmentNumber, firstSequence, lastSequence, lengthBytes, contentDigest] = packr.unpack(body) as never[]
  return {
    segmentNumber: segmentNumber as never,
    firstSequence: firstSequence as never,
    lastSequence: lastSequence as never,
    lengthBytes: lengthBytes as never,
    contentDigest: contentDigest as never,
  }
}
