import type { Route } from './address.ts'

/** The values of the `:name` parts of its pattern, and the query. */
export interface ScreenProps {
  readonly values: Readonly<Record<string, string>>
  readonly query: Route['query']
}
