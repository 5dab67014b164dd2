/** What elements of policies of AWS are made of: texts, resources and principals. */

/** Bounds of the policies of this store, which hold for translated ones. */
export const VALUES_MAXIMUM = 100
export const RESOURCE_LENGTH_MAXIMUM = 1152
/** Of a name of the document in a message. */
const SHOWN_LENGTH = 64

export const ARN = 'arn:aws:s3:::'
const USER_ARN = /^arn:aws:iam::[0-9]*:user\/(?<name>.+)$/

/** A part of a document that cannot be translated. */
export class AwsPolicyError extends Error {
  override readonly name = 'AwsPolicyError'
  /** Such as `Statement[1] (Sid "read").Action`. */
  readonly place: string
  readonly detail: string

  constructor(place: string, detail: string) {
    super(`${place}: ${detail}`)
    this.place = place
    this.detail = detail
  }
}

export type Members = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text, or a list of texts, each with its place. */
export function textsOf(value: unknown, place: string): (readonly [text: string, place: string])[] {
  if (value === undefined) throw new AwsPolicyError(place, 'is missing')
  const isList = Array.isArray(value)
  const list: readonly unknown[] = isList ? value : [value]
  if (list.length === 0 || list.length > VALUES_MAXIMUM) {
    throw new AwsPolicyError(place, `has 1 to ${VALUES_MAXIMUM} values`)
  }
  return list.map((text, index) => {
    const at = isList ? `${place}[${index}]` : place
    if (typeof text !== 'string') throw new AwsPolicyError(at, 'is a text')
    return [text, at]
  })
}

/** What follows `arn:aws:s3:::`, with a wildcard at the end or none. */
export function arnRest(text: string, place: string): string {
  const refuse = (detail: string): never => {
    throw new AwsPolicyError(place, `${JSON.stringify(shown(text))} ${detail}`)
  }
  if (!text.startsWith(ARN) || text.length === ARN.length) return refuse(`is not ${ARN}BUCKET or ${ARN}BUCKET/KEY`)
  if (text.length > ARN.length + RESOURCE_LENGTH_MAXIMUM) return refuse('is too long')
  const rest = text.slice(ARN.length)
  const fault = wildcardFault(rest)
  return fault === undefined ? rest : refuse(fault)
}

/** The beginning of a policy variable. */
const VARIABLE = '\u{24}{'

export function wildcardFault(pattern: string): string | undefined {
  if (pattern.includes(VARIABLE)) return 'has a policy variable, which is not supported'
  if (pattern.includes('?')) return 'has the wildcard ?, which is not supported'
  return pattern.slice(0, -1).includes('*')
    ? 'has a wildcard that is not at its end, which is not supported'
    : undefined
}

/** The id of the account that a text of the document names; undefined when it names none, or more than one. */
export type AccountOf = (name: string) => string | undefined

/** Ids of accounts; undefined for everyone. */
export function principalsOf(value: unknown, place: string, accountOf: AccountOf): readonly string[] | undefined {
  if (value === '*') return undefined
  if (!isObject(value)) throw new AwsPolicyError(place, 'is "*" or {"AWS": [accounts of this store]}')
  for (const name of Object.keys(value)) {
    if (name === 'AWS') continue
    throw new AwsPolicyError(
      `${place}.${shown(name)}`,
      'is not supported: the principals of this store are accounts, in AWS',
    )
  }
  const named = textsOf(value['AWS'], `${place}.AWS`)
  const ids = named.filter(([text]) => text !== '*').map(([text, at]) => accountIn(text, at, accountOf))
  return ids.length < named.length ? undefined : [...new Set(ids)]
}

function accountIn(text: string, place: string, accountOf: AccountOf): string {
  const isArn = text.startsWith('arn:')
  const name = isArn ? USER_ARN.exec(text)?.groups?.['name'] : text
  const found = name === undefined ? undefined : accountOf(name)
  if (found !== undefined) return found
  const detail = text.endsWith(':root')
    ? 'is not supported: root is held against no policy; name service accounts'
    : 'does not name exactly one service account of this store, by name or id'
  throw new AwsPolicyError(place, `${JSON.stringify(shown(text))} ${detail}`)
}

export function shown(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}...`
}
