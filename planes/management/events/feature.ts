import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { EVENT_ROUTES } from './routes.ts'

/** In the management plane: storage events. */
export const events: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [{ after: 'GET /api/v1/transparency/witness/logs', routes: EVENT_ROUTES }],
}
