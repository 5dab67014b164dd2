/**
 * A client of a server that may die at any moment, in a bucket with Object Lock: versions, delete markers, locks and
 * multipart uploads. It knows what was acknowledged to it, and the one thing that may or may not have happened because
 * its answer never came.
 */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { ClientCounts } from './acknowledging-client.ts'
import type { Random } from './random.ts'
import { sampleBytes } from './sample-bytes.ts'
import { firstElement, type WireAnswer, type WireClient } from './wire-client.ts'
import { versionsIn, type WireVersion } from './wire-versions.ts'

export const VERSION_BUCKET = 'crash-versions'
const KEYS = 3
/** Those of 60,000 bytes go into volumes, and fill them. */
const SIZES = [0, 1, 60_000, 60_000, 70_000] as const
const PART_SIZES = [5, 60_000, 70_000] as const
/** Versions of a key above this are deleted before others are written. */
const VERSIONS_MAXIMUM = 12
const UNTIL = '2999-01-01T00:00:00.000Z'
const LOCK = { retention: 'x-amz-object-lock-retain-until-date', hold: 'x-amz-object-lock-legal-hold' } as const

/** A version, or a delete marker where there are no bytes. */
interface Known {
  readonly id: string
  /** Seeds and sizes of the bytes, one for each part. */
  readonly content: readonly (readonly [size: number, seed: number])[] | undefined
  retained: boolean
  held: boolean
}

/** What a request without an answer may have done. */
type Doubt =
  | { readonly kind: 'added'; readonly key: string; readonly version: Omit<Known, 'id'> }
  | { readonly kind: 'removed'; readonly key: string; readonly id: string }
  | { readonly kind: 'held'; readonly version: Known; readonly hold: boolean }
  | { readonly kind: 'nothing' }

export class VersionClient {
  readonly counts: ClientCounts = { acknowledged: 0, unanswered: 0 }
  readonly #random: Random
  readonly #keys: readonly string[]
  /** Of each key, newest first. */
  readonly #versions = new Map<string, Known[]>()
  #doubt: Doubt = { kind: 'nothing' }
  #seed: number

  constructor(number: number, random: Random) {
    this.#random = random
    this.#seed = number * 1_000_000_007
    this.#keys = Array.from({ length: KEYS }, (_, index) => `versions-${number}/${index}`)
    for (const key of this.#keys) this.#versions.set(key, [])
  }

  /** Sends requests until one has no answer. */
  async run(wire: WireClient): Promise<void> {
    while (await this.#step(wire));
  }

  /** Looks at every version of every key, and returns what is not as it must be. */
  async check(wire: WireClient): Promise<string[]> {
    const wrong: string[] = []
    for (const key of this.#keys) {
      const answer = await wire.send('GET', `/${VERSION_BUCKET}?versions&prefix=${encodeURIComponent(key)}`)
      const listed = versionsIn(answer.text)
      const fault = this.#settle(key, listed)
      if (fault !== undefined) wrong.push(`${key}: ${fault}`)
      for (const version of this.#of(key)) wrong.push(...(await this.#checkVersion(wire, key, version)))
      const isLatest = listed.map((version) => version.isLatest)
      if (isLatest.some((one, index) => one !== (index === 0))) wrong.push(`${key}: the newest is not the first`)
    }
    this.#doubt = { kind: 'nothing' }
    return wrong
  }

  #of(key: string): Known[] {
    return this.#versions.get(key) ?? []
  }

  /** Ids that are listed must be those that are known, but for what is in doubt; that is settled here. */
  #settle(key: string, listed: readonly WireVersion[]): string | undefined {
    const ids = listed.map(({ id }) => id)
    const known = this.#of(key)
    const doubt = this.#doubt
    const [first, ...rest] = listed
    const isAdded = doubt.kind === 'added' && doubt.key === key && first !== undefined && rest.length === known.length
    if (isAdded) {
      if ((first.kind === 'marker') !== (doubt.version.content === undefined)) return `${first.kind} ${first.id}`
      known.unshift({ ...doubt.version, id: first.id })
    }
    const isRemoved = doubt.kind === 'removed' && doubt.key === key && !ids.includes(doubt.id)
    if (isRemoved) this.#forget(key, doubt.id)
    const expected = this.#of(key).map(({ id }) => id)
    return ids.join() === expected.join() ? undefined : `${ids.join()} instead of ${expected.join()}`
  }

  async #checkVersion(wire: WireClient, key: string, version: Known): Promise<string[]> {
    const { id, content } = version
    const answer = await wire.send('GET', targetOf(key, id))
    if (content === undefined) return answer.status === 405 ? [] : [`${key} ${id}: a marker gives ${answer.status}`]
    const bytes = Buffer.concat(content.map(([size, seed]) => sampleBytes(size, seed)))
    if (answer.status !== 200 || !answer.complete || !answer.body.equals(bytes)) {
      return [`${key} ${id}: ${answer.status}, ${answer.body.length} bytes instead of ${bytes.length}`]
    }
    const held = answer.headers[LOCK.hold] === 'ON'
    if (this.#doubt.kind === 'held' && this.#doubt.version === version) version.held = held
    const retained = answer.headers[LOCK.retention] !== undefined
    return held === version.held && retained === version.retained
      ? []
      : [`${key} ${id}: held ${held}, retained ${retained}`]
  }

  #forget(key: string, id: string): void {
    const kept = this.#of(key).filter((version) => version.id !== id)
    this.#versions.set(key, kept)
  }

