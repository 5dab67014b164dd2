/**
 * Every error of the management listener, one row each. The codes are part of the interface: none is ever reused for
 * something else. spec/planes/management.spec.ts holds each row against what the listener answers.
 */
export const managementErrors = {
  NOT_FOUND: { status: 404, sentence: 'There is nothing at this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    sentence: 'This path does not take this method; the Allow header names those it takes.',
  },
  METRICS_CLOSED: {
    status: 403,
    sentence: 'The metrics are closed, because no scrape token is configured (OBJECT_STORE_METRICS_SCRAPE_TOKEN).',
  },
  UNAUTHENTICATED: { status: 401, sentence: 'The credential is missing or not valid.' },
  INTERNAL_ERROR: { status: 500, sentence: 'The server failed; the log has the details under this request id.' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly sentence: string }>>

export type ManagementErrorCode = keyof typeof managementErrors
