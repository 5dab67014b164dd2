/** Random histories of versions over the wire, held against a model after every step and after every replay. */
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import tap, { type Test, test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { checkProjections } from '../../../projections/check.ts'
import { temporaryDirectory, startInThread, type InThreadServer } from '../../support/test-server.ts'
import { VersionModel } from '../../support/version-model.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { createBucket, setVersioning, versionIdOf, versionPage, versionPages } from '../../support/wire-versions.ts'

const KEYS = ['a', 'a/b', 'a/c', 'ä', 'z'.repeat(1024)] as const
const RUNS = 40

type Step =
  | { readonly kind: 'put' | 'delete'; readonly key: string; readonly size: number }
  /** Which version of the key, counted from the newest; -1 is the one with the id `null`. */
  | { readonly kind: 'delete-version'; readonly key: string; readonly at: number }
  | { readonly kind: 'copy'; readonly from: string; readonly at: number | undefined; readonly key: string }
  | { readonly kind: 'set'; readonly versioning: 'enabled' | 'suspended' }

const key = fc.constantFrom(...KEYS)
const at = fc.integer({ min: -1, max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), key, size: fc.nat({ max: 50 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), key, size: fc.constant(0) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('delete-version' as const), key, at }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('copy' as const), from: key, at: fc.option(at, { nil: undefined }), key }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('set' as const), versioning: fc.constantFrom('enabled', 'suspended') }),
  },
)

/** A bucket and what it must hold. */
class Subject {
  readonly model = new VersionModel()
  readonly bucket: string
  #writes = 0

  constructor(bucket: string) {
    this.bucket = bucket
  }

  /** Takes one step; says what is wrong with the answer. */
  async take(server: InThreadServer, one: Step): Promise<string | undefined> {
    switch (one.kind) {
      case 'set':
        await setVersioning(server, this.bucket, one.versioning)
        this.model.versioning = one.versioning
        return undefined
      case 'put': {
        this.#writes += 1
        const body = `${this.#writes}|`.repeat(one.size)
        return this.#written(await server.raw('PUT', this.#target(one.key), { body }), one.key, body)
      }
      case 'delete':
        return this.#deleted(await server.raw('DELETE', this.#target(one.key)), one.key)
      case 'delete-version':
        return this.#deleteVersion(server, one.key, this.#idAt(one.key, one.at))
      case 'copy':
        return this.#copy(server, one)
    }
  }

