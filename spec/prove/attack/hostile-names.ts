/**
 * Names that are paths, patterns or prototypes to somebody: as keys, copy sources, buckets, metadata and parameters, on
 * both planes. Each comes back exactly as it was sent or is refused; none is ever another one (S4, S8, S19).
 */
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import * as fc from 'fast-check'
import { elements } from '../../support/wire-client.ts'
import { pairsOf } from '../pairs.ts'
import type { Assault } from './assault.ts'
import { Lane } from '../../support/raw/lane.ts'
import { bytesOf, apiBytes, type Signable, signed } from './signed-requests.ts'
import { anyCharacter } from '../../support/any-character.ts'

const BUCKET = 'attack-names'
const KEY_BYTES_MAXIMUM = 1024

/** Keys that must come back as they are. */
const KEYS: readonly string[] = [
  'a /a/ d/e d//e d/./e d/../e d/e/. ./d/e ../d/e d\\e ./ ../ x/y x%2Fy x%252Fy'.split(' '),
  'p q|p+q|p%20q|p%2Bq|p%2520q|p%q|\u00e9|e\u0301|%C3%A9|%c3%a9|q|q?|q?acl|q&acl|q#r'.split('|'),
  ['n\0', 'n', 'n\u0001', 'n\n', 'n\r', 'n\r\n', '\ue000', '&lt;a&gt;', '&#1;', '\u{1f600}\u{1f600}'],
  '. .. ... ../x ../../etc/passwd ../../../../../../etc/passwd a/../b a/./b ./a a/.. a/.'.split(' '),
  ['/', '//', '/a', '//a', 'a//b', 'a/', 'a//', '/etc/passwd', '../data', '../attack/key', '../attack-other/key'],
  ['%2e%2e', '%2e%2e/x', '%2f', '%5c', '%00', '%252e%252e', '%', '%%', '%zz', '%c0%ae', '..%2f..%2fx', '%u002e'],
  ['\\', '..\\..\\x', 'a\\b', 'C:\\x', '\\\\host\\share', '..;/x', '....//x', 'a;b', 'a?b', 'a#b', 'a&b=c', 'a=b', '?'],
  '\0|a\0b|x\0.png|\n|\r\n|a\r\nSet-Cookie: b|\t| | a|a |a b|\u007f|\u0085|\u2028'.split('|'),
  'caf\u00e9 cafe\u0301 \u212b \u00c5 A\u030a \ufb01 fi \u0130 \u0131 I i \u1e9e ss SS'.split(' '),
  ['\u202eevil', '\u200b', '\ufeff', '\ufffd', '\uffff', '\u{1f600}', '\u{10ffff}', '\u0001', '\u001b[31m', '\u0600'],
  '__proto__ constructor toString hasOwnProperty prototype __defineGetter__ valueOf then null'.split(' '),
  'undefined¦NaN¦true¦0¦-1¦1e9¦[object Object]¦-rf¦--¦~root¦$(id)¦`id`¦|id¦*¦{a,b}'.split('¦'),
  ['CON', 'aux.txt', 'nul', 'a.', 'a ', 'index.html', '.git/config', 'data/journal/HEAD', 'projections', 'secrets.env'],
  ['<script>', '"', "'", "' OR 1=1 --", ...'&amp; &#65; ]]> <![CDATA[ {{7*7}} ${x} %s%n + a+b %2B'.split(' ')],
].flat()

const LONG: readonly (readonly [key: string, fits: boolean])[] = [
  ['k'.repeat(KEY_BYTES_MAXIMUM), true],
  ['k'.repeat(KEY_BYTES_MAXIMUM + 1), false],
  ['\u00e9'.repeat(KEY_BYTES_MAXIMUM / 2), true],
  [`${'\u00e9'.repeat(KEY_BYTES_MAXIMUM / 2)}k`, false],
  ['\u{1f600}'.repeat(KEY_BYTES_MAXIMUM / 4), true],
  ['\u{1f600}'.repeat(KEY_BYTES_MAXIMUM / 4 + 1), false],
  ['/'.repeat(KEY_BYTES_MAXIMUM), true],
  ['../'.repeat(341), true],
  ['k'.repeat(8000), false],
]

