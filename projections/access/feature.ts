/** In the projections: the names of its tables. */
export const access = {
  tables: {
    accounts: 'accounts',
    credentials: 'credentials',
    policies: 'policies',
    tokens: 'tokens',
    tokenDigests: 'token-digests',
    accessVersion: 'access-version',
  },
} as const
