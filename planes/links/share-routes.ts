import type { ShareServices } from './services.ts'
import type { SharingRoute } from './sharing-route.ts'
import { shareContent } from './share-content.ts'
import { sharePage } from './share-page.ts'
import { shareUnlock } from './share-unlock.ts'

/** Every route of shares. */
export const SHARE_ROUTES: readonly SharingRoute<ShareServices>[] = [sharePage, shareUnlock, shareContent]
