/** The golden proof bundles by name: valid ones, and ones that lie, most of them with a good signature. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProofBundle } from '../../../engine/proof/bundle-types.ts'

export const GOLDEN_BUNDLES = 'spec/golden/proof-v1'

function filesIn(folder: 'valid' | 'broken'): Record<string, Buffer> {
  const names = readdirSync(join(GOLDEN_BUNDLES, folder)).toSorted()
  return Object.fromEntries(
    names.map((name) => [name.replace('.json', ''), readFileSync(join(GOLDEN_BUNDLES, folder, name))]),
  )
}

const parsed = Object.entries(filesIn('valid')).map(([name, bytes]) => [name, JSON.parse(String(bytes)) as ProofBundle])

export const VALID = Object.fromEntries(parsed) as Readonly<Record<string, ProofBundle>>
export const BROKEN: Readonly<Record<string, Buffer>> = filesIn('broken')
