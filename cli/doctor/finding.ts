/** What one check of the doctor found. A warning is worth a look; a failure keeps the server from working. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  /** One sentence; never a secret. */
  readonly detail: string
}

/** A check that passes, warns, or fails by throwing. */
export async function findingOf(
  check: string,
  look: () => string | Omit<Finding, 'check'> | Promise<string | Omit<Finding, 'check'>>,
): Promise<Finding> {
  try {
    const found = await look()
    return typeof found === 'string' ? { check, status: 'ok', detail: found } : { check, ...found }
  } catch (error) {
    return { check, status: 'failed', detail: error instanceof Error ? error.message : String(error) }
  }
}
