/** Threads that hash, for stores without a server around them. */
import type { HashPorts } from '../../engine/hashing/hash-messages.ts'
import { HashThreads } from '../../engine/hashing/hash-threads.ts'

let threads: HashThreads | undefined

/** Ports to the threads of the process, which are started once and do not keep it. */
export function hashPorts(): HashPorts {
  if (threads === undefined) {
    threads = new HashThreads((message) => {
      throw new Error(message)
    })
    threads.unref()
  }
  return threads.connect()
}
