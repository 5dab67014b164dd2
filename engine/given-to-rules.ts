/** What the engine computes for rules, which import nothing that computes. */
import { hash } from 'node:crypto'
import { checksumOfParts } from './checksum-of-parts.ts'
import { isSignedByBoth } from './transparency/key-handover.ts'

function md5(text: string): string {
  return hash('md5', text, 'hex')
}

export const GIVEN_TO_RULES = { checksumOfParts, isSignedByBoth, md5 }
