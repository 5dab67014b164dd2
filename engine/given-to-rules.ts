/** What the engine computes for rules, which import nothing that computes. */
import { checksumOfParts } from './checksum-of-parts.ts'
import { isSignedByBoth } from './transparency/key-handover.ts'

export const GIVEN_TO_RULES = { checksumOfParts, isSignedByBoth }
