import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { LIFECYCLE_ROUTES } from './routes.ts'

/** In the management plane: the rules of a bucket. */
export const lifecycle: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [{ after: 'GET /api/v1/buckets/{bucket}/cors', routes: LIFECYCLE_ROUTES }],
}
