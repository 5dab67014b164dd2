/**
 * Proof bundles from the server to the auditor, before and after a kill.
 * Proves: RES-BUN-02, RES-BUN-18, RES-VER-02, RES-VER-04, RES-VER-05, RES-VER-07, RES-KEY-02, VER-ANY-03.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { type FileDigest, verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { largePart, uploadWhole } from '../support/multipart.ts'
import {
  bundleBytes,
  GOLDEN_FILE,
  GOLDEN_OBJECT,
  GOLDEN_PUBLIC_KEY,
  signed,
  stranger,
} from '../support/proofs/proof-statements.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { MASTER_KEY } from '../support/test-clients.ts'
import { createBucket, put, setVersioning } from '../support/wire-versions.ts'
import { type Outcome, run } from './command-runner.ts'

const GOLDEN = join(process.cwd(), 'spec/golden/proof-v1')
const FILE = join(GOLDEN, 'file.txt')
const BUNDLE = join(GOLDEN, 'valid/history.json')
const KEY = ['--public-key', GOLDEN_PUBLIC_KEY]

const server = await startManaged()
tap.teardown(() => server.stop())
await createBucket(server, 'photos')
await setVersioning(server, 'photos', 'enabled')

function asked(...words: readonly string[]): Promise<Outcome> {
  return run(words, { environment: { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN } })
}

interface JsonReport {
  readonly verdict: string
  readonly checks: readonly { readonly name: string; readonly status: string; readonly sentence: string }[]
  readonly claims: Readonly<Record<string, unknown>> | null
  readonly limits: readonly string[]
}

test('from the server to the auditor', async (t) => {
  const directory = t.testdir()
  const [file, bundle] = [join(directory, 'cat.png'), join(directory, 'cat.proof.json')]
  const first = await put(server, 'photos/2026/cat.png', 'first', [['content-type', 'image/png']])
  await put(server, 'photos/2026/cat.png', 'second')
  const key = await run(['proof', 'public-key', '--json'], {
    environment: { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') },
  })
  t.equal(key.exitCode, 0, key.stderr)
  const { algorithm, public_key, key_id } = JSON.parse(key.stdout) as Record<string, string>
  t.equal(algorithm, 'ed25519')

  const created = await asked('proof', 'create', 'photos', '2026/cat.png', '--output', bundle, '--json')
  t.equal(created.exitCode, 0, created.stderr)
  t.match(JSON.parse(created.stdout), { output: bundle, size: 6, key_id, sha256: hash('sha256', 'second') })
  t.same(readdirSync(directory), ['cat.proof.json'], 'nothing else is left')
  writeFileSync(file, 'second')
  const verified = await run(['proof', 'verify', file, bundle, '--public-key', public_key ?? ''])
  t.equal(verified.exitCode, 0, verified.stdout)

  const second = ['proof', 'create', 'photos', '2026/cat.png', '--output', bundle, '--format', '2']
  t.equal((await asked(...second)).exitCode, 0)
  t.match(JSON.parse(readFileSync(bundle, 'utf8')), { format_version: 2 })
  t.equal((await run(['proof', 'verify', file, bundle, '--public-key', public_key ?? ''])).exitCode, 0)
  t.match(await asked(...second.slice(0, -1), '3'), { exitCode: 2, stderr: /--format: must be 1 or 2, is 3/ })

  const again = ['proof', 'create', 'photos', '2026/cat.png', '--version-id', first ?? '', '--output', bundle]
  const replaced = await asked(...again)
  t.match(replaced, { exitCode: 0, stdout: /^output +.*\nversion_id +\S+\nsize +5\n/ })
  t.equal((await run(['proof', 'verify', file, bundle, '--public-key', public_key ?? ''])).exitCode, 8)
  writeFileSync(file, 'first')
  t.equal((await run(['proof', 'verify', file, bundle, '--public-key', public_key ?? ''])).exitCode, 0)
})

test('what cannot be created leaves what was there', async (t) => {
  const directory = t.testdir({ 'kept.json': 'what was there', taken: {} })
  const output = join(directory, 'kept.json')
  const create = (...words: readonly string[]) => asked('proof', 'create', ...words, '--output', output)
  t.match(await create('photos', 'none'), { exitCode: 4, stderr: /OBJECT_NOT_FOUND/ })
  t.match(await create('none', 'key'), { exitCode: 4, stderr: /BUCKET_NOT_FOUND/ })
  const strange = await run(['proof', 'create', 'photos', 'k', '--output', output, '--url', server.apiEndpoint], {
    environment: { OBJECT_STORE_TOKEN: 'another' },
  })
  t.match(strange, { exitCode: 5, stderr: /UNAUTHENTICATED/ })
  t.equal((await asked('proof', 'create', 'photos', 'k')).exitCode, 2, 'without --output')
  await put(server, 'photos/k', 'bytes')
  const nowhere = await asked('proof', 'create', 'photos', 'k', '--output', join(directory, 'no/where.json'))
  t.match(nowhere, { exitCode: 4, stderr: /\/no does not exist\n/ })
  t.equal((await asked('proof', 'create', 'photos', 'k', '--output', join(directory, 'taken'))).exitCode, 1)
  t.same(readdirSync(directory), ['kept.json', 'taken'], 'no draft is left')
  t.equal(readFileSync(output, 'utf8'), 'what was there')
})

/** A listener that answers everything with this body, and promises so many bytes more. */
async function answering(body: Buffer, missing = 0): Promise<{ readonly url: string; readonly stop: () => void }> {
  const listener: Server = createServer((_, response) => {
    response.setHeader('content-length', body.length + missing)
    response.write(body, () => missing > 0 && response.destroy())
    if (missing === 0) response.end()
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => void listener.close() }
}

test('an answer that is no whole bundle is not written', async (t) => {
  const directory = t.testdir()
  const output = join(directory, 'bundle.json')
  const whole = bundleBytes(signed())
  const answers: readonly [body: Buffer, missing: number, said: RegExp][] = [
    [whole.subarray(0, 300), whole.length - 300, /no proof bundle was received/],
    [Buffer.from('{"error":"\u001b[31m"}'), 0, /not a proof bundle of this version/],
    [Buffer.from(whole.toString().replace('"format_version":1', '"format_version":2')), 0, /format version is 2/],
    [Buffer.alloc(16 * 1024 ** 2 + 1, ' '), 0, /larger than a bundle/],
    [bundleBytes(signed({ object: { ...GOLDEN_OBJECT, bucket: 'b', key: 'other' } })), 0, /of another object/],
    [bundleBytes(signed({ object: { ...GOLDEN_OBJECT, bucket: 'other', key: 'k' } })), 0, /of another object/],
  ]
  for (const [body, missing, said] of answers) {
    const { url, stop } = await answering(body, missing)
    const outcome = await run(['proof', 'create', 'b', 'k', '--output', output, '--url', url])
    t.match(outcome, { exitCode: 1, stderr: said })
    t.notOk(outcome.stderr.includes('\u001b'))
    stop()
  }
  t.notOk(existsSync(output))
  t.same(readdirSync(directory), [])
  const { url, stop } = await answering(bundleBytes(signed({ object: { ...GOLDEN_OBJECT, bucket: 'b', key: 'k' } })))
  const words = ['proof', 'create', 'b', 'k', '--output', output, '--url', url]
  t.match(await run([...words, '--version-id', 'other']), { exitCode: 1, stderr: /of another object/ })
  t.equal((await run(words)).exitCode, 0)
  stop()
})

async function verify(...words: readonly string[]): Promise<number> {
  return (await run(['proof', 'verify', ...words])).exitCode
}

test('exit codes of verify', async (t) => {
  const directory = t.testdir({ 'other.txt': 'other bytes' })
  t.equal(await verify(FILE, BUNDLE, ...KEY), 0)
  t.equal(await verify(FILE, BUNDLE, '--public-key', GOLDEN_PUBLIC_KEY.toUpperCase()), 0)
  t.equal(await verify(FILE, BUNDLE), 9, 'nobody said whose key it is')
  t.equal(await verify(FILE, BUNDLE, '--public-key', stranger.deployment.public_key), 8, 'another deployment')
  t.equal(await verify(join(directory, 'other.txt'), BUNDLE, ...KEY), 8, 'another file')
  t.equal(await verify(join(directory, 'other.txt'), BUNDLE), 8, 'a failure goes before what is not proved')
  t.equal(await verify(FILE, join(GOLDEN, 'broken/newer-format.json'), ...KEY), 9, 'a newer format')
  t.equal(await verify(FILE, join(GOLDEN, 'broken/unknown-member.json'), ...KEY), 8)
  t.equal(await verify(FILE, FILE, ...KEY), 8, 'no bundle at all')
  t.equal(await verify(join(directory, 'none'), BUNDLE, ...KEY), 4)
  t.equal(await verify(FILE, join(directory, 'none'), ...KEY), 4)
  t.equal(await verify(directory, BUNDLE, ...KEY), 1, 'a directory')
  for (const key of ['', 'abc', `${GOLDEN_PUBLIC_KEY}00`, GOLDEN_PUBLIC_KEY.replace(/./, 'g')]) {
    t.equal(await verify(FILE, BUNDLE, '--public-key', key), 2, key)
  }
})

async function digestGolden(): Promise<FileDigest> {
  return { sha256: hash('sha256', GOLDEN_FILE), size: GOLDEN_FILE.length }
}

test('every check is printed, for people and for programs', async (t) => {
  const text = await run(['proof', 'verify', FILE, BUNDLE, ...KEY])
  t.match(text.stdout, /^Verified: .*\n\npassed +format +The format/)
  t.match(text.stdout, /\nnot proved +anchor +/)
  t.match(text.stdout, /a later deletion does not show/, 'what is not proved by anything')
  const json = await run(['proof', 'verify', FILE, BUNDLE, ...KEY, '--json'])
  const report = JSON.parse(json.stdout) as JsonReport
  const bytes = readFileSync(BUNDLE)
  const { checks } = await verifyBundle(bytes, { expectedPublicKey: GOLDEN_PUBLIC_KEY, digestFile: digestGolden })
  t.same(report.checks, checks)
  t.equal(report.verdict, 'verified')
  t.match(report.claims, { bucket: 'golden', key: GOLDEN_OBJECT.key, public_key: GOLDEN_PUBLIC_KEY })
  t.equal(report.limits.length, 3)
  for (const { name, sentence } of checks) t.ok(text.stdout.includes(name) && text.stdout.includes(sentence), name)
  const unread = await run(['proof', 'verify', FILE, FILE, ...KEY, '--json'])
  t.equal((JSON.parse(unread.stdout) as JsonReport).claims, null)
})

test('what stands in a bundle does not reach the terminal as it is', async (t) => {
  const key = '\u001b[2J\u202egnp.\u2066x\u009b31m'
  const directory = t.testdir({
    'bundle.json': bundleBytes(signed({ object: { ...GOLDEN_OBJECT, key } })),
    'broken.json': '{"format":"object-store.proof-bundle","format_version":1,"\\u001b[2J":1}',
  })
  for (const name of ['bundle.json', 'broken.json']) {
    const { stdout } = await run(['proof', 'verify', FILE, join(directory, name), ...KEY])
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    t.notMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/)
    t.match(stdout, /\\u\{1b\}\[2J/)
  }
})

test('the public key needs the master key', async (t) => {
  t.match(await run(['proof', 'public-key']), { exitCode: 23, stderr: /master key/ })
  const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: Buffer.alloc(32, 0x5a).toString('base64') }
  const { stdout } = await run(['proof', 'public-key'], { environment })
  t.match(stdout, new RegExp(`^algorithm +ed25519\npublic_key +${GOLDEN_PUBLIC_KEY}\nkey_id +[0-9a-f]{16}\n$`))
})