/** Paths that name nothing: they cannot be decoded, or not to one thing. */
const RAW_PATHS: readonly string[] = [
  ['%ff', '%c0%ae%c0%ae/x', '%c3', '%ed%a0%80', '%f4%90%80%80', '%c0%af', '%zz', '%', '%4', '%u002e%u002e', 'a%'],
  ['%fe%ff', '%80', 'a%80b', '%e2%82', '%f8%88%80%80%80'],
].flat()

const CHANCE_KEYS = 100
/** Keys that are tried at once, each beside a copy and a new name of its own. */
const TOGETHER = 8
const character = fc.oneof(
  fc.constantFrom('/', '.', '%', '+', ' ', '&', '?', '\u0000', '\u00ff', '\uffff', '😀'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 3 }),
)
const anyKey = fc.array(character, { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''))

/** What round trips leave beside the keys. */
const COPIES = Array.from({ length: TOGETHER }, (_, number) => `copy-${number}`)

function unique(keys: readonly string[]): string[] {
  return [...new Set(keys)]
}

export async function attackNames(assault: Assault): Promise<void> {
  const { ledger, random } = assault
  const [names, ...others] = Array.from({ length: TOGETHER }, (_, number) => new NameAttack(assault, number))
  if (names === undefined) throw new Error('nothing is tried')
  await names.makeBucket()
  const byChance = fc.sample(anyKey, { numRuns: assault.fewer(CHANCE_KEYS), seed: random.below(2 ** 31) })
  const keys = unique([...KEYS, ...LONG.filter(([, fits]) => fits).map(([key]) => key), ...byChance])
  const tries = [names, ...others].map((one, number) =>
    one.roundTrips(keys.filter((_, index) => index % TOGETHER === number)),
  )
  await Promise.all(tries)
  await names.run(keys)
  ledger.tried('hostile names', keys.length + RAW_PATHS.length + LONG.length)
  for (const one of [names, ...others]) one.close()
}

class NameAttack {
  readonly #assault: Assault
  readonly #lane: Lane
  readonly #api: Lane
  /** Where keys are copied and renamed to. */
  readonly #copy: string
  readonly #renamed: string

  constructor(assault: Assault, number: number) {
    this.#copy = `copy-${number}`
    this.#renamed = `renamed-${number}`
    this.#assault = assault
    this.#lane = new Lane(assault.arena.server.port)
    this.#api = new Lane(assault.arena.apiPort)
  }

  async makeBucket(): Promise<void> {
    await this.#s3('bucket', { method: 'PUT', path: `/${BUCKET}` }, [200])
  }

  async roundTrips(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#roundTrip(key)
  }

  /** @param keys all that were tried */
  async run(keys: readonly string[]): Promise<void> {
    for (const [key, fits] of LONG) if (!fits) await this.#refusedKey(key)
    for (const path of RAW_PATHS) await this.#refusedPath(path)
    await this.#listing(keys)
    await this.#metadata()
    await this.#buckets()
    this.#files()
  }

  close(): void {
    this.#lane.close()
    this.#api.close()
  }

  async #s3(what: string, asked: Omit<Signable, 'name'>, statuses: readonly number[], target?: string) {
    const request = signed(this.#assault.arena, { name: `${asked.method} ${what}`, ...asked })
    const { name, method } = request
    const bytes = bytesOf({ ...request, target: target ?? request.target })
    return this.#assault.expect(this.#lane, { name, method, bytes, mayChange: true }, statuses)
  }

  async #managed(what: string, method: string, path: string, body: string, statuses: readonly number[]) {
    const name = `${method} ${what} over the management plane`
    const bytes = apiBytes(this.#assault.arena, method, `/api/v1/buckets/${BUCKET}/${path}`, { body })
    return this.#assault.expect(this.#api, { name, method, bytes, mayChange: true }, statuses)
  }

