import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { HashKind, HashPorts, HashThreadData, ToHashThread } from './hash-messages.ts'

/** One thread for SHA-256 keeps up with the uploads of two processors; beyond this maximum the disk is the limit. */
const SHA256_THREADS_MAXIMUM = 4
const PROGRAM = new URL('./hash-thread.js', import.meta.url)

interface HashThread {
  readonly kind: HashKind
  readonly name: string
  /** Undefined until it is started. */
  worker: Worker | undefined
  /** Its ends of connections, until it is started. */
  readonly waiting: MessagePort[]
}

/**
 * The threads that hash large bodies for all the others. They are started for the first of these: a server that has none
 * does without their memory.
 */
export class HashThreads {
  readonly #members: readonly HashThread[]
  readonly #onFailure: (message: string) => void
  readonly #program: URL
  #isStarted = false
  #stopping = false

  /**
   * @param onFailure is called when a thread does not start or ends by itself: its pending digests fail too, and no
   *   more is hashed
   * @param program the program of each thread
   */
  constructor(onFailure: (message: string) => void, processors = availableParallelism(), program = PROGRAM) {
    this.#onFailure = onFailure
    this.#program = program
    const sha256 = Math.min(SHA256_THREADS_MAXIMUM, Math.max(1, Math.floor(processors / 2)))
    // One for MD5: the more bodies share it, the less each of them costs.
    const kinds: HashKind[] = ['md5', ...Array.from({ length: sha256 }, (): HashKind => 'sha256')]
    this.#members = kinds.map((kind, index) => ({ kind, name: `hash-${index}`, worker: undefined, waiting: [] }))
  }

  /** Each with the time that its event loop has been at work since its start. */
  get threads(): readonly { readonly name: string; readonly activeMilliseconds: () => number }[] {
    return this.#members.map((member) => {
      const { name } = member
      return { name, activeMilliseconds: () => member.worker?.performance.eventLoopUtilization().active ?? 0 }
    })
  }

  /**
   * Ports for the bodies of one thread, which may be transferred to it. Messages through them wait until `start` is
   * called.
   */
  connect(): HashPorts {
    const portsTo = (kind: HashKind) => this.#members.filter((member) => member.kind === kind).map(connectTo)
    return { md5: portsTo('md5'), sha256: portsTo('sha256') }
  }

  /** Starts them, unless that was done before. They need nothing more of the calling thread, which may block. */
  start(): void {
    if (this.#isStarted || this.#stopping) return
    this.#isStarted = true
    for (const member of this.#members) this.#startOne(member)
  }

  /** Lets the process end although they run. */
  unref(): void {
    for (const { worker } of this.#members) worker?.unref()
  }

  /** Ends them; pending hashes fail. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const member of this.#members) hangUp(member)
    await Promise.all(this.#members.map(({ worker }) => worker?.terminate()))
  }

  #startOne(member: HashThread): void {
    const fail = (message: string) => {
      if (!this.#stopping) this.#onFailure(`the thread ${member.name}, which hashes uploads, ${message}`)
    }
    const failed = (error: unknown) => fail(`failed: ${error instanceof Error ? error.message : String(error)}`)
    const data: HashThreadData = { kind: member.kind }
    try {
      member.worker = new Worker(this.#program, { workerData: data })
    } catch (error) {
      hangUp(member)
      failed(error)
      return
    }
    member.worker.on('error', failed)
    member.worker.on('exit', () => fail('ended'))
    for (const port of member.waiting.splice(0)) attach(member.worker, port)
  }
}

function connectTo({ worker, waiting }: HashThread): MessagePort {
  const { port1, port2 } = new MessageChannel()
  if (worker === undefined) waiting.push(port2)
  else attach(worker, port2)
  return port1
}

function attach(worker: Worker, port: MessagePort): void {
  const message: ToHashThread = { attach: port }
  worker.postMessage(message, [port])
}

/** Closes connections to a thread that will not start, so that pending digests fail. */
function hangUp({ waiting }: HashThread): void {
  for (const port of waiting.splice(0)) port.close()
}
