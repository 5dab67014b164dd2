import { randomBytes } from 'node:crypto'
import type { Bench, Target } from '../bench.ts'
import { getLoad } from '../load.ts'
import { manage } from '../management.ts'
import { sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { bucketObjects, connectionsText, SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { measureInTurns } from '../turns.ts'

const ROUNDS_MAXIMUM = 3
/** Policies of the account; each has denials that do not match but must be checked, and one has the allowance. */
const POLICIES = 5
const DENIALS = 4

/** Root passes without any policy; a service account is checked against all of its own, for every request. */
export const policies: Scenario = {
  name: 'policies',
  title: 'What policy checks cost: GET 4 KiB by root and by a service account, on one server',
  needs: 'own server',
  run: (bench) => bench.withTarget((target) => compare(bench, target)),
}

async function compare(bench: Bench, root: Target): Promise<void> {
  const objects = bucketObjects(bench.settings.quick)
  await root.client.fill(root.bucket, 0, objects, randomBytes(SMALL_BYTES))
  const load = getLoad(root.bucket, sampleOfObjects(objects, objects), SMALL_BYTES, 'time')
  const account = await serviceAccount(root)
  const side = (name: string, target: Target) => ({
    figure: `policies-${name}-get-4-kib`,
    label: `GET 4 KiB, ${connectionsText(USUAL_CONNECTIONS)}, signed by ${name}`,
    target,
    load,
  })
  const ratio = await measureInTurns(bench, side('root', root), side('account', account), {
    connections: USUAL_CONNECTIONS,
    seconds: Math.ceil(bench.settings.seconds / 2),
    rounds: Math.min(ROUNDS_MAXIMUM, bench.settings.rounds),
    limits: ['http'],
  })
  bench.add({
    name: 'policies-get-4-kib-ratio',
    label: 'Rate of GET 4 KiB with policy checks over that without',
    value: ratio,
    unit: 'ratio',
  })
}

/** The same target, with the credential of a new service account under `POLICIES` policies. */
async function serviceAccount(root: Target): Promise<Target> {
  const created = await post(root, '/service-accounts', { name: 'bench', description: '' })
  const { account, credential } = created as {
    readonly account: { readonly id: string }
    readonly credential: { readonly access_key: string; readonly secret_key: string }
  }
  for (let index = 0; index < POLICIES; index += 1) {
    const denials = Array.from({ length: DENIALS }, (_, denial) => ({
      effect: 'deny',
      actions: ['s3:DeleteObject', 's3:GetObject'],
      resources: [`bucket:other-${index}-${denial}/*`],
    }))
    const allowance = { effect: 'allow', actions: ['s3:GetObject'], resources: [`bucket:${root.bucket}/*`] }
    const statements = index === POLICIES - 1 ? [...denials, allowance] : denials
    const { id } = (await post(root, '/policies', { name: `bench-${index}`, statements })) as { readonly id: string }
    await manage(root, 'PUT', `/policies/${id}/bindings/${account.id}`)
  }
  const { access_key: accessKey, secret_key: secretKey } = credential
  return { ...root, endpoint: { ...root.endpoint, accessKey, secretKey } }
}

async function post(target: Target, path: string, body: unknown): Promise<unknown> {
  return JSON.parse((await manage(target, 'POST', path, Buffer.from(JSON.stringify(body)))).text)
}
