import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { CLOCK_ROUTES } from './routes.ts'

/** In the management plane: setting a wrong time of the journal back. */
export const clock: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [{ after: 'GET /api/v1/system/metrics/history', routes: CLOCK_ROUTES }],
}
