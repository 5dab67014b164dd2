/** Describes a statement in words, and finds actions without effect. */
import { ACTIONS, type ActionRow } from '../../../../../build/console-api/actions.ts'
import { actionFault, resourceFault } from '../../../../../engine/access/policy.ts'

const ACTION_NAMES: ReadonlySet<string> = new Set(ACTIONS.map(({ action }) => action))
const RESOURCE_START = 'bucket:'

function isPrefix(pattern: string): boolean {
  return pattern.endsWith('*')
}

function matches(pattern: string, text: string): boolean {
  return isPrefix(pattern) ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

/** Parses typed patterns, separated by lines or commas. */
export function patternsOf(text: string): string[] {
  return text.split(/[\n,]/).flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
}

/** The fault in patterns of actions, by the server's rule; undefined if they are valid. */
export function actionsProblem(patterns: readonly string[]): string | undefined {
  return firstProblem(patterns, (pattern) => actionFault(pattern, ACTION_NAMES))
}

export function resourcesProblem(patterns: readonly string[]): string | undefined {
  return firstProblem(patterns, resourceFault)
}

function firstProblem(
  patterns: readonly string[],
  faultOf: (pattern: string) => string | undefined,
): string | undefined {
  for (const pattern of patterns) {
    const fault = faultOf(pattern)
    if (fault !== undefined) return `${pattern}: ${fault}`
  }
  return undefined
}

/** `s3:Get*` in words. */
export function actionText(pattern: string): string {
  if (!isPrefix(pattern)) return pattern
  const matched = ACTIONS.filter(({ action }) => matches(pattern, action))
  if (matched.length === ACTIONS.length) return 'every action'
  return `${matched.length} actions (${matched.map(({ action }) => action).join(', ')})`
}

/** `bucket:photos/2026/*` in words. */
export function resourceText(pattern: string): string {
  const bare = isPrefix(pattern) ? pattern.slice(0, -1) : pattern
  if (isPrefix(pattern) && RESOURCE_START.startsWith(bare)) return 'everything'
  const [bucket = '', key] = bare.slice(RESOURCE_START.length).split(/\/(.*)/s)
  if (key === undefined) {
    return isPrefix(pattern)
      ? `every bucket whose name begins with ${bucket}, and their objects`
      : `the bucket ${bucket} itself, not its objects`
  }
  if (!isPrefix(pattern)) return `the object ${key} of the bucket ${bucket}`
  return key === ''
    ? `every object of the bucket ${bucket}`
    : `objects of the bucket ${bucket} whose key begins with ${key}`
}

/** Whether a pattern can match a resource of the action's level. */
function canFit({ level }: ActionRow, pattern: string): boolean {
  const hasKey = pattern.includes('/')
  switch (level) {
    case 'service':
      return isPrefix(pattern) && RESOURCE_START.startsWith(pattern.slice(0, -1))
    case 'bucket':
      return !hasKey
    case 'object':
      return hasKey || isPrefix(pattern)
  }
}

const NEEDED: Readonly<Record<ActionRow['level'], string>> = {
  service: 'bucket:*',
  bucket: 'the bucket itself, such as bucket:photos',
  object: 'objects, such as bucket:photos/*',
}

/** Actions without effect: no resource of the statement matches their level. */
export function inVain(actions: readonly string[], resources: readonly string[]): string[] {
  return actions.flatMap((pattern) => {
    const named = ACTIONS.filter(({ action }) => matches(pattern, action))
    if (named.length === 0 || named.some((row) => resources.some((resource) => canFit(row, resource)))) return []
    return [`${pattern} has no effect here: it needs ${NEEDED[(named[0] as ActionRow).level]}.`]
  })
}
