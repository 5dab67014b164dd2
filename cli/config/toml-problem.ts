/** The message of the TOML reader goes on with the lines around the fault, and those may hold a secret. */
export function tomlProblem(error: unknown): string {
  const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
  const place = error instanceof Error && 'line' in error && 'column' in error
  const where = place ? ` in line ${String(error.line)}, column ${String(error.column)}` : ''
  return `no valid TOML${where}: ${reason.replace(/^Invalid TOML document: /, '')}`
}
