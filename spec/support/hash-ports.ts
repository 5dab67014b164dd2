/** Threads that hash, for stores without a server around them. */
import { BodyHashing } from '../../engine/hashing/body-hashing.ts'
import { PIECE_BYTES } from '../../engine/payloads/piece-pool.ts'
import type { HashPorts } from '../../engine/hashing/hash-messages.ts'
import { HashThreads } from '../../engine/hashing/hash-threads.ts'

let threads: HashThreads | undefined

/** Ports to the threads of the process, which are started once and do not keep it. */
export function hashPorts(): HashPorts {
  if (threads === undefined) {
    threads = new HashThreads((message) => {
      throw new Error(message)
    })
    threads.start()
    threads.unref()
  }
  return threads.connect()
}

/** What stores have their uploads hashed with. */
export function bodyHashing(pieceBytes = PIECE_BYTES): BodyHashing {
  return new BodyHashing(hashPorts(), pieceBytes, () => undefined)
}
