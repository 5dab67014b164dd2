import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { PROOF_ROUTES } from './routes.ts'

/** In the management plane: bundles that prove an object. */
export const proof: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [{ after: 'POST /api/v1/restore/{bucket}/{key}', routes: PROOF_ROUTES }],
}
