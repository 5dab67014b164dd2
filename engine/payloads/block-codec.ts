import { crc32 } from '../hashing/crc32.ts'
import { type FileForm, FILE_FORMS } from './file-format.ts'
import { copyInto } from '../hashing/copy-into.ts'
import { freeMemory } from './free-memory.ts'
import type { PayloadKey } from './sealing.ts'

/** Writes one block of a payload file. */
export interface BlockWriter {
  /** Puts the stored form of the next bytes of the block into `target` at `at`. */
  take(bytes: Uint8Array, target: Buffer, at: number): void
  /** The proof of the block. Called once, after its last byte. */
  proof(): Buffer
}

/** How the blocks of one payload file are stored and proved. */
export interface BlockCodec {
  readonly form: FileForm
  /** A block is written once. */
  write(index: number): BlockWriter
  /** Whether `block` is as it was stored; if so, it holds the object's bytes afterwards. */
  prove(block: Buffer, index: number, proof: Buffer): boolean
}

/** Blocks as they are, proved by their CRC-32. */
export const plainBlocks: BlockCodec = {
  form: 'plain',
  write: () => {
    let checksum = 0
    return {
      take: (bytes, target, at) => {
        checksum = crc32(bytes, checksum)
        copyInto(target, bytes, at)
      },
      proof: () => {
        const proof = Buffer.allocUnsafe(FILE_FORMS.plain.proofBytes)
        proof.writeUInt32BE(checksum)
        return proof
      },
    }
  },
  prove: (block, _index, proof) => crc32(block) === proof.readUInt32BE(),
}

/** Blocks encrypted with the key of their file, proved by their tag, which depends on file and place. */
export function sealedBlocks(key: PayloadKey): BlockCodec {
  return {
    form: 'sealed',
    write: (index) => {
      const cipher = key.cipher(index)
      return {
        take: (bytes, target, at) => {
          const ciphertext = cipher.update(bytes)
          target.set(ciphertext, at)
          freeMemory(ciphertext)
        },
        proof: () => {
          cipher.final()
          return cipher.getAuthTag()
        },
      }
    },
    prove: (block, index, proof) => {
      const plaintext = key.decrypt(index, block, proof)
      if (plaintext === undefined) return false
      block.set(plaintext)
      freeMemory(plaintext)
      return true
    },
  }
}
