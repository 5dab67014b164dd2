import { features } from '../../features.ts'
import type { Route } from './define-route.ts'
import { withRoutes } from './placed-routes.ts'
import { AUDIT_ROUTES } from '../routes/audit.ts'
import { AUDIT_EXPORT_ROUTES } from '../routes/audit-export.ts'
import { BUCKET_ROUTES } from '../routes/buckets.ts'
import { CORS_ROUTES } from '../routes/cors.ts'
import { DOWNLOAD_ROUTES } from '../routes/downloads.ts'
import { CONTENT_ROUTES } from '../routes/object-content.ts'
import { OBJECT_LIST_ROUTES } from '../routes/object-lists.ts'
import { VERSION_ROUTES } from '../routes/object-versions.ts'
import { OBJECT_ROUTES } from '../routes/objects.ts'
import { PROBE_ROUTES } from '../routes/probes.ts'
import { REPORT_ROUTES } from '../routes/retention.ts'
import { STORAGE_ROUTES } from '../routes/storage.ts'
import { openApiRoute, SYSTEM_ROUTES } from '../routes/system.ts'
import { VERIFY_ROUTES } from '../routes/verify.ts'

const SPINE: readonly Route[] = [
  ...PROBE_ROUTES,
  openApiRoute(() => routeList),
  ...SYSTEM_ROUTES,
  ...BUCKET_ROUTES,
  ...CORS_ROUTES,
  ...OBJECT_LIST_ROUTES,
  ...OBJECT_ROUTES,
  ...CONTENT_ROUTES,
  ...DOWNLOAD_ROUTES,
  ...VERSION_ROUTES,
  ...AUDIT_ROUTES,
  ...AUDIT_EXPORT_ROUTES,
  ...REPORT_ROUTES,
  ...STORAGE_ROUTES,
  ...VERIFY_ROUTES,
]

/** Every route of the management listener, in the order of the pages. Any other path does not exist. */
export const routeList: readonly Route[] = withRoutes(
  SPINE,
  features.flatMap(({ routes }) => routes),
)
