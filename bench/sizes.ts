/** Sizes and numbers that several scenarios share. */

export const SMALL_BYTES = 4096

export const ALL_CONNECTIONS = [1, 8, 32, 128] as const
/** Where most bars are. */
export const USUAL_CONNECTIONS = 32

/** Objects of a small bucket. */
export function bucketObjects(quick: boolean): number {
  return quick ? 2000 : 10_000
}

/** `1 connection`, `8 connections`. */
export function connectionsText(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`
}
