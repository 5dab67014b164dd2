/** What the thread that fuzzes leaves in shared memory, so that an input that it never comes back from can be told. */
import { readFileSync, readlinkSync } from 'node:fs'
import { INPUT_BYTES_MAXIMUM } from './target.ts'

const AT = { beats: 0, target: 1, length: 2, thread: 3 } as const
const WORDS = 4

/** Processor time that one input may take. Time of the clock would blame an input for what else the machine does. */
const PROCESSOR_SECONDS_MAXIMUM = 1
/** A thread that waits uses no time; for one that is not given any this is long enough. */
const CLOCK_SECONDS_MAXIMUM = 60
/** Fields of a line of `stat` behind the name (proc(5)): time in user mode and in the kernel, in hundredths. */
const STAT = { user: 11, kernel: 12, ticksPerSecond: 100 } as const

export class Heartbeat {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #input: Uint8Array

  constructor(memory = new SharedArrayBuffer(WORDS * 4 + INPUT_BYTES_MAXIMUM)) {
    this.memory = memory
    this.#words = new Int32Array(memory, 0, WORDS)
    this.#input = new Uint8Array(memory, WORDS * 4)
  }

  /** Called once by the thread that fuzzes. */
  begin(): void {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    Atomics.store(this.#words, AT.thread, thread)
  }

  /** Notes what is tried next. */
  beat(target: number, input: Uint8Array): void {
    const { length } = input
    this.#input.set(input)
    Atomics.store(this.#words, AT.target, target)
    Atomics.store(this.#words, AT.length, length)
    Atomics.add(this.#words, AT.beats, 1)
  }

  get beats(): number {
    return Atomics.load(this.#words, AT.beats)
  }

  get target(): number {
    return Atomics.load(this.#words, AT.target)
  }

  /** The input that is being tried. */
  get input(): Buffer {
    return Buffer.from(this.#input.subarray(0, Atomics.load(this.#words, AT.length)))
  }

  /** Seconds of processor time that the thread has had; undefined before it began and after it ended. */
  get processorSeconds(): number | undefined {
    const thread = Atomics.load(this.#words, AT.thread)
    if (thread === 0) return undefined
    const stat = statOf(thread)
    if (stat === undefined) return undefined
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[STAT.user]) + Number(fields[STAT.kernel])) / STAT.ticksPerSecond
  }
}

/** proc(5); undefined for a thread that is not there. */
function statOf(thread: number): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${thread}/stat`, 'latin1')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Looks at a heartbeat now and then, and says when it has stood still for too long. */
export class Watchdog {
  readonly #heartbeat: Heartbeat
  #beats = -1
  #since = { processor: 0, clock: 0 }

  constructor(heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat
  }

  /** How long the input takes already, where that is too long. */
  stuck(): string | undefined {
    const processor = this.#heartbeat.processorSeconds
    if (processor === undefined) return undefined
    const clock = performance.now() / 1000
    if (this.#heartbeat.beats !== this.#beats) {
      this.#beats = this.#heartbeat.beats
      this.#since = { processor, clock }
      return undefined
    }
    const used = processor - this.#since.processor
    if (used > PROCESSOR_SECONDS_MAXIMUM) return `${used.toFixed(1)} s of processor time and no end`
    const waited = clock - this.#since.clock
    return waited > CLOCK_SECONDS_MAXIMUM ? `no answer in ${waited.toFixed(0)} s` : undefined
  }
}
