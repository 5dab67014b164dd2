/** Computations passed to the rules, which stay free of imports. */
import { hash } from 'node:crypto'
import { checksumOfParts } from '../hashing/checksum-of-parts.ts'
import { isSignedByBoth } from '../checkpoints/key-handover.ts'

function md5(text: string): string {
  return hash('md5', text, 'hex')
}

export const ruleHelpers = { checksumOfParts, isSignedByBoth, md5 }
