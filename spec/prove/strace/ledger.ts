/** What a server was asked, what it acknowledged, and what must therefore stand under each key of a bucket. */
import { type Finding, wrong } from '../../support/dying-servers/client-findings.ts'
import { elements, firstElement, type WireAnswer, type WireClient } from '../../support/wire-client.ts'
import { openUploads } from '../open-uploads.ts'
import { bytesOf, type Content, KeyBook } from '../key-book.ts'

export const LEDGER_BUCKET = 'ledger'

/** How a request ended. A server that is failing says so in its last second (503). */
export type Outcome = 'done' | 'refused' | 'failing' | 'cut off'

const UNAVAILABLE = 503
const OUTCOME_UNKNOWN = '<Code>OutcomeUnknown</Code>'
const INSUFFICIENT_STORAGE = 507
/** Makes the record of an object in the journal long. */
const LONG_METADATA = [['x-amz-meta-long', 'm'.repeat(1900)]] as const

export class Ledger {
  acknowledged = 0
  readonly #book = new KeyBook()
  #seed = 0

  put(wire: WireClient, key: string, size: number, { long = false } = {}): Promise<Outcome> {
    const content = this.#newContent(size)
    const headers = long ? LONG_METADATA : []
    return this.#change(key, content, wire.send('PUT', pathOf(key), { body: bytesOf(content), headers }))
  }

  remove(wire: WireClient, key: string): Promise<Outcome> {
    return this.#change(key, undefined, wire.send('DELETE', pathOf(key)))
  }

  /** A multipart upload of one part. */
  async upload(wire: WireClient, key: string, size: number): Promise<Outcome> {
    const begun = await wire.send('POST', `${pathOf(key)}?uploads`).catch(() => undefined)
    const upload = begun && firstElement(begun.text, 'UploadId')
    if (upload === undefined) return outcomeOf(begun)
    const content = this.#newContent(size)
    const body = bytesOf(content)
    const target = `${pathOf(key)}?uploadId=${upload}`
    const part = await wire.send('PUT', `${target}&partNumber=1`, { body }).catch(() => undefined)
    if (part?.status !== 200) return outcomeOf(part)
    const list = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`
    const document = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
    return this.#change(key, content, wire.send('POST', target, { body: document }))
  }

  /** Reads everything back; what is found is expected from now on. Uploads in progress are aborted. */
  async check(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const key of this.#book.keys) {
      const finding = this.#book.settle(key, await wire.send('GET', pathOf(key)))
      if (finding !== undefined) findings.push(finding)
    }
    const listed = elements((await wire.send('GET', `/${LEDGER_BUCKET}?list-type=2`)).text, 'Key')
    if (listed.join() !== this.#book.present.toSorted().join()) findings.push(wrong(`listed are ${listed.join()}`))
    for (const target of await openUploads(wire, LEDGER_BUCKET)) {
      const { status } = await wire.send('DELETE', target)
      if (status !== 204) throw new Error(`${target} cannot be aborted: ${status}`)
    }
    return findings
  }

  /** Reads what can be read from a server that may be failing or ending. */
  async look(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const key of this.#book.keys) {
      const answer = await wire.send('GET', pathOf(key)).catch(() => undefined)
      if (answer === undefined) break
      if (!answer.complete || answer.status >= 500) continue
      const finding = this.#book.glimpse(key, answer)
      if (finding !== undefined) findings.push(finding)
    }
    return findings
  }

  #newContent(size: number): Content {
    this.#seed += 1
    return [[size, this.#seed]]
  }

  async #change(key: string, content: Content, sending: Promise<WireAnswer>): Promise<Outcome> {
    // Before it is answered, as others may look at the ledger meanwhile.
    const settle = this.#book.sending(key, content)
    const answer = await sending.catch(() => undefined)
    const outcome = outcomeOf(answer)
    if (outcome === 'done') {
      this.acknowledged += 1
      settle(true)
    }
    // A server without space says so before anything is done, and one that has failed that nothing will have been.
    if (answer?.status === INSUFFICIENT_STORAGE || answer?.status === UNAVAILABLE) settle(false)
    return outcome
  }
}

function outcomeOf(answer: WireAnswer | undefined): Outcome {
  if (answer === undefined || !answer.complete) return 'cut off'
  if (answer.status >= 200 && answer.status <= 299) return 'done'
  if (answer.status < 500) throw new Error(`${answer.status} ${answer.text}`)
  return answer.status === UNAVAILABLE || answer.text.includes(OUTCOME_UNKNOWN) ? 'failing' : 'refused'
}

function pathOf(key: string): string {
  return `/${LEDGER_BUCKET}/${key}`
}
