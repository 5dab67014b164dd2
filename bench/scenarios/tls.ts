import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../spec/support/self-signed-certificate.ts'
import type { Bench, Target } from '../bench.ts'
import { getLoad, indexRange, putLoad } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

const LARGE_MEBIBYTES = 64
const LARGE_BYTES = LARGE_MEBIBYTES * 1024 ** 2
const LARGE_OBJECTS = 4
const LARGE_CONNECTIONS = 8
const LARGE_SECONDS_MINIMUM = 5

/** The same loads as in put-4-kib and get-64-mib, to be compared with them. */
export const tls: Scenario = {
  name: 'tls',
  title: 'PUT of 4 KiB and GET of 64 MiB over TLS, on connections that are kept alive',
  needs: 'own server',
  run(bench) {
    const { certificate, key } = selfSignedCertificate()
    const files = { certificate: join(bench.directory, 'certificate.pem'), key: join(bench.directory, 'key.pem') }
    writeFileSync(files.certificate, certificate)
    writeFileSync(files.key, key, { mode: 0o600 })
    const settings = [`s3.tls_certificate_file=${files.certificate}`, `s3.tls_key_file=${files.key}`]
    return bench.withTarget(async (target) => {
      await measurePuts(bench, target)
      await measureGets(bench, target)
    }, settings)
  },
}

async function measurePuts(bench: Bench, target: Target): Promise<void> {
  const indexes = indexRange(0, bucketObjects(bench.settings.quick))
  const load = putLoad(target.bucket, indexes, randomBytes(SMALL_BYTES), 'time')
  await bench.warmUp(target, load, USUAL_CONNECTIONS)
  await bench.measure(target, {
    figure: `tls-put-4-kib-c${USUAL_CONNECTIONS}`,
    label: `PUT 4 KiB over TLS, ${connectionsText(USUAL_CONNECTIONS)}`,
    load,
    connections: USUAL_CONNECTIONS,
    limits: ['sync-preallocated'],
  })
}

async function measureGets(bench: Bench, target: Target): Promise<void> {
  await target.client.fill(target.bucket, 0, LARGE_OBJECTS, randomBytes(LARGE_BYTES))
  const load = getLoad(target.bucket, indexRange(0, LARGE_OBJECTS), LARGE_BYTES, 'count')
  await bench.warmUp(target, load, 1)
  await bench.measure(target, {
    figure: `tls-get-64-mib-c${LARGE_CONNECTIONS}`,
    label: `GET ${LARGE_MEBIBYTES} MiB over TLS, ${connectionsText(LARGE_CONNECTIONS)}`,
    load,
    connections: LARGE_CONNECTIONS,
    seconds: Math.max(LARGE_SECONDS_MINIMUM, bench.settings.seconds),
    objectBytes: LARGE_BYTES,
    limits: ['page-cache-read', 'crc32'],
  })
}
