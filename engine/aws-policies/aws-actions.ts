/** Actions of AWS, whose names do not differ by case, as patterns of this store. */

const SERVICE = 's3:'

/** Actions of S3 that are a part of another one here, by their names in lower case. */
const PARTS: readonly (readonly [part: string, whole: string])[] = [
  ['s3:getobjectversion', 's3:GetObject'],
  ['s3:getobjectversionacl', 's3:GetObjectAcl'],
  ['s3:getobjectversionattributes', 's3:GetObjectAttributes'],
  ['s3:putbucketcors', 's3:ManageBucket'],
  ['s3:putbucketobjectlockconfiguration', 's3:ManageBucket'],
  ['s3:putbucketversioning', 's3:ManageBucket'],
  ['s3:putobjectversionacl', 's3:PutObjectAcl'],
]

/** Actions by their names in lower case: the sets of a few callers, which do not change. */
const LOWER = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, string>>()

function byLowerCase(known: ReadonlySet<string>): ReadonlyMap<string, string> {
  let names = LOWER.get(known)
  if (names === undefined) {
    names = new Map([...known].map((action) => [action.toLowerCase(), action]))
    LOWER.set(known, names)
  }
  return names
}

/** A pattern of this store, the action that covers it, or a fault: what comes after the text in a message. */
type TranslatedAction = { readonly pattern: string } | { readonly partOf: string } | { readonly fault: string }

/**
 * One action of a document.
 * @param text such as `s3:getobject`, or with a wildcard at its end
 * @param known every action of this store
 */
export function translatedAction(text: string, known: ReadonlySet<string>): TranslatedAction {
  if (text === '*') return { pattern: `${SERVICE}*` }
  const isPrefix = text.endsWith('*')
  const wanted = (isPrefix ? text.slice(0, -1) : text).toLowerCase()
  if (!wanted.startsWith(SERVICE)) return { fault: 'is not an action of S3' }
  if (/[*?]/.test(wanted)) return { fault: 'has a wildcard that is not a * at its end, which is not supported' }
  const names = byLowerCase(known)
  if (!isPrefix) {
    const found = names.get(wanted)
    if (found !== undefined) return { pattern: found }
    const whole = PARTS.find(([part]) => part === wanted)?.[1]
    return whole === undefined ? { fault: 'is not an action of this server' } : { partOf: whole }
  }
  const starts = new Set<string>()
  for (const [lower, action] of names) if (lower.startsWith(wanted)) starts.add(action.slice(0, wanted.length))
  const [start, ...others] = starts
  if (start === undefined) return { fault: 'begins no action of this server' }
  return others.length === 0 ? { pattern: `${start}*` } : { fault: 'begins actions that differ by case' }
}

/** Actions that are a part of another one here, among those that a pattern of a denial covers: each with the other one. */
export function wholesOf(pattern: string): readonly string[] {
  const start = pattern.toLowerCase()
  if (!start.endsWith('*')) return []
  return PARTS.filter(([part]) => part.startsWith(start.slice(0, -1))).map(([, whole]) => whole)
}
