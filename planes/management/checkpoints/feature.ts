import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { TRANSPARENCY_ROUTES } from './routes.ts'

/** In the management plane: the log of checkpoints and what others said about it. */
export const checkpoints: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [{ after: 'GET /api/v1/audit/export/manifest', routes: TRANSPARENCY_ROUTES }],
}
