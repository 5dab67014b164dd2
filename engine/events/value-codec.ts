import {
  type CorsRule,
  type DefaultRetention,
  type LockState,
  type PayloadReference,
  RETENTION_MODES,
  type Retention,
  type VersionPlace,
} from './changes.ts'

/** The stored forms of the values that changes are made of (spec/formats/journal.md). */

const PAYLOAD_KIND = { shared: 0, volume: 1, file: 2 } as const

/** The flag at the end is left out of what is not sealed, as it was before payloads could be. */
export function encodePayload(payload: PayloadReference | undefined): unknown {
  if (payload === undefined) return null
  switch (payload.kind) {
    case 'shared':
      return [PAYLOAD_KIND.shared, payload.payload]
    case 'volume': {
      const { volume, offset, length, checksum } = payload
      const fields = [PAYLOAD_KIND.volume, payload.payload, volume, offset, length, checksum]
      return payload.sealed ? [...fields, true] : fields
    }
    case 'file': {
      const fields = [PAYLOAD_KIND.file, payload.payload, payload.name, payload.length]
      return payload.sealed ? [...fields, true] : fields
    }
  }
}

export function decodePayload(stored: unknown): PayloadReference | undefined {
  if (stored === null) return undefined
  const fields = stored as [kind: number, payload: number, ...rest: unknown[]]
  const payload = fields[1]
  switch (fields[0]) {
    case PAYLOAD_KIND.shared:
      return { kind: 'shared', payload }
    case PAYLOAD_KIND.volume: {
      const [, , volume, offset, length, checksum] = fields as number[]
      return {
        kind: 'volume',
        payload,
        volume: volume as number,
        offset: offset as number,
        length: length as number,
        checksum: checksum as number,
        sealed: fields[6] === true,
      }
    }
    case PAYLOAD_KIND.file:
      return {
        kind: 'file',
        payload,
        name: fields[2] as string,
        length: fields[3] as number,
        sealed: fields[4] === true,
      }
    default:
      throw new Error(`unknown payload kind ${fields[0]}`)
  }
}

/** `[mode, until]`, the mode by its place in `RETENTION_MODES`. */
type StoredRetention = readonly [mode: number, untilMilliseconds: number]
/** `[retention, hold]`. */
export type StoredLock = readonly [retention: StoredRetention | null, hold: boolean | null]

function modeOf(stored: number): Retention['mode'] {
  const mode = RETENTION_MODES[stored]
  if (mode === undefined) throw new Error(`unknown retention mode ${stored}`)
  return mode
}

export function encodeLock(lock: LockState): StoredLock {
  const { retention, hold } = lock
  const stored: StoredRetention | null =
    retention === undefined ? null : [RETENTION_MODES.indexOf(retention.mode), retention.untilMilliseconds]
  return [stored, hold ?? null]
}

export function decodeLock([retention, hold]: StoredLock): LockState {
  return {
    retention: retention === null ? undefined : { mode: modeOf(retention[0]), untilMilliseconds: retention[1] },
    hold: hold ?? undefined,
  }
}

/** `[mode, in years, value]`. */
export type StoredDefaultRetention = readonly [mode: number, years: boolean, value: number]

export function encodeDefaultRetention({ mode, unit, value }: DefaultRetention): StoredDefaultRetention {
  return [RETENTION_MODES.indexOf(mode), unit === 'years', value]
}

export function decodeDefaultRetention([mode, years, value]: StoredDefaultRetention): DefaultRetention {
  return { mode: modeOf(mode), unit: years ? 'years' : 'days', value }
}

/** `[id, origins, methods, headers, exposed, maximum age]`. */
export type StoredCorsRule = readonly [
  id: string | null,
  origins: readonly string[],
  methods: readonly string[],
  headers: readonly string[],
  exposed: readonly string[],
  maxAgeSeconds: number | null,
]

export function encodeCorsRules(rules: readonly CorsRule[]): StoredCorsRule[] {
  return rules.map((rule) => [
    rule.id ?? null,
    rule.origins,
    rule.methods,
    rule.headers,
    rule.exposed,
    rule.maxAgeSeconds ?? null,
  ])
}

export function decodeCorsRules(stored: readonly StoredCorsRule[]): CorsRule[] {
  return stored.map(([id, origins, methods, headers, exposed, maxAge]) => ({
    id: id ?? undefined,
    origins,
    methods,
    headers,
    exposed,
    maxAgeSeconds: maxAge ?? undefined,
  }))
}

/** What may be left out or null in the stored form is undefined in the program. */
export function optional<S, T>(stored: S | null | undefined, decode: (stored: S) => T): T | undefined {
  return stored === null || stored === undefined ? undefined : decode(stored)
}

export function encodePlace({ isNull, replacesNull }: VersionPlace): readonly [boolean, number] {
  return [isNull, replacesNull]
}

export function decodePlace([isNull, replacesNull]: readonly [boolean, number]): VersionPlace {
  return { isNull, replacesNull }
}
