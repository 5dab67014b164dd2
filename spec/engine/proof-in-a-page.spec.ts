/** The verifier runs where there is no Node.js: a page is to verify bundles by the same code as the command line. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import { BROKEN, VALID } from '../support/proof-goldens.ts'
import { bundleBytes, GOLDEN_DIGEST, GOLDEN_FILE, GOLDEN_PUBLIC_KEY } from '../support/proof-statements.ts'
import { importsOf } from '../tidy/imports.ts'
import { fileOf } from '../tidy/project-files.ts'

const FOLDER = 'engine/proof'
const REALM = new URL('../support/page-realm.js', import.meta.url)
const VERIFIER = fileURLToPath(new URL('../../engine/proof/verify-bundle.js', import.meta.url))

test('no module of it imports anything that only Node.js has', async (t) => {
  const imports = readdirSync(FOLDER).flatMap((name) => {
    const path = join(FOLDER, name)
    return importsOf(fileOf(path, readFileSync(path, 'utf8')))
  })
  const others = new Set(imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('./')))
  t.same([...others].toSorted(), ['@noble/ed25519', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'])
})

test('it judges every golden bundle in a realm with the globals of a page and no others', async (t) => {
  const bundles = [...Object.values(VALID).map(bundleBytes), ...Object.values(BROKEN)]
  const worker = new Worker(REALM, {
    execArgv: ['--experimental-vm-modules', '--no-warnings'],
    workerData: {
      verifier: VERIFIER,
      bundles,
      publicKey: GOLDEN_PUBLIC_KEY,
      file: { sha256: GOLDEN_DIGEST, size: GOLDEN_FILE.length },
    },
  })
  const { verdicts, globals } = await new Promise<{ verdicts: string[]; globals: string[] }>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
  })
  t.same(
    globals,
    ['process', 'Buffer', 'require', 'global', 'setTimeout'].map(() => 'undefined'),
  )
  const expected = JSON.parse(readFileSync('spec/golden/proof-v1/expected.json', 'utf8')) as Record<
    'valid' | 'broken',
    Record<string, { readonly verdict: string }>
  >
  const wanted = [
    ...Object.keys(VALID).map((name) => expected.valid[name]?.verdict),
    ...Object.keys(BROKEN).map((name) => expected.broken[name]?.verdict),
  ]
  t.same(verdicts, wanted)
})
