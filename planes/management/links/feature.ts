import type { PlacedRoutes } from '../routing/placed-routes.ts'
import { SHARING_ROUTES } from './settings-routes.ts'
import { SHARE_ROUTES } from './share-routes.ts'
import { EMBED_ROUTES } from './embed-routes.ts'

/** In the management plane: shares and embeds. */
export const links: { readonly routes: readonly PlacedRoutes[] } = {
  routes: [
    { after: 'POST /api/v1/verify/buckets/{bucket}', routes: [...SHARING_ROUTES, ...SHARE_ROUTES, ...EMBED_ROUTES] },
  ],
}
