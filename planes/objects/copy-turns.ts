import { Shares } from '../../engine/shares/shares.ts'

/** The turns of this thread at moving bytes from one payload to another, by account. */
export const copyTurns = new Shares('copy-turns')
