/** Requests on buckets and their settings. */
import { elements, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Operation, type Outcome, reading, refusals, targetOf } from '../expectation.ts'
import { type Bucket, type DefaultRetention, newBucket, withBucket, type World } from '../model-state.ts'

export const STANDARD_REGION = 'us-east-1'

/** A creation that repeats the present one is a success in the standard region (spec/decisions/0022). */
export function createBucket(name: string, hasLock: boolean, region: string = STANDARD_REGION): Operation {
  const headers = hasLock ? ([['x-amz-bucket-object-lock-enabled', 'true']] as const) : []
  const root = 'CreateBucketConfiguration'
  const body = `<${root}><LocationConstraint>${region}</LocationConstraint></${root}>`
  return {
    request: {
      method: 'PUT',
      target: targetOf(name, undefined),
      headers,
      ...(region === STANDARD_REGION ? {} : { body }),
    },
    outcomes: (world, { now }) => {
      const present = world.buckets.get(name)
      const isSame = present?.region === region && present.hasLock === hasLock
      if (present !== undefined && !(isSame && region === STANDARD_REGION)) {
        return refusals(world, ['BucketAlreadyOwnedByYou'])
      }
      const next = () => (present === undefined ? withBucket(world, name, newBucket(now, region, hasLock)) : world)
      return [{ pattern: { status: 200, headers: { location: `/${name}` } }, next }]
    },
  }
}

/** Uploads in progress do not keep a bucket; versions and markers do. */
export function deleteBucket(name: string): Operation {
  return {
    request: { method: 'DELETE', target: targetOf(name, undefined) },
    outcomes: onBucket(name, (world, bucket) => {
      if (bucket.keys.size > 0) return refusals(world, ['BucketNotEmpty'])
      return [{ pattern: { status: 204 }, next: () => withBucket(world, name, undefined) }]
    }),
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
  const versioning = status === 'Enabled' ? 'enabled' : 'suspended'
  return {
    request: {
      method: 'PUT',
      target: `/${name}?versioning`,
      body: `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
    },
    outcomes: onBucket(name, (world, bucket) => {
      if (bucket.hasLock && versioning === 'suspended') return refusals(world, ['InvalidBucketState'])
      return [{ pattern: { status: 200 }, next: () => withBucket(world, name, { ...bucket, versioning }) }]
    }),
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

export function putLockConfiguration(name: string, standard: DefaultRetention | undefined): Operation {
  const rule =
    standard === undefined
      ? ''
      : `<Rule><DefaultRetention><Mode>${standard.mode}</Mode>` +
        `<${standard.unit}>${standard.value}</${standard.unit}></DefaultRetention></Rule>`
  const root = 'ObjectLockConfiguration'
  return {
    request: {
      method: 'PUT',
      target: `/${name}?object-lock`,
      body: `<${root}><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</${root}>`,
    },
    outcomes: onBucket(name, (world, bucket) => {
      if (!bucket.hasLock) return refusals(world, ['InvalidRequest'])
      return [{ pattern: { status: 200 }, next: () => withBucket(world, name, { ...bucket, standard }) }]
    }),
  }
}

export function getLockConfiguration(name: string): Operation {
  return {
    request: { method: 'GET', target: `/${name}?object-lock` },
    outcomes: onBucket(name, (world, { hasLock, standard }) => {
      if (!hasLock) return refusals(world, ['ObjectLockConfigurationNotFoundError'])
      const expected = ['Enabled', standard?.mode, standard === undefined ? undefined : String(standard.value)]
      const check = ({ text }: WireAnswer) => {
        const period = standard === undefined ? undefined : firstElement(text, standard.unit)
        return sameText([firstElement(text, 'ObjectLockEnabled'), firstElement(text, 'Mode'), period], expected)
      }
      return reading(world, { status: 200, check })
    }),
  }
}

/** Allows one origin to read, or takes the configuration away. */
export function putCors(name: string, origin: string | undefined): Operation {
  const rule = `<AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod>`
  return {
    request: {
      method: origin === undefined ? 'DELETE' : 'PUT',
      target: `/${name}?cors`,
      ...(origin === undefined ? {} : { body: `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>` }),
    },
    outcomes: onBucket(name, (world, bucket) => {
      const next = () => withBucket(world, name, { ...bucket, corsOrigin: origin })
      return [{ pattern: { status: origin === undefined ? 204 : 200 }, next }]
    }),
  }
}

export function getCors(name: string): Operation {
  return {
    request: { method: 'GET', target: `/${name}?cors` },
    outcomes: onBucket(name, (world, { corsOrigin }) => {
      if (corsOrigin === undefined) return refusals(world, ['NoSuchCORSConfiguration'])
      const check = (answer: WireAnswer) => sameText(elements(answer.text, 'AllowedOrigin'), [corsOrigin])
      return reading(world, { status: 200, check })
    }),
  }
}

/** The outcomes of a request that needs a bucket. */
export function onBucket(
  name: string,
  outcomes: (world: World, bucket: Bucket, moment: Parameters<Operation['outcomes']>[1]) => readonly Outcome[],
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