const TOKEN = 'a-management-token-of-the-specs-0123'
const SETTINGS = { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN, OBJECT_STORE_STORAGE_ENCRYPTION_ENABLED: 'true' }
const LOOKS_MAXIMUM = 400
const LOOK_MILLISECONDS = 50

/** Creates a bundle as soon as the digest is known, which the server computes beside its work. */
async function createWhenKnown({ apiEndpoint }: ProcessServer, output: string): Promise<Outcome> {
  const environment = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: TOKEN }
  for (let look = 0; ; look += 1) {
    const outcome = await run(['proof', 'create', 'films', 'a/film', '--output', output], { environment })
    if (!outcome.stderr.includes('DIGEST_PENDING') || look >= LOOKS_MAXIMUM) return outcome
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MILLISECONDS)
    })
  }
}

test('a film in encrypted parts, before and after a kill', async (t) => {
  const directory = t.testdir()
  const dataDirectory = join(directory, 'data')
  const [film, before, after] = ['film', 'before.json', 'after.json'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const parts = [largePart(1), largePart(2), Buffer.from('the end')]
  writeFileSync(film, Buffer.concat(parts))
  const first = await startProcess({ dataDirectory, environment: SETTINGS })
  try {
    await createBucket(first, 'films')
    await uploadWhole(first, '/films/a/film', parts)
    t.match(await createWhenKnown(first, before), { exitCode: 0 })
  } finally {
    await first.kill9()
  }
  const second = await startProcess({ dataDirectory, environment: SETTINGS })
  try {
    t.match(await createWhenKnown(second, after), { exitCode: 0 })
  } finally {
    await second.stop()
  }
  const { stdout } = await run(['proof', 'public-key', '--json'], {
    environment: { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') },
  })
  const { public_key: publicKey } = JSON.parse(stdout) as { readonly public_key: string }
  for (const bundle of [before, after]) {
    t.match(await run(['proof', 'verify', film, bundle, '--public-key', publicKey]), { exitCode: 0 })
  }
  const changed = Buffer.concat(parts)
  changed[largePart(1).length]! ^= 1
  writeFileSync(film, changed)
  t.match(await run(['proof', 'verify', film, before, '--public-key', publicKey]), { exitCode: 8 })
})
