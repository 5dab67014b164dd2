/** The fault and its place, without the lines around it that the TOML reader adds: they may contain a secret. */
export function tomlProblem(error: unknown): string {
  const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
  const place = error instanceof Error && 'line' in error && 'column' in error
  const where = place ? ` in line ${String(error.line)}, column ${String(error.column)}` : ''
  return `invalid TOML${where}: ${reason.replace(/^Invalid TOML document: /, '')}`
}