  #newContent(size: number): readonly [size: number, seed: number] {
    this.#seed += 1
    return [size, this.#seed]
  }

  /** One request, or the requests of an upload; false when one had no answer. */
  #step(wire: WireClient): Promise<boolean> {
    const key = this.#random.of(this.#keys)
    const versions = this.#of(key)
    const choice = this.#random.below(100)
    const version = versions.length === 0 ? undefined : this.#random.of(versions)
    const isCrowded = versions.length >= VERSIONS_MAXIMUM
    if (version !== undefined && (isCrowded || choice < 25)) return this.#remove(wire, key, version)
    if (version?.content !== undefined && choice < 40) return this.#hold(wire, key, version)
    if (choice < 50) return this.#add(key, undefined, NOTHING, wire.send('DELETE', pathOf(key)))
    if (choice < 70) return this.#upload(wire, key)
    const content = this.#newContent(this.#random.of(SIZES))
    const lock = choice < 80 ? { retained: true, held: false } : { retained: false, held: choice < 85 }
    const body = sampleBytes(...content)
    return this.#add(key, [content], lock, wire.send('PUT', pathOf(key), { body, headers: lockLines(lock) }))
  }

  /** What is held must not go; what is retained under governance goes with a bypass. */
  async #remove(wire: WireClient, key: string, version: Known): Promise<boolean> {
    const { id, held, retained } = version
    const headers: HeaderLine[] = retained ? [['x-amz-bypass-governance-retention', 'true']] : []
    const sending = wire.send('DELETE', targetOf(key, id), { headers })
    const answer = await this.#answered(sending, held ? { kind: 'nothing' } : { kind: 'removed', key, id })
    if (answer === undefined) return false
    if (held) return expect(answer, 403)
    this.#forget(key, id)
    return expect(answer, 204)
  }

  async #hold(wire: WireClient, key: string, version: Known): Promise<boolean> {
    const hold = !version.held
    const body = `<LegalHold><Status>${hold ? 'ON' : 'OFF'}</Status></LegalHold>`
    const answer = await this.#answered(wire.send('PUT', `${targetOf(key, version.id)}&legal-hold`, { body }), {
      kind: 'held',
      version,
      hold,
    })
    if (answer === undefined) return false
    version.held = hold
    return expect(answer, 200)
  }

  /** A new version or marker. */
  async #add(
    key: string,
    content: Known['content'],
    lock: Pick<Known, 'held' | 'retained'>,
    sending: Promise<WireAnswer>,
  ): Promise<boolean> {
    const version = { content, ...lock }
    const answer = await this.#answered(sending, { kind: 'added', key, version })
    if (answer === undefined) return false
    const id = answer.headers['x-amz-version-id']
    if (typeof id !== 'string') throw new Error(`${key}: ${answer.status} ${answer.text}`)
    this.#of(key).unshift({ ...version, id })
    return true
  }

  /** An upload of one part, as only the last may be so small; another one is sent over, left out or given up. */
  async #upload(wire: WireClient, key: string): Promise<boolean> {
    const begun = await this.#answered(wire.send('POST', `${pathOf(key)}?uploads`), { kind: 'nothing' })
    if (begun === undefined) return false
    const upload = firstElement(begun.text, 'UploadId')
    if (upload === undefined) throw new Error(`${key}: ${begun.status} ${begun.text}`)
    const target = `${pathOf(key)}?uploadId=${upload}`
    let etag = ''
    let content = this.#newContent(0)
    for (const part of [3, 7, 7]) {
      content = this.#newContent(this.#random.of(PART_SIZES))
      const sending = wire.send('PUT', `${target}&partNumber=${part}`, { body: sampleBytes(...content) })
      const sent = await this.#answered(sending, { kind: 'nothing' })
      if (sent === undefined) return false
      etag = String(sent.headers.etag)
    }
    if (this.#random.below(4) === 0) {
      const aborted = await this.#answered(wire.send('DELETE', target), { kind: 'nothing' })
      return aborted !== undefined && expect(aborted, 204)
    }
    const listed = `<Part><PartNumber>7</PartNumber><ETag>${etag}</ETag></Part>`
    const body = `<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`
    return this.#add(key, [content], NOTHING, wire.send('POST', target, { body }))
  }

  async #answered(sending: Promise<WireAnswer>, doubt: Doubt): Promise<WireAnswer | undefined> {
    const answer = await sending.catch(() => undefined)
    // An answer that was cut off says nothing for sure.
    if (answer?.complete === true) {
      this.counts.acknowledged += 1
      return answer
    }
    this.counts.unanswered += 1
    this.#doubt = doubt
    return undefined
  }
}

const NOTHING = { held: false, retained: false } as const

function pathOf(key: string): string {
  return `/${VERSION_BUCKET}/${key}`
}

function targetOf(key: string, id: string): string {
  return `${pathOf(key)}?versionId=${id}`
}

function lockLines({ retained, held }: Pick<Known, 'held' | 'retained'>): HeaderLine[] {
  if (retained)
    return [
      ['x-amz-object-lock-mode', 'GOVERNANCE'],
      [LOCK.retention, UNTIL],
    ]
  return held ? [[LOCK.hold, 'ON']] : []
}

function expect(answer: WireAnswer, status: number): true {
  if (answer.status === status) return true
  throw new Error(`${answer.status} instead of ${status}: ${answer.text}`)
}
