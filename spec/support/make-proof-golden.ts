/**
 * Makes spec/golden/proof-v1: `node build/spec/support/make-proof-golden.js <directory>`. A spec holds what is made
 * against what is there: bundles that were given out must verify for ever, so what is there is never changed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { canonicalBytes } from '../../engine/proof/canonical.ts'
import { verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { BROKEN, VALID } from './proof-goldens.ts'
import { bundleBytes, GOLDEN_DIGEST, GOLDEN_FILE, GOLDEN_PUBLIC_KEY, unsignedOf } from './proof-statements.ts'

async function statuses(bytes: Uint8Array): Promise<unknown> {
  const { verdict, checks } = await verifyBundle(bytes, {
    expectedPublicKey: GOLDEN_PUBLIC_KEY,
    digestFile: async () => ({ sha256: GOLDEN_DIGEST, size: GOLDEN_FILE.length }),
  })
  return { verdict, checks: Object.fromEntries(checks.map(({ name, status }) => [name, status])) }
}

const [target] = parseArgs({ allowPositionals: true }).positionals
if (target === undefined) throw new Error('name the directory to make')
const valid: Record<string, unknown> = {}
const broken: Record<string, unknown> = {}
for (const folder of ['valid', 'broken']) mkdirSync(join(target, folder), { recursive: true })
for (const [name, bundle] of Object.entries(VALID)) {
  const bytes = bundleBytes(bundle)
  writeFileSync(join(target, 'valid', `${name}.json`), bytes)
  const canonical = Buffer.from(canonicalBytes(unsignedOf(bundle))).toString('hex')
  valid[name] = { canonical, ...((await statuses(bytes)) as object) }
}
for (const [name, bytes] of Object.entries(BROKEN)) {
  writeFileSync(join(target, 'broken', `${name}.json`), bytes)
  broken[name] = await statuses(bytes)
}
writeFileSync(join(target, 'file.txt'), GOLDEN_FILE)
const expected = { public_key: GOLDEN_PUBLIC_KEY, valid, broken }
writeFileSync(join(target, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