  #same(what: string, got: string | undefined, expected: string): void {
    if (got === expected) return
    const shown = `${JSON.stringify(got?.slice(0, 200))} instead of ${JSON.stringify(expected.slice(0, 200))}`
    this.#assault.ledger.fault('wrong', what, shown)
  }

  /** Written, read, found, copied from, and the same over the other plane: the bytes tell which key it was. */
  async #roundTrip(key: string): Promise<void> {
    const shown = JSON.stringify(key.slice(0, 60))
    const path = `/${BUCKET}/${key}`
    const body = `bytes of ${encodeURIComponent(key)}`
    await this.#s3(`key ${shown}`, { method: 'PUT', path, body }, [200])
    this.#same(`GET key ${shown}`, (await this.#s3(`key ${shown}`, { method: 'GET', path }, [200]))?.body, body)
    const query = [...pairsOf('list-type=2&encoding-type=url&max-keys=1'), ['prefix', key] as const]
    const listed = await this.#s3(`list of ${shown}`, { method: 'GET', path: `/${BUCKET}`, query }, [200])
    const found = elements(listed?.body ?? '', 'Key')[0] ?? ''
    this.#same(`list of ${shown}`, decodeURIComponent(found), key)
    const source = `${BUCKET}/${encodeURIComponent(key)}`
    const headers = [['x-amz-copy-source', source]] as const
    await this.#s3(`copy of ${shown}`, { method: 'PUT', path: `/${BUCKET}/${this.#copy}`, headers }, [200])
    const copied = await this.#s3(`copy of ${shown}`, { method: 'GET', path: `/${BUCKET}/${this.#copy}` }, [200])
    this.#same(`copy of ${shown}`, copied?.body, body)
    const renamed = [['x-amz-rename-source', `/${source}`]] as const
    const rename = { method: 'PUT', query: [['renameObject', '']] as const }
    await this.#s3(`rename of ${shown}`, { ...rename, path: `/${BUCKET}/${this.#renamed}`, headers: renamed }, [200])
    const moved = await this.#s3(`rename of ${shown}`, { method: 'GET', path: `/${BUCKET}/${this.#renamed}` }, [200])
    this.#same(`rename of ${shown}`, moved?.body, body)
    await this.#s3(`key ${shown} that was renamed`, { method: 'GET', path }, [404])
    await this.#s3(`rename to ${shown}`, { ...rename, path, headers: [['x-amz-rename-source', this.#renamed]] }, [200])
    const managed = await this.#managed(`key ${shown}`, 'GET', `object-content/${encodeURIComponent(key)}`, '', [200])
    this.#same(`key ${shown} over the management plane`, managed?.body, body)
    const written = `${body}, again`
    await this.#managed(`key ${shown}`, 'PUT', `object/${encodeURIComponent(key)}`, written, [200, 201, 204])
    const again = await this.#s3(`key ${shown}`, { method: 'GET', path }, [200])
    this.#same(`key ${shown} written over the management plane`, again?.body, written)
  }

  async #refusedKey(key: string): Promise<void> {
    const shown = `of ${Buffer.byteLength(key)} bytes`
    const headers = [['x-amz-copy-source', `${BUCKET}/${encodeURIComponent(key)}`]] as const
    for (const method of ['PUT', 'GET', 'DELETE']) {
      await this.#s3(`key ${shown}`, { method, path: `/${BUCKET}/${key}` }, [400])
    }
    await this.#s3(`copy of a key ${shown}`, { method: 'PUT', path: `/${BUCKET}/${this.#copy}`, headers }, [400, 404])
    await this.#rename(`a key ${shown}`, encodeURIComponent(key))
    const managed = `object/${encodeURIComponent(key)}`
    await this.#managed(`key ${shown}`, 'PUT', managed, 'x', [400])
    await this.#managed(`key ${shown}`, 'GET', managed, '', [400, 404])
  }

  /** Of what names no key. */
  async #rename(what: string, source: string): Promise<void> {
    const headers = [['x-amz-rename-source', source]] as const
    const request = { method: 'PUT', path: `/${BUCKET}/${this.#copy}`, query: [['renameObject', '']] as const, headers }
    await this.#s3(`rename of ${what}`, request, [400])
  }

  async #refusedPath(path: string): Promise<void> {
    const target = `/${BUCKET}/${path}`
    const headers = [['x-amz-copy-source', `${BUCKET}/${path}`]] as const
    for (const method of ['PUT', 'GET', 'DELETE']) {
      await this.#s3(`path ${path}`, { method, path: `/${BUCKET}/x` }, [400], target)
    }
    await this.#s3(`copy of path ${path}`, { method: 'PUT', path: `/${BUCKET}/${this.#copy}`, headers }, [400])
    await this.#rename(`path ${path}`, path)
    await this.#s3(`bucket ${path}`, { method: 'GET', path: `/x` }, [400], `/${path}/x`)
    for (const method of ['PUT', 'GET', 'DELETE']) {
      await this.#managed(`path ${path}`, method, `object/${path}`, method === 'PUT' ? 'x' : '', [400])
    }
  }

  /** What there is are the keys that were written, and no other. */
  async #listing(keys: readonly string[]): Promise<void> {
    const query = pairsOf('list-type=2&encoding-type=url')
    const listed = await this.#s3('list of all', { method: 'GET', path: `/${BUCKET}`, query }, [200])
    const found = elements(listed?.body ?? '', 'Key').map((key) => decodeURIComponent(key))
    this.#same('list of all', found.toSorted().join('\n'), [...keys, ...COPIES].toSorted().join('\n'))
  }

  async #metadata(): Promise<void> {
    const path = `/${BUCKET}/metadata`
    const names = ['__proto__', 'constructor', 'tostring', 'hasownproperty', 'valueof', 'prototype', '__definegetter__']
    const headers = names.map((name) => [`x-amz-meta-${name}`, `value of ${name}`] as const)
    const query = names.map((name) => [name, 'x'] as const)
    await this.#s3('metadata of prototypes', { method: 'PUT', path, headers, query, body: 'x' }, [200])
    const answer = await this.#s3('metadata of prototypes', { method: 'HEAD', path, query }, [200])
    for (const [name, value] of headers) this.#same(`metadata ${name}`, answer?.headers.get(name), value)
    // Names that the store uses for itself have no header (S8).
    for (const name of ['x-amz-meta-', 'x-object-store-key', 'x-internal-sealed', 'x-amz-meta-x-amz-meta-a']) {
      await this.#s3(`header ${name}`, { method: 'PUT', path, headers: [[name, 'x']], body: 'x' }, [200, 400])
      await this.#s3(`header ${name}`, { method: 'GET', path }, [200])
    }
  }

  async #buckets(): Promise<void> {
    const names = ['__proto__', 'constructor', 'toString', '..', '.', '...', '%2e%2e', 'a..b', 'A', 'aa', '-a-', 'a_b']
    for (const name of [...names, 'data', 'xn--a', '10.0.0.1', '\0', ' ', 'a b', '\u00e9', 'b'.repeat(64)]) {
      // A word that is a name like any other may be one.
      const fits = name === 'constructor' || name === 'data'
      await this.#s3(`bucket ${JSON.stringify(name)}`, { method: 'PUT', path: `/${name}` }, fits ? [200] : [400, 405])
      await this.#s3(`bucket ${JSON.stringify(name)}`, { method: 'GET', path: `/${name}/x` }, [400, 404])
    }
  }

  /** No file was made from a name. */
  #files(): void {
    const { dataDirectory } = this.#assault.arena.server
    const beside = readdirSync(dirname(dataDirectory))
    if (beside.join() !== 'data') this.#assault.ledger.fault('let in', 'files', `beside the store: ${beside.join()}`)
    for (const name of readdirSync(dataDirectory, { recursive: true, encoding: 'utf8' })) {
      if (/^[\w./-]+$/.test(name) && !/passwd|proto|attack/.test(name)) continue
      this.#assault.ledger.fault('let in', 'files', `a file of the name ${JSON.stringify(name)}`)
    }
  }
}
