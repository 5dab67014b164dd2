/** Available routes that have no handler yet, by `<METHOD> <path>`; they answer 500 until they do. */
export const UNHANDLED_ROUTES: ReadonlySet<string> = new Set(
  ['events', 'chain', 'export', 'export/manifest'].map((name) => `GET /api/v1/audit/${name}`),
).add('GET /api/v1/reports/retention')
