import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { HashKind, HashPorts, HashThreadData, ToHashThread } from './hash-messages.ts'

/** A thread for SHA-256 has as much to do as two processors' worth of uploads bring; with more than so many the disk is the limit. */
const SHA256_THREADS_MAXIMUM = 4

interface HashThread {
  readonly kind: HashKind
  readonly name: string
  readonly worker: Worker
}

/** The threads that hash large bodies for all the others. */
export class HashThreads {
  readonly #members: readonly HashThread[]
  #stopping = false

  /** @param onFailure is told of a thread that ends by itself: whoever waits for it is told too, and no more is hashed */
  constructor(onFailure: (message: string) => void, processors = availableParallelism()) {
    const sha256 = Math.min(SHA256_THREADS_MAXIMUM, Math.max(1, Math.floor(processors / 2)))
    // One for MD5: the more bodies share it, the less each of them costs.
    const kinds: HashKind[] = ['md5', ...Array.from({ length: sha256 }, (): HashKind => 'sha256')]
    this.#members = kinds.map((kind, index) => {
      const data: HashThreadData = { kind }
      const worker = new Worker(new URL('./hash-thread.js', import.meta.url), { workerData: data })
      const name = `hash-${index}`
      const fail = (message: string) => {
        if (!this.#stopping) onFailure(`the thread ${name}, which hashes uploads, ${message}`)
      }
      worker.on('error', (error) => fail(`failed: ${error instanceof Error ? error.message : String(error)}`))
      worker.on('exit', () => fail('ended'))
      return { kind, name, worker }
    })
  }

  /** Each with the time that its event loop has been at work since its start. */
  get threads(): readonly { readonly name: string; readonly activeMilliseconds: () => number }[] {
    return this.#members.map(({ name, worker }) => {
      return { name, activeMilliseconds: () => worker.performance.eventLoopUtilization().active }
    })
  }

  /** Ports for the bodies of one thread, to be given to it with `transferable`. */
  connect(): HashPorts {
    const portsTo = (kind: HashKind) => this.#members.filter((member) => member.kind === kind).map(connectTo)
    return { md5: portsTo('md5'), sha256: portsTo('sha256') }
  }

  /** Lets the process end although they run. */
  unref(): void {
    for (const { worker } of this.#members) worker.unref()
  }

  /** Ends them; what they have not hashed yet fails. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()))
  }
}

function connectTo({ worker }: HashThread): MessagePort {
  const { port1, port2 } = new MessageChannel()
  const message: ToHashThread = { attach: port2 }
  worker.postMessage(message, [port2])
  return port1
}
