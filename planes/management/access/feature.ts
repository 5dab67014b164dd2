import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { TOKEN_ROUTES } from './token-routes.ts'
import { ACCOUNT_ROUTES } from './account-routes.ts'
import { CREDENTIAL_ROUTES } from './credential-routes.ts'
import { POLICY_ROUTES } from './policy-routes.ts'

/** In the management plane: tokens, accounts with their credentials, and policies. */
export const access: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [
    { after: 'GET /api/v1/auth/session', routes: TOKEN_ROUTES },
    {
      after: 'GET /api/v1/buckets/{bucket}/object-proof/{key}',
      routes: [...ACCOUNT_ROUTES, ...CREDENTIAL_ROUTES, ...POLICY_ROUTES],
    },
  ],
}
