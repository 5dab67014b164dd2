/** The result of one check. A failure keeps the server from working; a warning does not. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  /** One sentence; never a secret. */
  readonly detail: string
}

/** Runs a check, which passes, warns, or fails by throwing. */
export async function findingOf(
  check: string,
  run: () => string | Omit<Finding, 'check'> | Promise<string | Omit<Finding, 'check'>>,
): Promise<Finding> {
  try {
    const found = await run()
    return typeof found === 'string' ? { check, status: 'ok', detail: found } : { check, ...found }
  } catch (error) {
    return { check, status: 'failed', detail: error instanceof Error ? error.message : String(error) }
  }
}
