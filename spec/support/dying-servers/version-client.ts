/**
 * A client of a server that may die at any moment, in a bucket with Object Lock: versions, delete markers, locks and
 * multipart uploads. It knows what was acknowledged to it, and the one thing that may or may not have happened because
 * its answer never came.
 */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { type ClientCounts, type Finding, lost, wrong } from './client-findings.ts'
import type { Random } from '../random.ts'
import { sampleBytes } from '../sample-bytes.ts'
import { etagOf, type PartContent, UploadInFlight, uploadsUnder } from './upload-in-flight.ts'
import { firstElement, type WireAnswer, type WireClient } from '../wire-client.ts'
import { versionsIn, type WireVersion } from '../wire-versions.ts'

export const VERSION_BUCKET = 'crash-versions'
const KEYS = 3
/** Those of 60,000 bytes go into volumes, and fill them. */
const SIZES = [0, 1, 60_000, 60_000, 70_000] as const
const PART_SIZES = [5, 60_000, 70_000] as const
/** Numbers of the parts of an upload: one that its completion leaves out, and the one that becomes the object. */
const LEFT_OUT_PART = 3
const LAST_PART = 7
/** Versions of a key above this are deleted before others are written. */
const VERSIONS_MAXIMUM = 12
const UNTIL = '2999-01-01T00:00:00.000Z'
const LOCK = { retention: 'x-amz-object-lock-retain-until-date', hold: 'x-amz-object-lock-legal-hold' } as const

/** A version, or a delete marker where there are no bytes. */
interface Known {
  readonly id: string
  /** Seeds and sizes of the bytes, one for each part. */
  readonly content: readonly PartContent[] | undefined
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
  readonly #prefix: string
  readonly #keys: readonly string[]
  /** Of each key, newest first. */
  readonly #versions = new Map<string, Known[]>()
  #doubt: Doubt = { kind: 'nothing' }
  #upload: UploadInFlight | undefined
  #seed: number

