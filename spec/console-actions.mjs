// The actions that a policy can name, for the console: which operations need them, and of what.

function rowOf(action, operations) {
  const needing = operations.filter((one) => one.action === action || one.versionAction === action)
  const covering = needing.find(({ coveredBy }) => coveredBy !== undefined)?.coveredBy
  return {
    action,
    operations: needing.map(({ name }) => name),
    // What only a header asks for is asked of an object.
    level: needing[0]?.level ?? 'object',
    ...(covering === undefined ? {} : { coveredBy: covering }),
  }
}

/** The source of a module with a row for each action. */
export function actionTable(actions, operations) {
  const implemented = operations.filter(({ handle }) => handle !== undefined)
  const rows = [...actions].toSorted().map((action) => rowOf(action, implemented))
  return [
    '/** What a policy can allow or deny. */',
    'export interface ActionRow {',
    '  readonly action: string',
    '  /** Operations of the S3 API that need it; empty for what a header asks for. */',
    '  readonly operations: readonly string[]',
    '  readonly level: "service" | "bucket" | "object"',
    '  /** Another action that grants the same. */',
    '  readonly coveredBy?: string',
    '}',
    '',
    `export const ACTIONS: readonly ActionRow[] = ${JSON.stringify(rows, undefined, 2)}`,
    '',
  ].join('\n')
}
