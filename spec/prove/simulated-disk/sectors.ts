/** The unit in which a medium takes or loses what is written. */
export const SECTOR_BYTES = 512

/** The bytes of a sector, never changed once made; undefined is one of zeros. */
export type Sector = Buffer | undefined

const ZEROS = Buffer.alloc(SECTOR_BYTES)

/** A sector with a copy of so many bytes as one has. */
export function sectorOf(bytes: Uint8Array): Sector {
  return ZEROS.equals(bytes) ? undefined : Buffer.from(bytes)
}

export function sectorsEqual(left: Sector, right: Sector): boolean {
  if (left === right) return true
  return left !== undefined && right !== undefined && left.equals(right)
}

/** A sector of bytes that mean nothing. */
export const JUNK: Sector = Buffer.alloc(SECTOR_BYTES, 0xa5)
