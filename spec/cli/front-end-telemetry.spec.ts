/** What a front end counts of its requests. */
import { test } from 'tap'
import { FrontEndTelemetry } from '../../cli/server/metrics/front-end-telemetry.ts'
import { expectedResults, METRIC_OPERATIONS, requestClassOf } from '../../cli/server/metrics/metric-operations.ts'
import { createLogger } from '../../cli/server/log/logger.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { NO_EXTENSIONS } from '../../planes/objects/s3-extensions.ts'
import { isServed } from '../../planes/s3/handling/operation.ts'
import { OPERATIONS } from '../../planes/s3/operation-list.ts'
import type { FinishedRequest } from '../../planes/s3/telemetry.ts'

test('every operation has a class', (t) => {
  const classes = new Map(OPERATIONS.map((operation) => [operation.name, requestClassOf(operation, NO_EXTENSIONS)]))
  const expected = {
    GetObject: 'read',
    HeadObject: 'read',
    ListParts: 'read',
    ListBuckets: 'list',
    ListObjectsV2: 'list',
    GetBucketVersioning: 'list',
    PutObject: 'write',
    UploadPart: 'write',
    CompleteMultipartUpload: 'write',
    CreateBucket: 'write',
    DeleteObject: 'delete',
    AbortMultipartUpload: 'delete',
    PreflightObject: 'other',
    PutBucketAcl: 'other',
  }
  for (const [name, one] of Object.entries(expected)) t.equal(classes.get(name), one, name)
  t.equal(requestClassOf(undefined, NO_EXTENSIONS), 'other')
  t.end()
})

test('a request is counted once in its class, and damage by its kind', (t) => {
  const slots = MetricSlots.create(METRIC_OPERATIONS, 2)
  const log = createLogger({ level: 'silent' })
  const telemetry = new FrontEndTelemetry(slots.shared, 1, log, 'none', NO_EXTENSIONS)
  const request: FinishedRequest = {
    requestId: 'r',
    method: 'GET',
    operation: OPERATIONS.find(({ name }) => name === 'GetObject'),
    route: '/{bucket}/{key}',
    status: 200,
    milliseconds: 3,
    receivedBytes: 10,
    sentBytes: 20,
    principal: 'system:root',
    code: undefined,
    unsupported: undefined,
  }
  telemetry.finished(request)
  telemetry.finished({ ...request, status: 403 })
  telemetry.finished({ ...request, operation: undefined, status: 400, milliseconds: 70_000 })
  telemetry.failed(new PayloadDamagedError('a block'), 'r', { bucket: 'b', key: 'k' })
  telemetry.failed(new Error('something else'), 'r', { bucket: 'b', key: 'k' })
  const counted = slots.read().filter(({ value }) => value !== 0)
  t.same(
    counted.map(({ row, suffix, labels, value }) => [row.name + (suffix ?? ''), Object.values(labels).join(), value]),
    [
      ['object_store_requests_total', 'unknown,failure', 1],
      ['object_store_requests_total', 'GetObject,success', 1],
      ['object_store_requests_total', 'GetObject,denied', 1],
      ['object_store_received_bytes_total', '', 30],
      ['object_store_sent_bytes_total', '', 60],
      ...['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30', '60', '+Inf'].map(
        (le) => ['object_store_request_duration_seconds_bucket', `s3,read,${le}`, 2],
      ),
      ['object_store_request_duration_seconds_sum', 's3,read', 0.006],
      ['object_store_request_duration_seconds_count', 's3,read', 2],
      ['object_store_request_duration_seconds_bucket', 's3,other,+Inf', 1],
      ['object_store_request_duration_seconds_sum', 's3,other', 70],
      ['object_store_request_duration_seconds_count', 's3,other', 1],
      ['object_store_damage_found_total', 'read', 1],
    ],
  )
  t.end()
})

test('no series waits for what nobody can call; one appears when it was asked for', (t) => {
  const slots = MetricSlots.create(METRIC_OPERATIONS, 2, expectedResults(NO_EXTENSIONS))
  const series = () =>
    slots
      .read()
      .filter(({ row }) => row.name === 'object_store_requests_total')
      .map(({ labels, value }) => `${labels['operation']} ${labels['result']} ${value}`)
  const implemented = OPERATIONS.filter((operation) => isServed(operation, NO_EXTENSIONS)).map(({ name }) => name)
  const expected = [
    'unknown denied 0',
    'unknown failure 0',
    ...implemented.flatMap((name) => [`${name} success 0`, `${name} denied 0`, `${name} failure 0`]),
  ]
  t.strictSame(series(), expected)
  const attached = new MetricSlots(structuredClone(slots.shared))
  const telemetry = new FrontEndTelemetry(attached.shared, 1, createLogger({ level: 'silent' }), 'none', NO_EXTENSIONS)
  const refused = OPERATIONS.find(({ name }) => name === 'GetBucketAcl')
  telemetry.finished({
    requestId: 'r',
    method: 'GET',
    operation: refused,
    route: '/{bucket}',
    status: 501,
    milliseconds: 3,
    receivedBytes: 0,
    sentBytes: 0,
    principal: 'system:root',
    code: 'not-implemented',
    unsupported: undefined,
  })
  // An extension that is off has its place among the others.
  const added = 'GetBucketAcl failure 1'
  t.ok(series().includes(added))
  t.strictSame(
    series().filter((one) => one !== added),
    expected,
  )
  t.end()
})
