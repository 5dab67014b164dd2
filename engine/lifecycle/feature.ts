import * as changes from './changes.ts'

/** In the engine: what expires by age. */
export const lifecycle = { changes }
