/** Proofs of a server as it is started: encrypted, in parts that it digests itself, over a kill and a restart. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { largePart, uploadWhole } from '../support/multipart.ts'
import { startProcess, type ProcessServer } from '../support/server-process.ts'
import { MASTER_KEY } from '../support/test-clients.ts'
import { createBucket } from '../support/wire-versions.ts'
import { type Outcome, run } from './command-runner.ts'

const TOKEN = 'a-management-token-of-the-specs-0123'
const SETTINGS = { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN, OBJECT_STORE_STORAGE_ENCRYPTION_ENABLED: 'true' }
const LOOKS_MAXIMUM = 400
const LOOK_MILLISECONDS = 50

/** Creates a bundle as soon as the digest is known, which the server computes beside its work. */
async function create({ apiEndpoint }: ProcessServer, output: string): Promise<Outcome> {
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
    t.match(await create(first, before), { exitCode: 0 })
  } finally {
    await first.kill9()
  }
  const second = await startProcess({ dataDirectory, environment: SETTINGS })
  try {
    t.match(await create(second, after), { exitCode: 0 })
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
