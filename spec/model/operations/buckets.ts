/** Requests on buckets and their settings. */
import type { DefaultRetention } from '../../../engine/events/values.ts'
import * as commands from '../../support/commands.ts'
import { setCors, setDefaultRetention, setVersioning } from '../../support/version-commands.ts'
import { elements, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Operation, type Outcome, reading, refusals, targetOf } from '../expectation.ts'
import type { ModelBucket, ModelState } from '../state.ts'
import { byRules } from './by-rules.ts'

export const STANDARD_REGION = 'us-east-1'

/** A creation that repeats the present one is a success in the standard region (spec/decisions/0001). */
export function createBucket(name: string, lockEnabled: boolean, region: string = STANDARD_REGION): Operation {
  const headers = lockEnabled ? ([['x-amz-bucket-object-lock-enabled', 'true']] as const) : []
  const root = 'CreateBucketConfiguration'
  const body = `<${root}><LocationConstraint>${region}</LocationConstraint></${root}>`
  const located = region === STANDARD_REGION ? {} : { body }
  return {
    request: { method: 'PUT', target: targetOf(name, undefined), headers, ...located },
    outcomes: byRules(
      () => ({ ...commands.createBucket(name), lockEnabled, region }),
      () => ({ status: 200, headers: { location: `/${name}` } }),
    ),
  }
}

/** Uploads in progress do not keep a bucket; versions and markers do. */
export function deleteBucket(name: string): Operation {
  return {
    request: { method: 'DELETE', target: targetOf(name, undefined) },
    outcomes: byRules(
      () => commands.deleteBucket(name),
      () => ({ status: 204 }),
    ),
  }
}

export function headBucket(name: string): Operation {
  return {
    request: { method: 'HEAD', target: targetOf(name, undefined) },
    outcomes: onBucket(name, (world, { region }) =>
      reading(world, { status: 200, headers: { 'x-amz-bucket-region': region } }),
    ),
  }
}

export function listBuckets(): Operation {
  return {
    request: { method: 'GET', target: '/' },
    outcomes: (world) => {
      const names = [...world.buckets.keys()].sort()
      const times = names.map((name) => new Date(world.buckets.get(name)?.created ?? 0).toISOString())
      const check = (answer: WireAnswer) => {
        const listed = [elements(answer.text, 'Name'), elements(answer.text, 'CreationDate')]
        return sameText(listed, [names, times])
      }
      return reading(world, { status: 200, check })
    },
  }
}

export function putVersioning(name: string, status: 'Enabled' | 'Suspended'): Operation {
  return {
    request: {
      method: 'PUT',
      target: `/${name}?versioning`,
      body: `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
    },
    outcomes: byRules(
      () => setVersioning(name, status === 'Enabled' ? 'enabled' : 'suspended'),
      () => ({ status: 200 }),
    ),
  }
}

export function getVersioning(name: string): Operation {
  return {
    request: { method: 'GET', target: `/${name}?versioning` },
    outcomes: onBucket(name, (world, { versioning }) => {
      const status = { off: undefined, enabled: 'Enabled', suspended: 'Suspended' }[versioning]
      const check = (answer: WireAnswer) => sameText(firstElement(answer.text, 'Status'), status)
      return reading(world, { status: 200, check })
    }),
  }
}

const PERIOD = { days: 'Days', years: 'Years' } as const

export function putLockConfiguration(name: string, standard: DefaultRetention | undefined): Operation {
  const period = standard === undefined ? '' : PERIOD[standard.unit]
  const rule =
    standard === undefined
      ? ''
      : `<Rule><DefaultRetention><Mode>${standard.mode}</Mode>` +
        `<${period}>${standard.value}</${period}></DefaultRetention></Rule>`
  const root = 'ObjectLockConfiguration'
  return {
    request: {
      method: 'PUT',
      target: `/${name}?object-lock`,
      body: `<${root}><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</${root}>`,
    },
    outcomes: byRules(
      () => setDefaultRetention(name, standard),
      () => ({ status: 200 }),
    ),
  }
}

export function getLockConfiguration(name: string): Operation {
  return {
    request: { method: 'GET', target: `/${name}?object-lock` },
    outcomes: onBucket(name, (world, { lockEnabled, defaultRetention: standard }) => {
      if (!lockEnabled) return refusals(world, ['ObjectLockConfigurationNotFoundError'])
      const expected = ['Enabled', standard?.mode, standard === undefined ? undefined : String(standard.value)]
      const check = ({ text }: WireAnswer) => {
        const period = standard === undefined ? undefined : firstElement(text, PERIOD[standard.unit])
        return sameText([firstElement(text, 'ObjectLockEnabled'), firstElement(text, 'Mode'), period], expected)
      }
      return reading(world, { status: 200, check })
    }),
  }
}

/** Allows one origin to read, or takes the configuration away. */
export function putCors(name: string, origin: string | undefined): Operation {
  const rule = `<AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod>`
  const body = `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`
  const rest = { id: undefined, methods: ['GET'], headers: [], exposed: [], maxAgeSeconds: undefined }
  return {
    request: {
      method: origin === undefined ? 'DELETE' : 'PUT',
      target: `/${name}?cors`,
      ...(origin === undefined ? {} : { body }),
    },
    outcomes: byRules(
      () => setCors(name, origin === undefined ? [] : [{ origins: [origin], ...rest }]),
      () => ({ status: origin === undefined ? 204 : 200 }),
    ),
  }
}

export function getCors(name: string): Operation {
  return {
    request: { method: 'GET', target: `/${name}?cors` },
    outcomes: onBucket(name, (world, { cors }) => {
      if (cors.length === 0) return refusals(world, ['NoSuchCORSConfiguration'])
      const origins = cors.flatMap((rule) => rule.origins)
      const check = (answer: WireAnswer) => sameText(elements(answer.text, 'AllowedOrigin'), origins)
      return reading(world, { status: 200, check })
    }),
  }
}

/** The outcomes of a request that needs a bucket. */
export function onBucket(
  name: string,
  outcomes: (
    world: ModelState,
    bucket: ModelBucket,
    moment: Parameters<Operation['outcomes']>[1],
  ) => readonly Outcome[],
): Operation['outcomes'] {
  return (world, moment) => {
    const bucket = world.buckets.get(name)
    return bucket === undefined ? refusals(world, ['NoSuchBucket']) : outcomes(world, bucket, moment)
  }
}

/** Compares by the JSON form; says both when they differ. */
export function sameText(actual: unknown, expected: unknown): string | undefined {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)]
  return left === right ? undefined : `${left} instead of ${right}`
}
