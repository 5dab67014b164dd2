/**
 * Deciding by policies (specification, Policy): an explicit deny wins, and without an allow everything is denied. A
 * pattern may end with `*`; everything before it is compared byte for byte with the canonical decoded name.
 */

/** A statement as it is recorded and sent. The console decides by this file as well, so it imports nothing. */
interface Statement {
  readonly effect: 'allow' | 'deny'
  readonly actions: readonly string[]
  readonly resources: readonly string[]
}

/** A pattern parsed once, so that a decision is a few comparisons. */
interface Pattern {
  readonly text: string
  readonly isPrefix: boolean
}

interface CompiledStatement {
  /** Its place among the statements that were given. */
  readonly index: number
  readonly denies: boolean
  readonly actions: readonly Pattern[]
  readonly resources: readonly Pattern[]
}

/** The policies of one principal, ready for decisions. */
export interface CompiledPolicies {
  readonly statements: readonly CompiledStatement[]
}

function compilePattern(pattern: string): Pattern {
  return pattern.endsWith('*') ? { text: pattern.slice(0, -1), isPrefix: true } : { text: pattern, isPrefix: false }
}

/** Denials come first: the first statement that matches decides. */
export function compilePolicies(statements: readonly Statement[]): CompiledPolicies {
  const compiled = statements.map(({ effect, actions, resources }, index) => ({
    index,
    denies: effect === 'deny',
    actions: actions.map(compilePattern),
    resources: resources.map(compilePattern),
  }))
  return { statements: compiled.toSorted((left, right) => Number(right.denies) - Number(left.denies)) }
}

/** Several policies as one: a denial of any comes before an allow of any. */
export function joinedPolicies(...policies: readonly CompiledPolicies[]): CompiledPolicies {
  const all = policies.flatMap(({ statements }) => statements)
  return { statements: [...all.filter(({ denies }) => denies), ...all.filter(({ denies }) => !denies)] }
}

function fits(patterns: readonly Pattern[], name: string): boolean {
  for (const { text, isPrefix } of patterns) if (isPrefix ? name.startsWith(text) : name === text) return true
  return false
}

/**
 * The statement that decides; undefined when none speaks of it, and it is denied.
 * @param action such as `s3:GetObject`
 * @param resource `bucket:<name>`, `bucket:<name>/<key>`, or `bucket:*` for the service as a whole
 * @param coveredBy another action; allowing it allows this one, denying it does not deny this one
 */
export function decidingStatement(
  { statements }: CompiledPolicies,
  action: string,
  resource: string,
  coveredBy?: string,
): CompiledStatement | undefined {
  for (const statement of statements) {
    const { denies, actions, resources } = statement
    const covers = !denies && coveredBy !== undefined && fits(actions, coveredBy)
    if ((covers || fits(actions, action)) && fits(resources, resource)) return statement
  }
  return undefined
}

/** Whether policies allow an action; parameters as for `decidingStatement`. */
export function isAllowed(policies: CompiledPolicies, action: string, resource: string, coveredBy?: string): boolean {
  return decidingStatement(policies, action, resource, coveredBy)?.denies === false
}

/**
 * Whether policies allow an action on all keys with a common beginning: one wildcard covers them, and no denial speaks of
 * any of them.
 * @param beginning `bucket:<name>/<beginning>`
 */
export function listsKeysFrom({ statements }: CompiledPolicies, action: string, beginning: string): boolean {
  const covers = ({ text, isPrefix }: Pattern) => isPrefix && beginning.startsWith(text)
  const meets = (pattern: Pattern) => covers(pattern) || pattern.text.startsWith(beginning)
  for (const { denies, actions, resources } of statements) {
    if (fits(actions, action) && resources.some(denies ? meets : covers)) return !denies
  }
  return false
}

const RESOURCE_START = 'bucket:'

/**
 * The fault of a pattern of a policy; undefined for a valid pattern.
 * @param actions every action there is
 */
export function actionFault(pattern: string, actions: ReadonlySet<string>): string | undefined {
  const { text, isPrefix } = compilePattern(pattern)
  if (text.includes('*')) return 'a wildcard is allowed only at the end'
  if (!isPrefix) return actions.has(text) ? undefined : 'unknown action'
  for (const action of actions) if (action.startsWith(text)) return undefined
  return 'no action begins like this'
}

export function resourceFault(pattern: string): string | undefined {
  const { text, isPrefix } = compilePattern(pattern)
  if (text.includes('*')) return 'a wildcard is allowed only at the end'
  if (isPrefix && RESOURCE_START.startsWith(text)) return undefined
  if (!text.startsWith(RESOURCE_START)) return 'a resource begins with bucket:'
  if (text === RESOURCE_START && !isPrefix) return 'a resource names a bucket'
  return undefined
}
