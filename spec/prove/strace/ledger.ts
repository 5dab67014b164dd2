/** What a server was asked, what it acknowledged, and what must therefore stand under each key of a bucket. */
import { type Finding, lost, wrong } from '../../support/client-findings.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { elements, firstElement, type WireAnswer, type WireClient } from '../../support/wire-client.ts'

export const LEDGER_BUCKET = 'ledger'

/** Seed and size of the bytes under a key; undefined where there is no object. */
export type Content = { readonly seed: number; readonly size: number } | undefined

/** How a request ended. A server that is failing says so in its last second (503). */
export type Outcome = 'done' | 'refused' | 'failing' | 'cut off'

const UNAVAILABLE = 503
const INSUFFICIENT_STORAGE = 507
/** Makes the record of an object in the journal long. */
const LONG_METADATA = [['x-amz-meta-long', 'm'.repeat(1900)]] as const

export class Ledger {
  acknowledged = 0
  /** What may stand under a key: one thing, or more after a request of which nobody knows what it did. */
  readonly #possible = new Map<string, readonly Content[]>()
  #seed = 0

  put(wire: WireClient, key: string, size: number, { long = false } = {}): Promise<Outcome> {
    this.#seed += 1
    const content = { seed: this.#seed, size }
    const headers = long ? LONG_METADATA : []
    return this.#change(key, content, wire.send('PUT', pathOf(key), { body: sampleBytes(size, this.#seed), headers }))
  }

  remove(wire: WireClient, key: string): Promise<Outcome> {
    return this.#change(key, undefined, wire.send('DELETE', pathOf(key)))
  }

  /** A multipart upload of one part. */
  async upload(wire: WireClient, key: string, size: number): Promise<Outcome> {
    const begun = await wire.send('POST', `${pathOf(key)}?uploads`).catch(() => undefined)
    const upload = begun && firstElement(begun.text, 'UploadId')
    if (upload === undefined) return outcomeOf(begun)
    this.#seed += 1
    const content = { seed: this.#seed, size }
    const body = sampleBytes(size, this.#seed)
    const target = `${pathOf(key)}?uploadId=${upload}`
    const part = await wire.send('PUT', `${target}&partNumber=1`, { body }).catch(() => undefined)
    if (part?.status !== 200) return outcomeOf(part)
    const list = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`
    const document = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
    return this.#change(key, content, wire.send('POST', target, { body: document }))
  }

  /** Reads everything back; what is found is what stands there from now on. Uploads in progress are aborted. */
  async check(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const key of this.#possible.keys()) findings.push(...this.#compare(key, await wire.send('GET', pathOf(key))))
    const listed = elements((await wire.send('GET', `/${LEDGER_BUCKET}?list-type=2`)).text, 'Key')
    const present = [...this.#possible].filter(([, [content]]) => content !== undefined).map(([key]) => key)
    if (listed.join() !== present.toSorted().join()) findings.push(wrong(`listed are ${listed.join()}`))
    await abortUploads(wire)
    return findings
  }

  /**
   * Reads what can be read from a server that may be failing or ending. A change that was seen must stay; one that was
   * not seen may still be in the journal.
   */
  async look(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const [key, possible] of this.#possible) {
      const answer = await wire.send('GET', pathOf(key)).catch(() => undefined)
      if (answer === undefined) break
      if (!answer.complete || answer.status >= 500) continue
      findings.push(...this.#compare(key, answer))
      if (this.#possible.get(key)?.[0] !== possible.at(-1)) this.#possible.set(key, possible)
    }
    return findings
  }

  #compare(key: string, answer: WireAnswer): Finding[] {
    const possible = this.#possible.get(key) ?? []
    const found = possible.find((content) => isThere(answer, content))
    this.#possible.set(key, [found])
    if (found !== undefined || (answer.status === 404 && possible.includes(undefined))) return []
    const text = `${key}: ${answer.status}, ${answer.body.length} bytes; ${JSON.stringify(possible)}`
    return [answer.status === 404 ? lost(text) : wrong(text)]
  }

  async #change(key: string, content: Content, sending: Promise<WireAnswer>): Promise<Outcome> {
    const before = this.#possible.get(key) ?? [undefined]
    // Before it is answered, as others may look at the ledger meanwhile.
    this.#possible.set(key, [...before, content])
    const answer = await sending.catch(() => undefined)
    const outcome = outcomeOf(answer)
    if (outcome === 'done') {
      this.acknowledged += 1
      this.#possible.set(key, [content])
    }
    // A server without space says so before anything is done; of other failures it does not know what came of them.
    if (answer?.status === INSUFFICIENT_STORAGE) this.#possible.set(key, before)
    return outcome
  }
}

function outcomeOf(answer: WireAnswer | undefined): Outcome {
  if (answer === undefined || !answer.complete) return 'cut off'
  if (answer.status >= 200 && answer.status <= 299) return 'done'
  if (answer.status < 500) throw new Error(`${answer.status} ${answer.text}`)
  return answer.status === UNAVAILABLE ? 'failing' : 'refused'
}

async function abortUploads(wire: WireClient): Promise<void> {
  const { text } = await wire.send('GET', `/${LEDGER_BUCKET}?uploads`)
  const keys = elements(text, 'Key')
  for (const [index, id] of elements(text, 'UploadId').entries()) {
    const { status } = await wire.send('DELETE', `${pathOf(keys[index] ?? '')}?uploadId=${id}`)
    if (status !== 204) throw new Error(`the upload ${id} cannot be aborted: ${status}`)
  }
}

function pathOf(key: string): string {
  return `/${LEDGER_BUCKET}/${key}`
}

function isThere(answer: WireAnswer, content: Content): boolean {
  if (content === undefined || answer.status !== 200 || !answer.complete) return false
  return answer.body.equals(sampleBytes(content.size, content.seed))
}
