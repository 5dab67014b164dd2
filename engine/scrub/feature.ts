import * as changes from './changes.ts'

/** In the engine: reading everything to find damage. */
export const scrub = { changes }
