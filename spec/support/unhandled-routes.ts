/** Available routes that have no handler yet, by `<METHOD> <path>`; they answer 500 until they do. */
export const UNHANDLED_ROUTES: ReadonlySet<string> = new Set()