  #target(name: string): string {
    return `/${this.bucket}/${encodeURIComponent(name)}`
  }

  /** An id of the key, or one that names nothing. */
  #idAt(name: string, place: number): string {
    return place === -1 ? 'null' : (this.model.versions(name)[place]?.id ?? 'A'.repeat(22))
  }

  #written(answer: WireAnswer, name: string, body: string): string | undefined {
    if (answer.status !== 200) return `${answer.status} ${answer.text}`
    const id = this.#checkId(answer, false)
    if (id === undefined) return `version id ${versionIdOf(answer)} while ${this.model.versioning}`
    this.model.add(name, { id, body })
    return undefined
  }

  /**
   * The id of what was just written, if the answer tells it as the state of versioning asks for: a version named `null` is
   * told of by nothing, a marker named `null` by its id.
   */
  #checkId(answer: WireAnswer, isMarker: boolean): string | undefined {
    const id = versionIdOf(answer)
    switch (this.model.versioning) {
      case 'off':
        return id === undefined ? 'null' : undefined
      case 'suspended':
        return id === (isMarker ? 'null' : undefined) ? 'null' : undefined
      case 'enabled':
        return id !== undefined && /^[\w-]{22}$/.test(id) ? id : undefined
    }
  }

  #deleted(answer: WireAnswer, name: string): string | undefined {
    if (answer.status !== 204) return `${answer.status} ${answer.text}`
    const id = this.#checkId(answer, true)
    const isMarker = answer.headers['x-amz-delete-marker'] === 'true'
    if (id === undefined || isMarker !== (this.model.versioning !== 'off')) return JSON.stringify(answer.headers)
    if (this.model.versioning === 'off') this.model.removeKey(name)
    else this.model.add(name, { id, body: undefined })
    return undefined
  }

  async #deleteVersion(server: InThreadServer, name: string, id: string): Promise<string | undefined> {
    const answer = await server.raw('DELETE', `${this.#target(name)}?versionId=${id}`)
    const wasMarker = this.model.find(name, id)?.body === undefined && this.model.find(name, id) !== undefined
    this.model.removeVersion(name, id)
    const told = versionIdOf(answer)
    const expected = this.model.versioning === 'off' ? undefined : id
    const isRight = answer.status === 204 && told === expected
    const saysMarker = answer.headers['x-amz-delete-marker'] === 'true'
    return isRight && saysMarker === wasMarker ? undefined : `${answer.status} ${JSON.stringify(answer.headers)}`
  }

  async #copy(server: InThreadServer, one: Extract<Step, { kind: 'copy' }>): Promise<string | undefined> {
    const id = one.at === undefined ? undefined : this.#idAt(one.from, one.at)
    const source = id === undefined ? this.model.current(one.from) : this.model.find(one.from, id)
    const name = `${this.bucket}/${encodeURIComponent(one.from)}${id === undefined ? '' : `?versionId=${id}`}`
    const headers: HeaderLine[] = [['x-amz-copy-source', name]]
    const answer = await server.raw('PUT', this.#target(one.key), { headers })
    if (source === undefined)
      return answer.code === (id === undefined ? 'NoSuchKey' : 'NoSuchVersion') ? undefined : answer.text
    if (source.body === undefined) return answer.code === 'InvalidRequest' ? undefined : answer.text
    if (id === undefined && one.from === one.key) return answer.code === 'InvalidRequest' ? undefined : answer.text
    const told = answer.headers['x-amz-copy-source-version-id']
    if (told !== (this.model.versioning === 'off' ? undefined : source.id)) return `source version ${String(told)}`
    return this.#written(answer, one.key, source.body)
  }

  /** Removes every version by its id, then the bucket. */
  async removeAll(t: Test, server: InThreadServer): Promise<void> {
    for (const { key: name, id } of this.model.listing) {
      t.equal(await this.#deleteVersion(server, name, id), undefined, `remove ${id}`)
    }
    t.equal(this.model.isEmpty, true)
    t.equal((await server.raw('DELETE', `/${this.bucket}`)).status, 204, 'the bucket is empty')
  }

  /** What a client can see is what the model says. */
  async compare(t: Test, server: InThreadServer, name: string): Promise<void> {
    const { entries } = await versionPage(server, this.bucket)
    t.same(
      entries.map(({ kind, key: listed, id, isLatest, size }) => ({ kind, key: listed, id, isLatest, size })),
      this.model.listing,
      name,
    )
    for (const one of KEYS) {
      const got = await server.raw('GET', this.#target(one))
      const current = this.model.current(one)
      t.equal(got.status === 200 ? got.text : undefined, current?.body, `${name}: current of ${one.slice(0, 3)}`)
      for (const { id, body } of this.model.versions(one)) {
        const version = await server.raw('GET', `${this.#target(one)}?versionId=${id}`)
        t.equal(version.status, body === undefined ? 405 : 200)
        if (body !== undefined) t.equal(version.text, body)
      }
    }
    const usage = server.store.catalog.bucketUsage(server.store.catalog.bucket(this.bucket)?.id ?? 0)
    const bytes = this.model.currentKeys.map((one) => this.model.current(one)?.body?.length ?? 0)
    const logical = { objects: this.model.currentKeys.length, bytes: bytes.reduce((sum, size) => sum + size, 0) }
    t.match(usage, logical, `${name}: logical usage is that of the current versions`)
  }
}

const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const subjects: Subject[] = []
/** Small bodies are packed into volumes, those of more than a few bytes have files of their own. */
const start = () => startInThread({ dataDirectory, inlineBytesMaximum: 40 })

test('S7, s3-wire 3 and 5: any history of puts, copies, deletions and states is that of the model', async (t) => {
  const server = await start()
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const bytesBefore = server.store.catalog.totals().physicalBytes
      const subject = new Subject(`model-${subjects.length}`)
      subjects.push(subject)
      await createBucket(server, subject.bucket)
      for (const [index, one] of steps.entries()) {
        t.equal(await subject.take(server, one), undefined, JSON.stringify(one))
        if (index % 10 === 9) await subject.compare(t, server, `after ${index + 1} steps`)
      }
      await subject.compare(t, server, 'at the end')
      for (const [query, size] of [
        [{}, 1],
        [{ delimiter: '/' }, 1],
        [{ prefix: 'a' }, 2],
        [{ prefix: 'a/', delimiter: '/' }, 1],
      ] as const) {
        const pages = await versionPages(server, subject.bucket, query, size)
        const listed = pages.flatMap((page) => [
          ...page.entries.map((entry) => `${entry.key} ${entry.id}`),
          ...page.prefixes,
        ])
        t.same(listed, subject.model.entries(query), `pages of ${size}, ${JSON.stringify(query)}`)
      }
      // Half of the buckets stay, for what comes after this.
      runs += 1
      if (runs % 2 === 0) return
      subjects.pop()
      await subject.removeAll(t, server)
      t.equal(server.store.catalog.totals().physicalBytes, bytesBefore, 'nothing is left of what was removed')
    }),
    { numRuns: RUNS },
  )
  t.same(server.failures, [])
  await server.stop()
})

async function compareAll(t: Test): Promise<void> {
  const server = await start()
  for (const subject of subjects) await subject.compare(t, server, subject.bucket)
  t.same(server.failures, [])
  await server.stop()
}

test('after a restart everything is the same', compareAll)

test('W7: made again from the journal alone, everything is the same', async (t) => {
  rmSync(paths.projections, { recursive: true })
  await compareAll(t)
})

test('J14: projections made again are the same, row by row', async (t) => {
  t.match(await checkProjections(nodeDisk, paths), { differenceCount: 0, differences: [] })
})
