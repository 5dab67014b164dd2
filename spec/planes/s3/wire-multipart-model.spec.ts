/** Random uploads, beside the simplest store there is: every answer and every byte must be the same. */
import { rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { checkProjections } from '../../../projections/check.ts'
import {
  abort,
  complete,
  createUpload,
  largePart,
  PART_BYTES,
  partTarget,
  type SentPart,
  settledFiles,
  uploadTarget,
} from '../../support/multipart.ts'
import { MultipartModel, plainEtag } from '../../support/multipart-model.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../support/test-server.ts'
import { blocks, elements, firstElement, type WireAnswer } from '../../support/wire-client.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))

const STEPS = 150
const KEYS = ['a', 'b', 'b/c'] as const
const NUMBERS = [1, 2, 3, 7, 9999] as const
const BODIES = [largePart(1), largePart(2, 7), Buffer.alloc(0), Buffer.from('small'), sampleBytes(70_000)]

/** One bucket of a server, and what must be in it. */
class Run {
  server: InThreadServer
  readonly #bucket: string
  readonly #random: Random
  readonly #model: MultipartModel

  constructor(server: InThreadServer, bucket: string, seed: number, keepsVersions: boolean) {
    this.server = server
    this.#bucket = bucket
    this.#random = new Random(seed)
    this.#model = new MultipartModel(keepsVersions)
  }

  async step(): Promise<void> {
    const steps = [
      () => this.#begin(),
      () => this.#part(),
      () => this.#part(),
      () => this.#part(),
      () => this.#complete(),
      () => this.#complete(),
      () => this.#atOnce(),
      () => this.#abort(),
      () => this.#put(),
      () => this.#copy(),
      () => this.#delete(),
      () => this.#look(),
    ]
    await this.#random.of(steps)()
    if (this.#random.below(50) === 0) await this.#restart()
  }

  #target(key: string): string {
    return `${this.#bucket}/${key}`
  }

  /** An upload, most often one in progress, and the path of its key. */
  #upload(): { id: string; target: string } | undefined {
    const open = this.#model.openUploads()
    const all = [...this.#model.uploads.keys()]
    if (all.length === 0) return undefined
    const id = open.length > 0 && this.#random.below(5) > 0 ? this.#random.of(open) : this.#random.of(all)
    return { id, target: this.#target(this.#model.uploads.get(id)?.key ?? '') }
  }

  async #begin(): Promise<void> {
    if (this.#model.openUploads().length > 4) return
    const key = this.#random.of(KEYS)
    this.#model.begin(await createUpload(this.server, this.#target(key)), key)
  }

  async #part(): Promise<void> {
    const upload = this.#upload()
    if (upload === undefined) return
    const [number, body] = [this.#random.of(NUMBERS), this.#random.of(BODIES)]
    const answer = await this.server.raw('PUT', partTarget(upload.target, upload.id, number), { body })
    this.#expect(answer, this.#model.writePart(upload.id, number, body), 'part')
    if (answer.status === 200 && answer.headers.etag !== plainEtag(body)) throw new Error('a part has another ETag')
  }

  /** Most often a list that could be right: large parts and any last one. */
  #list(id: string): SentPart[] {
    const { parts = new Map<number, Buffer>() } = this.#model.uploads.get(id) ?? {}
    const list = [...parts]
      .toSorted(([left], [right]) => left - right)
      .filter(([, body]) => body.length >= PART_BYTES || this.#random.below(4) === 0)
      .map(([number, body]) => ({ number, etag: plainEtag(body) }))
    if (this.#random.below(6) === 0) list.push({ number: 10_000, etag: plainEtag(Buffer.from('never sent')) })
    // The order of a list is judged before what became of its upload, when that is still known.
    if (this.#random.below(8) === 0 && this.#model.openUploads().includes(id)) list.reverse()
    return list
  }

  async #complete(): Promise<void> {
    const upload = this.#upload()
    if (upload === undefined) return
    const list = this.#list(upload.id)
    if (list.length === 0 && !this.#model.openUploads().includes(upload.id)) return
    const expected = this.#model.complete(upload.id, list)
    this.#expect(await complete(this.server, upload.target, upload.id, list), expected, 'complete')
    if (expected !== undefined) return
    this.#expect(await complete(this.server, upload.target, upload.id, list), undefined, 'complete again')
  }

  /** Two completions at once with the same list have the same answer. */
  async #atOnce(): Promise<void> {
    const upload = this.#upload()
    if (upload === undefined || !this.#model.openUploads().includes(upload.id)) return
    const list = this.#list(upload.id)
    const expected = this.#model.complete(upload.id, list)
    const both = [1, 2].map(() => complete(this.server, upload.target, upload.id, list))
    for (const answer of await Promise.all(both)) this.#expect(answer, expected, 'complete at once')
  }

  async #abort(): Promise<void> {
    const upload = this.#random.below(3) === 0 ? this.#upload() : undefined
    if (upload === undefined) return
    this.#expect(await abort(this.server, upload.target, upload.id), this.#model.abort(upload.id), 'abort')
  }

  async #put(): Promise<void> {
    const [key, body] = [this.#random.of(KEYS), this.#random.of(BODIES)]
    this.#expect(await this.server.raw('PUT', this.#target(key), { body }), undefined, 'put')
    this.#model.put(key, { bytes: body, etag: plainEtag(body), upload: undefined })
  }

  async #copy(): Promise<void> {
    const [from, to] = [this.#random.of(KEYS), this.#random.of(KEYS)]
    const source = this.#model.objects.get(from)
    const headers = [
      ['x-amz-copy-source', this.#target(from)],
      ['x-amz-metadata-directive', 'REPLACE'],
    ] as const
    const answer = await this.server.raw('PUT', this.#target(to), { headers })
    this.#expect(answer, source === undefined ? 'NoSuchKey' : undefined, 'copy')
    if (source !== undefined) this.#model.put(to, { ...source, upload: undefined })
  }

  async #delete(): Promise<void> {
    const key = this.#random.of(KEYS)
    this.#expect(await this.server.raw('DELETE', this.#target(key)), undefined, 'delete')
    this.#model.objects.delete(key)
  }

  #expect(answer: WireAnswer, code: string | undefined, what: string): void {
    if (answer.code !== code || (code === undefined && answer.status >= 300)) {
      throw new Error(`${what}: ${answer.status} ${answer.code ?? ''}, not ${code ?? 'done'}: ${answer.text}`)
    }
  }

  /** Everything must be as the model has it. */
  async #look(): Promise<void> {
    for (const key of KEYS) {
      const object = this.#model.objects.get(key)
      const got = await this.server.raw('GET', this.#target(key))
      this.#expect(got, object === undefined ? 'NoSuchKey' : undefined, 'get')
      if (object === undefined) continue
      if (!got.body.equals(object.bytes)) throw new Error(`${key} has other bytes`)
      if (got.headers.etag !== object.etag) throw new Error(`${key}: ${got.headers.etag}, not ${object.etag}`)
    }
    const listed = await this.server.raw('GET', `${this.#bucket}?uploads`)
    const ids = blocks(listed.text, 'Upload').map((upload) => firstElement(upload, 'UploadId') ?? '')
    const open = this.#model.openUploads()
    if (ids.toSorted().join() !== open.toSorted().join()) throw new Error('other uploads are in progress')
    for (const id of open) {
      const { key = '', parts = new Map<number, Buffer>() } = this.#model.uploads.get(id) ?? {}
      const { text } = await this.server.raw('GET', uploadTarget(this.#target(key), id))
      const found = elements(text, 'PartNumber').map((number, index) => `${number} ${elements(text, 'ETag')[index]}`)
      const sorted = [...parts].toSorted(([left], [right]) => left - right)
      const wanted = sorted.map(([number, body]) => `${number} ${plainEtag(body)}`)
      if (found.join() !== wanted.join()) throw new Error(`other parts: ${found.join()}, not ${wanted.join()}`)
    }
  }

  async #restart(): Promise<void> {
    await this.server.stop()
    if (this.#random.below(2) === 0) rmSync(this.server.paths.projections, { recursive: true })
    this.server = await startInThread({ dataDirectory })
    await this.#look()
  }

  /** Removes everything, versions included. */
  async empty(): Promise<void> {
    await this.#look()
    for (const id of this.#model.openUploads()) {
      await abort(this.server, this.#target(this.#model.uploads.get(id)?.key ?? ''), id)
    }
    const { text } = await this.server.raw('GET', `${this.#bucket}?versions`)
    for (const version of [...blocks(text, 'Version'), ...blocks(text, 'DeleteMarker')]) {
      const [key = '', id = ''] = [firstElement(version, 'Key'), firstElement(version, 'VersionId')]
      await this.server.raw('DELETE', `${this.#target(key)}?versionId=${id}`)
    }
  }
}

async function holds(t: Test, bucket: string, seed: number, keepsVersions: boolean): Promise<void> {
  const server = await startInThread({ dataDirectory })
  await server.raw('PUT', bucket)
  const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
  if (keepsVersions) await server.raw('PUT', `${bucket}?versioning`, { body: enabled })
  const run = new Run(server, bucket, seed, keepsVersions)
  let steps = 0
  try {
    for (; steps < STEPS; steps += 1) await run.step()
    await run.empty()
  } catch (error) {
    t.fail(`seed ${seed}, step ${steps}: ${String(error)}`)
  }
  t.same(await settledFiles(run.server), [], 'nothing is left on the disk')
  const { catalog } = run.server.store
  t.same(catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
  t.equal(catalog.totals().physicalBytes, 0)
  t.same(run.server.failures, [])
  await run.server.stop()
  t.match(await checkProjections(nodeDisk, run.server.paths), { differenceCount: 0, differences: [] })
}

for (const seed of [1, 2]) {
  test(`uploads in a bucket without versions, seed ${seed}`, (t) => holds(t, `/model-${seed}`, seed, false))
  test(`uploads in a bucket with versions, seed ${seed}`, (t) => holds(t, `/versions-${seed}`, seed, true))
}
