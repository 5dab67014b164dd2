import { Shares } from '../../engine/shares/shares.ts'

/** Turns of this thread at copying bytes between payloads, by account. */
export const copyTurns = new Shares('copy-turns')
