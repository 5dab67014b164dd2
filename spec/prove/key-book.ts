/** What a server acknowledged of each key, for clients of a server that may die at any moment. */
import { type Finding, lost, wrong } from '../support/dying-servers/client-findings.ts'
import { sampleBytes } from '../support/sample-bytes.ts'

/** Recipes for the bytes of an object, one for each part; undefined where there is no object. */
export type Content = readonly (readonly [size: number, seed: number])[] | undefined

/** An answer to a GET of a whole object. */
interface Read {
  readonly status: number
  readonly body: Buffer
  /** False when it was cut off. */
  readonly complete?: boolean
}

export function bytesOf(content: Content): Buffer {
  const parts = (content ?? []).map(([size, seed]) => sampleBytes(size, seed))
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

export function sizeOf(content: Content): number {
  return (content ?? []).reduce((total, [size]) => total + size, 0)
}

/** What may be stored at each key: one content, or several after a request without an answer. Never the bytes. */
export class KeyBook {
  readonly #possible = new Map<string, readonly Content[]>()

  constructor(keys: readonly string[] = []) {
    for (const key of keys) this.#possible.set(key, [undefined])
  }

  get keys(): string[] {
    return [...this.#possible.keys()]
  }

  /** Keys with an object, as far as that is known. */
  get present(): string[] {
    return this.keys.filter((key) => this.current(key) !== undefined)
  }

  current(key: string): Content {
    return this.#possible.get(key)?.[0]
  }

  /** Notes a change that is being sent. To be called with whether it was done; without an answer it stays in doubt. */
  sending(key: string, content: Content): (isDone: boolean) => void {
    const before = this.#possible.get(key) ?? [undefined]
    this.#possible.set(key, [...before, content])
    return (isDone) => void this.#possible.set(key, isDone ? [content] : before)
  }

  /** Compares what was read with what may be there. What was found is expected from now on. */
  settle(key: string, answer: Read): Finding | undefined {
    const possible = this.#possible.get(key) ?? []
    const found = possible.find((content) => isThere(answer, content))
    this.#possible.set(key, [found])
    if (found !== undefined || (answer.status === 404 && possible.includes(undefined))) return undefined
    const text = `${key}: ${answer.status}, ${answer.body.length} bytes instead of ${JSON.stringify(possible)}`
    return answer.status === 404 ? lost(text) : wrong(text)
  }

  /** The same while the server may still carry out a change: one that was seen must stay, another may still come. */
  glimpse(key: string, answer: Read): Finding | undefined {
    const possible = this.#possible.get(key) ?? []
    const finding = this.settle(key, answer)
    if (this.current(key) !== possible.at(-1)) this.#possible.set(key, possible)
    return finding
  }
}

function isThere({ status, body, complete }: Read, content: Content): boolean {
  if (content === undefined || status !== 200 || complete === false || body.length !== sizeOf(content)) return false
  return body.equals(bytesOf(content))
}
