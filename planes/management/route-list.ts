import type { Route } from './define-route.ts'
import { ACCOUNT_ROUTES } from './access/account-routes.ts'
import { AUDIT_ROUTES } from './routes/audit.ts'
import { AUDIT_EXPORT_ROUTES } from './routes/audit-export.ts'
import { BUCKET_ROUTES } from './routes/buckets.ts'
import { CORS_ROUTES } from './routes/cors.ts'
import { CREDENTIAL_ROUTES } from './access/credential-routes.ts'
import { DOWNLOAD_ROUTES } from './routes/downloads.ts'
import { EMBED_ROUTES } from './links/embed-routes.ts'
import { EVENT_ROUTES } from './events/routes.ts'
import { LIFECYCLE_ROUTES } from './lifecycle/routes.ts'
import { CONTENT_ROUTES } from './routes/object-content.ts'
import { OBJECT_LIST_ROUTES } from './routes/object-lists.ts'
import { VERSION_ROUTES } from './routes/object-versions.ts'
import { OBJECT_ROUTES } from './routes/objects.ts'
import { POLICY_ROUTES } from './access/policy-routes.ts'
import { PROBE_ROUTES } from './routes/probes.ts'
import { PROOF_ROUTES } from './proof/routes.ts'
import { REPORT_ROUTES } from './routes/retention.ts'
import { SHARE_ROUTES } from './links/share-routes.ts'
import { SHARING_ROUTES } from './links/settings-routes.ts'
import { STORAGE_ROUTES } from './routes/storage.ts'
import { openApiRoute, SYSTEM_ROUTES } from './routes/system.ts'
import { TOKEN_ROUTES } from './access/token-routes.ts'
import { TRANSPARENCY_ROUTES } from './checkpoints/routes.ts'
import { VERIFY_ROUTES } from './routes/verify.ts'
import { DELIVERY_ROUTES } from './webhooks/delivery-routes.ts'
import { WEBHOOK_ROUTES } from './webhooks/routes.ts'

/** Every route of the management listener, in the order of the pages. Any other path does not exist. */
export const routeList: readonly Route[] = [
  ...PROBE_ROUTES,
  openApiRoute(() => routeList),
  ...SYSTEM_ROUTES,
  ...TOKEN_ROUTES,
  ...BUCKET_ROUTES,
  ...CORS_ROUTES,
  ...LIFECYCLE_ROUTES,
  ...OBJECT_LIST_ROUTES,
  ...OBJECT_ROUTES,
  ...CONTENT_ROUTES,
  ...DOWNLOAD_ROUTES,
  ...VERSION_ROUTES,
  ...PROOF_ROUTES,
  ...ACCOUNT_ROUTES,
  ...CREDENTIAL_ROUTES,
  ...POLICY_ROUTES,
  ...WEBHOOK_ROUTES,
  ...DELIVERY_ROUTES,
  ...AUDIT_ROUTES,
  ...AUDIT_EXPORT_ROUTES,
  ...TRANSPARENCY_ROUTES,
  ...EVENT_ROUTES,
  ...REPORT_ROUTES,
  ...STORAGE_ROUTES,
  ...VERIFY_ROUTES,
  ...SHARING_ROUTES,
  ...SHARE_ROUTES,
  ...EMBED_ROUTES,
]
