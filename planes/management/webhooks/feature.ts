import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { WEBHOOK_ROUTES } from './routes.ts'
import { DELIVERY_ROUTES } from './delivery-routes.ts'

/** In the management plane: webhooks and their deliveries. */
export const webhooks: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [
    {
      after: 'DELETE /api/v1/policies/{policy_id}/bindings/{account_id}',
      routes: [...WEBHOOK_ROUTES, ...DELIVERY_ROUTES],
    },
  ],
}
