import { isIP } from 'node:net'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors.ts'
import type { Target } from './target.ts'

/**
 * Refuses a request that names its bucket in the Host header instead of in the path. The store's own host names are
 * not configured, so the sign is that the first label of the host is a bucket here while the first segment of the
 * path is none: then the path is a key, and reading it as a bucket would answer a question nobody asked.
 * @throws S3Error NotImplemented
 */
export function refuseVirtualHost(request: HttpRequest, target: Target, catalog: CatalogReader): void {
  const host = request.header('host') ?? ''
  const dot = host.indexOf('.')
  if (dot <= 0) return
  const name = host.startsWith('[') ? '' : host.replace(/:\d*$/, '')
  if (name === '' || isIP(name) !== 0) return
  const snapshot = catalog.snapshot()
  if (target.bucket !== undefined && snapshot.bucket(target.bucket) !== undefined) return
  if (snapshot.bucket(host.slice(0, dot)) === undefined) return
  throw new S3Error('NotImplemented', {
    message: 'Virtual-hosted-style addressing is not supported. Put the bucket in the path (path style).',
  })
}
