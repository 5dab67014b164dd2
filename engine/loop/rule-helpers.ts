/** Computations passed to the rules, which stay free of imports. */
import { hash } from 'node:crypto'
import { features } from '../features.ts'
import { checksumOfParts } from '../hashing/checksum-of-parts.ts'
import { merged } from '../merged.ts'

const SPINE_HELPERS = {
  checksumOfParts,
  md5: (text: string): string => hash('md5', text, 'hex'),
}

type Helpers = typeof SPINE_HELPERS | (typeof features)[number]['helpers']

export const ruleHelpers = merged<Helpers>([SPINE_HELPERS, ...features.map(({ helpers }) => helpers)])
