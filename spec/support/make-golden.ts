/**
 * Makes a golden journal. Run by hand and once: `node build/spec/support/make-golden.js journal-v2 <empty directory>`.
 * What it made is history; a later version of the program must read it, so it is never made again after a release.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { GOLDEN_LIVES } from './golden-lives.ts'
import { makeGolden } from './golden-maker.ts'

const [name, target] = parseArgs({ allowPositionals: true }).positionals
const life = GOLDEN_LIVES[name ?? '']
if (life === undefined || target === undefined) {
  throw new Error(`name one of ${Object.keys(GOLDEN_LIVES).join(', ')} and the directory to make`)
}
const root = mkdtempSync(join(tmpdir(), 'golden-'))
const expected = await makeGolden(root, life)
mkdirSync(join(target, 'journal'), { recursive: true })
for (const file of readdirSync(join(root, 'journal'))) {
  copyFileSync(join(root, 'journal', file), join(target, 'journal', file))
}
writeFileSync(join(target, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
rmSync(root, { recursive: true })
