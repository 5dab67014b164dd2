import { randomBytes } from 'node:crypto'
import type { OpenStore } from '../cli/server/store/opened-store.ts'
import type { AuditContext } from '../engine/events/audit.ts'

/** Commands in flight at once, which share a sync. */
export const COMMANDS_IN_FLIGHT = 2048

/** As a front end describes such a request, so that records have their usual length. */
export function auditOf(method: 'PUT' | 'POST', api: string, resource: string): AuditContext {
  return {
    principal: 'system:root',
    credentialId: 'BENCHFILL',
    sourceAddress: '127.0.0.1',
    requestId: randomBytes(8).toString('hex').toUpperCase(),
    operation: `s3:${method}`,
    resource,
    metadata: ['api', api, 'status', 200],
  }
}

export async function createFillBucket({ client }: OpenStore, bucket: string): Promise<void> {
  const audit = auditOf('PUT', 'CreateBucket', `bucket:${bucket}`)
  await client.execute({ kind: 'create-bucket', audit, bucket, region: 'us-east-1', lockEnabled: false })
}
