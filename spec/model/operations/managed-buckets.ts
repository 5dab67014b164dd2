/** Buckets through the management plane (spec/manual/management/routes.md). */
import type { DefaultRetention, Quota } from '../../../engine/events/values.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import * as commands from '../../support/commands.ts'
import { setDefaultRetention, setQuota, setVersioning } from '../../support/version-commands.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type Operation, refusals } from '../expectation.ts'
import { sameText } from './buckets.ts'
import { byRules, MANAGEMENT_CODES } from './by-rules.ts'

const BUCKETS = `${API}/buckets`
const UNLIMITED = { mode: 'unlimited' }

function quotaFields({ bytes, objects }: Quota) {
  return {
    bytes: bytes === undefined ? UNLIMITED : { mode: 'limit', bytes },
    objects: objects === undefined ? UNLIMITED : { mode: 'limit', objects },
  }
}

function retentionFields(retention: DefaultRetention | undefined) {
  if (retention === undefined) return null
  const { mode, unit, value } = retention
  return { mode, period: { unit, value } }
}

/** Some members of an answer must be these. */
function shows(expected: Readonly<Record<string, unknown>>): (answer: WireAnswer) => string | undefined {
  return ({ text }) => {
    const shown = JSON.parse(text) as Readonly<Record<string, unknown>>
    const names = Object.keys(expected)
    return sameText(Object.fromEntries(names.map((name) => [name, shown[name]])), expected)
  }
}

/** Other than S3, this plane refuses a bucket that is there, whoever made it and how. */
export function createManagedBucket(name: string, lockEnabled: boolean): Operation {
  const ruled = byRules(
    () => ({ ...commands.createBucket(name), lockEnabled }),
    () => {
      const versioning = lockEnabled ? 'enabled' : 'off'
      return { status: 201, check: shows({ name, region: 'us-east-1', versioning, object_lock: lockEnabled }) }
    },
    undefined,
    MANAGEMENT_CODES,
  )
  return {
    request: { method: 'POST', target: BUCKETS, body: JSON.stringify({ name, object_lock: lockEnabled }) },
    outcomes: (world, moment) => (world.buckets.has(name) ? refusals(world, ['BUCKET_EXISTS']) : ruled(world, moment)),
  }
}

export function deleteManagedBucket(name: string): Operation {
  return {
    request: { method: 'DELETE', target: `${BUCKETS}/${name}` },
    outcomes: byRules(
      () => commands.deleteBucket(name),
      () => ({ status: 204 }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

export function setManagedVersioning(name: string, status: 'Enabled' | 'Suspended'): Operation {
  return {
    request: { method: 'PUT', target: `${BUCKETS}/${name}/versioning`, body: JSON.stringify({ status }) },
    outcomes: byRules(
      () => setVersioning(name, status === 'Enabled' ? 'enabled' : 'suspended'),
      () => ({ status: 200, check: shows({ status }) }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

export function setManagedRetention(name: string, retention: DefaultRetention | undefined): Operation {
  const fields = { default_retention: retentionFields(retention) }
  return {
    request: { method: 'PUT', target: `${BUCKETS}/${name}/default-retention`, body: JSON.stringify(fields) },
    outcomes: byRules(
      () => setDefaultRetention(name, retention),
      () => ({ status: 200, check: shows(fields) }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

export function setManagedQuota(name: string, quota: Quota): Operation {
  const fields = { quota: quotaFields(quota) }
  return {
    request: { method: 'PUT', target: `${BUCKETS}/${name}/quota`, body: JSON.stringify(fields) },
    outcomes: byRules(
      () => setQuota(name, quota),
      () => ({ status: 200, check: shows(fields) }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

/** A bucket with its settings and its usage. */
export function getManagedBucket(name: string): Operation {
  return {
    request: { method: 'GET', target: `${BUCKETS}/${name}` },
    outcomes: (world) => {
      const bucket = world.buckets.get(name)
      if (bucket === undefined) return refusals(world, ['BUCKET_NOT_FOUND'])
      const { region, versioning, lockEnabled, defaultRetention, quota } = bucket
      const { objects, bytes, noncurrent, noncurrentBytes, markers } = world.usage(bucket)
      const check = shows({
        name,
        region,
        versioning,
        object_lock: lockEnabled,
        default_retention: retentionFields(defaultRetention),
        quota: quotaFields(quota),
        usage: {
          objects,
          bytes,
          noncurrent_versions: noncurrent,
          noncurrent_bytes: noncurrentBytes,
          delete_markers: markers,
        },
      })
      return [{ pattern: { status: 200, check }, next: () => world }]
    },
  }
}