  constructor(number: number, random: Random) {
    this.#random = random
    this.#seed = number * 1_000_000_007
    this.#prefix = `versions-${number}/`
    this.#keys = Array.from({ length: KEYS }, (_, index) => this.#prefix + index)
    for (const key of this.#keys) this.#versions.set(key, [])
  }

  /** Sends requests until one has no answer. */
  async run(wire: WireClient): Promise<void> {
    while (await this.#step(wire));
  }

  /** Whether the server died between the beginning of an upload and the answer to its end. */
  get wasUploading(): boolean {
    return this.#upload !== undefined
  }

  /** How many versions and markers there are, as far as that is known. */
  get versionCount(): number {
    return this.#keys.reduce((total, key) => total + this.#of(key).length, 0)
  }

  /**
   * Looks at every version of every key and at the upload that was in flight, which is then completed or aborted;
   * returns what is not as it must be.
   */
  async check(wire: WireClient): Promise<Finding[]> {
    const answer = await wire.send('GET', `/${VERSION_BUCKET}?versions&prefix=${encodeURIComponent(this.#prefix)}`)
    const all = versionsIn(answer.text)
    const before = this.versionCount
    const findings = this.#keys.flatMap((key) => this.#settle(key, all))
    findings.push(...(await this.#checkUpload(wire, this.versionCount > before)))
    for (const key of this.#keys) {
      for (const version of this.#of(key)) findings.push(...(await this.#checkVersion(wire, key, version)))
    }
    this.#doubt = { kind: 'nothing' }
    return findings
  }

  #of(key: string): Known[] {
    return this.#versions.get(key) ?? []
  }

  /** Ids that are listed must be those that are known, but for what is in doubt; that is settled here. */
  #settle(key: string, all: readonly WireVersion[]): Finding[] {
    const listed = all.filter((version) => version.key === key)
    const ids = listed.map(({ id }) => id)
    const known = this.#of(key)
    const doubt = this.#doubt
    const [first, ...rest] = listed
    const isAdded = doubt.kind === 'added' && doubt.key === key && first !== undefined && rest.length === known.length
    if (isAdded) {
      if ((first.kind === 'marker') !== (doubt.version.content === undefined))
        return [wrong(`${first.kind} ${first.id}`)]
      known.unshift({ ...doubt.version, id: first.id })
    }
    const isRemoved = doubt.kind === 'removed' && doubt.key === key && !ids.includes(doubt.id)
    if (isRemoved) this.#forget(key, doubt.id)
    const expected = this.#of(key).map(({ id }) => id)
    const text = `${key}: ${ids.join()} instead of ${expected.join()}`
    if (expected.some((id) => !ids.includes(id))) return [lost(text)]
    const isFirstTheNewest = listed.every(({ isLatest }, index) => isLatest === (index === 0))
    return ids.join() === expected.join() && isFirstTheNewest ? [] : [wrong(text)]
  }

  /** What was in flight is there as far as it was acknowledged, and can be ended; nothing else is in progress. */
  async #checkUpload(wire: WireClient, wasAdded: boolean): Promise<Finding[]> {
    const upload = this.#upload
    this.#upload = undefined
    const listed = await uploadsUnder(wire, VERSION_BUCKET, this.#prefix)
    if (upload === undefined) return listed.map((id) => wrong(`nobody began the upload ${id}`))
    if (upload.id === undefined) {
      for (const id of listed) await this.#abort(wire, `${pathOf(upload.key)}?uploadId=${id}`)
      return listed.length > 1 ? [wrong(`one request began ${listed.length} uploads`)] : []
    }
    const mayBeGone = upload.ending === 'abortion' || (upload.ending === 'completion' && wasAdded)
    if (listed.length === 0 && mayBeGone) return []
    if (listed.length === 0) return [lost(`${upload.key}: the upload ${upload.id}, ${upload.ending ?? 'open'}`)]
    if (listed.join() !== upload.id || wasAdded) return [wrong(`uploads ${listed.join()} instead of ${upload.id}`)]
    const target = `${pathOf(upload.key)}?uploadId=${upload.id}`
    const findings = upload.checkParts(await wire.send('GET', target))
    if (findings.length > 0) return findings
    const part = upload.part(LAST_PART)
    if (part === undefined || this.#random.below(2) === 0) await this.#abort(wire, target)
    else await this.#complete(wire, upload, target, part)
    this.#upload = undefined
    return []
  }

  async #checkVersion(wire: WireClient, key: string, version: Known): Promise<Finding[]> {
    const { id, content } = version
    const answer = await wire.send('GET', targetOf(key, id))
    if (content === undefined) {
      const text = `${key} ${id}: a marker gives ${answer.status}`
      if (answer.status === 405) return []
      return [answer.status === 404 ? lost(text) : wrong(text)]
    }
    const bytes = Buffer.concat(content.map(([size, seed]) => sampleBytes(size, seed)))
    if (answer.status !== 200 || !answer.complete || !answer.body.equals(bytes)) {
      const text = `${key} ${id}: ${answer.status}, ${answer.body.length} bytes instead of ${bytes.length}`
      return [answer.status === 404 ? lost(text) : wrong(text)]
    }
    const held = answer.headers[LOCK.hold] === 'ON'
    if (this.#doubt.kind === 'held' && this.#doubt.version === version) version.held = held
    const retained = answer.headers[LOCK.retention] !== undefined
    return held === version.held && retained === version.retained
      ? []
      : [wrong(`${key} ${id}: held ${held}, retained ${retained}`)]
  }

  #forget(key: string, id: string): void {
    const kept = this.#of(key).filter((version) => version.id !== id)
    this.#versions.set(key, kept)
  }

  #newContent(size: number): PartContent {
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
    if (choice < 70) return this.#sendUpload(wire, key)
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
  async #sendUpload(wire: WireClient, key: string): Promise<boolean> {
    const upload = new UploadInFlight(key)
    this.#upload = upload
    const begun = await this.#answered(wire.send('POST', `${pathOf(key)}?uploads`), { kind: 'nothing' })
    if (begun === undefined) return false
    upload.id = firstElement(begun.text, 'UploadId')
    if (upload.id === undefined) throw new Error(`${key}: ${begun.status} ${begun.text}`)
    const target = `${pathOf(key)}?uploadId=${upload.id}`
    let content = this.#newContent(0)
    for (const number of [LEFT_OUT_PART, LAST_PART, LAST_PART]) {
      content = this.#newContent(this.#random.of(PART_SIZES))
      upload.sending(number, content)
      const sending = wire.send('PUT', `${target}&partNumber=${number}`, { body: sampleBytes(...content) })
      const sent = await this.#answered(sending, { kind: 'nothing' })
      if (sent === undefined) return false
      if (sent.headers.etag !== etagOf(content)) throw new Error(`${key}: ${sent.status} ${sent.text}`)
      upload.sent(number, content)
    }
    upload.ending = this.#random.below(4) === 0 ? 'abortion' : 'completion'
    const ended =
      upload.ending === 'abortion' ? this.#abort(wire, target) : this.#complete(wire, upload, target, content)
    if (!(await ended)) return false
    this.#upload = undefined
    return true
  }

  async #abort(wire: WireClient, target: string): Promise<boolean> {
    const answer = await this.#answered(wire.send('DELETE', target), { kind: 'nothing' })
    return answer !== undefined && expect(answer, 204)
  }

  #complete(wire: WireClient, { key }: UploadInFlight, target: string, content: PartContent): Promise<boolean> {
    const listed = `<Part><PartNumber>${LAST_PART}</PartNumber><ETag>${etagOf(content)}</ETag></Part>`
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
