/** A multipart upload whose server may die at any moment: what of it was acknowledged, and what may have happened. */
import { hash } from 'node:crypto'
import { type Finding, lost, wrong } from './client-findings.ts'
import { sampleBytes } from '../sample-bytes.ts'
import { blocks, elements, firstElement, type WireAnswer, type WireClient } from '../wire-client.ts'

/** Recipe for the bytes of a part. */
export type PartContent = readonly [size: number, seed: number]

export class UploadInFlight {
  readonly key: string
  /** Undefined while the creation has no answer. */
  id: string | undefined
  /** The request that ends it, once it is sent. */
  ending: 'completion' | 'abortion' | undefined
  /** What may stand under each number: one thing, or two while a request has no answer. */
  readonly #parts = new Map<number, readonly (PartContent | undefined)[]>()

  constructor(key: string) {
    this.key = key
  }

  /** Notes a part that is being sent. */
  sending(number: number, content: PartContent): void {
    this.#parts.set(number, [this.part(number), content])
  }

  /** Notes a part that was acknowledged. */
  sent(number: number, content: PartContent): void {
    this.#parts.set(number, [content])
  }

  /** What stands under a number, as far as that is known. */
  part(number: number): PartContent | undefined {
    return this.#parts.get(number)?.[0]
  }

  /** Looks at the parts of an upload that goes on. What is found is what stands there from now on. */
  checkParts(answer: WireAnswer): Finding[] {
    if (answer.status !== 200) return [lost(`${this.key}: the parts of an upload give ${answer.status}`)]
    const listed = new Map(
      blocks(answer.text, 'Part').map((part) => [
        Number(firstElement(part, 'PartNumber')),
        firstElement(part, 'ETag') ?? '',
      ]),
    )
    const findings = [...listed.keys()]
      .filter((number) => !this.#parts.has(number))
      .map((number) => wrong(`${this.key}: part ${number} was never sent`))
    for (const [number, possible] of this.#parts) {
      const etag = listed.get(number)
      const found = possible.find((content) => (content && etagOf(content)) === etag)
      if (!possible.includes(found) || (found === undefined && etag !== undefined)) {
        const text = `${this.key}: part ${number} is ${etag}; ${JSON.stringify(possible)}`
        findings.push(etag === undefined ? lost(text) : wrong(text))
      }
      this.#parts.set(number, [found])
    }
    return findings
  }
}

/** ETag of a part, quotes included. */
export function etagOf(content: PartContent): string {
  return `"${hash('md5', sampleBytes(...content), 'hex')}"`
}

/** Ids of the uploads in progress under a prefix. */
export async function uploadsUnder(wire: WireClient, bucket: string, prefix: string): Promise<string[]> {
  const answer = await wire.send('GET', `/${bucket}?uploads&prefix=${encodeURIComponent(prefix)}`)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return elements(answer.text, 'UploadId')
}
