/** The form of the lines of a manifest (spec/formats/backup.md), of which the reader believes nothing else. */
import { sequenceOf } from '../../engine/brands.ts'
import {
  FormError,
  integer,
  type Kind,
  optional,
  refuse,
  sequence,
  text,
  textOf,
  type ValueOf,
  volumeNumber,
  whole,
} from '../../engine/events/schema/kinds.ts'
import { isPayloadName } from '../../engine/payloads/payload-ids.ts'

const SHA256 = textOf('64 hexadecimal digits', (value) => /^[0-9a-f]{64}$/.test(value))
const DEPLOYMENT_ID = textOf('32 hexadecimal digits', (value) => /^[0-9a-f]{32}$/.test(value))
const MADE = textOf('time in UTC from 1970 on', isTime)
const FILE_NAME = textOf('name of a payload file', isPayloadName)
/** A batch ends after the header of its segment. */
const OFFSET = whole<number>('offset', Number.MAX_SAFE_INTEGER, 256)

function isTime(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/.test(value) && Date.parse(value) >= 0
}

type Kinds = Readonly<Record<string, Kind<unknown>>>
type Values<K extends Kinds> = { readonly [N in keyof K]: ValueOf<K[N]> }

/** An object with these members; others are passed over. */
function objectOf<K extends Kinds>(page: string, kinds: K): Pick<Kind<Values<K>>, 'decode'> {
  return {
    decode: (stored, where) => {
      if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return refuse(where, page, stored)
      const members = stored as Readonly<Record<string, unknown>>
      const values = Object.entries(kinds).map(([name, kind]) => [name, kind.decode(members[name], `${where} ${name}`)])
      return Object.fromEntries(values) as Values<K>
    },
  }
}

const POINT = objectOf('point', {
  sequence,
  hash: SHA256,
  batch: whole<number>('batch number'),
  segment: sequence,
  offset: optional(OFFSET),
})
const HEAD = objectOf('object', { previous: optional(SHA256), made: MADE, deployment_id: DEPLOYMENT_ID })
const FILE = objectOf('object', { file: FILE_NAME, bytes: integer, sha256: SHA256 })
const VOLUME = objectOf('object', { volume: volumeNumber, bytes: integer })
const MISSING = objectOf('object', { missing: text })

/** The first line of a manifest, but for its format, version and number. @throws FormError */
export function decodeHead(line: unknown) {
  const { previous, made, deployment_id: deploymentId } = HEAD.decode(line, 'manifest')
  const { point: stored } = line as { readonly point?: unknown }
  const { offset, ...point } = POINT.decode(stored, 'point')
  if (point.segment > point.sequence) {
    throw new FormError(`point: its segment begins with ${point.segment}, after record ${point.sequence}`)
  }
  return {
    previous,
    made,
    deploymentId,
    point: { ...point, segment: sequenceOf(point.segment), offset: offset ?? null },
  }
}

/** Another line of a manifest. @throws FormError */
export function decodeAddition(line: unknown) {
  const members = (typeof line === 'object' && line !== null ? line : {}) as Readonly<Record<string, unknown>>
  if (members['file'] !== undefined) return FILE.decode(line, 'file')
  if (members['volume'] !== undefined) return VOLUME.decode(line, 'volume')
  return MISSING.decode(line, 'line')
}
