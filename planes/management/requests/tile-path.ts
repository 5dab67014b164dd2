import type { TileName } from '../../../projections/checkpoints/checkpoint-log.ts'

/** `0/x001/067`, `entries/000.p/5`: C2SP tlog-tiles, "Merkle Tree" and "Log Entries". */
const TILE = /^(?<level>\d{1,2}|entries)\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>\d{1,3}))?$/
const LEVEL_MAXIMUM = 5
const WIDTH = 256
/** Of the groups of three digits: 256 * 10^12 records are beyond what the trees hold. */
const GROUPS_MAXIMUM = 4

/** The tile of a path; undefined for any other text, and for a number with needless zeros. */
export function tileOfPath(path: string): TileName | undefined {
  const { level = '', index = '', width } = TILE.exec(path)?.groups ?? {}
  const groups = index.split('/')
  if (level === '' || groups.length > GROUPS_MAXIMUM || groups[0] === 'x000') return undefined
  const number = Number(groups.map((group) => group.replace('x', '')).join(''))
  const hashes = width === undefined ? WIDTH : Number(width)
  if (hashes < 1 || (width !== undefined && (hashes >= WIDTH || width.startsWith('0')))) return undefined
  if (level === 'entries') return { level, index: number, width: hashes }
  const height = Number(level)
  return height > LEVEL_MAXIMUM || String(height) !== level
    ? undefined
    : { level: height, index: number, width: hashes }
}

/** The path of a tile, as above. */
export function pathOfTile({ level, index, width }: TileName): string {
  const groups: string[] = []
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1000)) {
    const digits = String(rest % 1000).padStart(3, '0')
    groups.unshift(groups.length === 0 ? digits : `x${digits}`)
  }
  return `${level}/${groups.join('/')}${width === WIDTH ? '' : `.p/${width}`}`
}
