/** Service accounts at work: their requests, judged by policies, while an administrator changes who may do what. */
import * as fc from 'fast-check'
import { type ManagementErrorCode, managementErrors } from '../../../planes/management/errors.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { isManagement } from '../../model/model-client.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether } from '../../model/step-mix.ts'
import { Step } from '../../model/steps.ts'
import { Random } from '../../support/random.ts'
import { type AccessLedger, accessOf, type KnownCredential } from './access-ledger.ts'
import type { NaiveStatement } from './naive-policies.ts'
import { worldOf, type WorldStore } from './world-store.ts'

/** More would only be more of the same. */
const ACCOUNTS_MAXIMUM = 4
const POLICIES_MAXIMUM = 6
const TEMPORARY_SECONDS = 900
const ACTIONS = (
  's3:* s3:* s3:Get* s3:GetObject s3:Put* s3:PutObject s3:PutObjectRetention s3:List* s3:ManageBucket s3:Delete* ' +
  's3:GetBucketVersioning s3:DeleteObjectVersion s3:CreateBucket s3:BypassGovernanceRetention ' +
  's3:PutObjectLegalHold s3:AbortMultipartUpload'
).split(' ')
const RESOURCES = (
  '* bucket:* bucket:* bucket:plain* bucket:versioned bucket:versioned/* bucket:locked* bucket:spare* ' +
  'bucket:plain/a* bucket:locked/a bucket:versioned/a/b'
).split(' ')

/** What an administrator asks for, and the code that the answer must have; none for a success. */
interface Change {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly refused?: ManagementErrorCode | undefined
}

function statementBy(random: Random, effect: NaiveStatement['effect']): NaiveStatement {
  const some = (all: readonly string[]) => Array.from({ length: 1 + random.below(3) }, () => random.of(all))
  return { effect, actions: some(ACTIONS), resources: some(RESOURCES) }
}

function policyBy(random: Random): { readonly name: string; readonly statements: readonly NaiveStatement[] } {
  const effects = random.of([
    ['allow'],
    ['allow', 'allow'],
    ['allow', 'deny'],
    ['deny', 'allow', 'allow'],
    ['deny'],
  ] as const)
  return { name: `policy ${random.below(100)}`, statements: effects.map((effect) => statementBy(random, effect)) }
}

function when(isRefused: boolean, code: ManagementErrorCode): { readonly refused?: ManagementErrorCode } {
  return isRefused ? { refused: code } : {}
}

/** Each of them may come next. */
function changes(ledger: AccessLedger, random: Random): Change[] {
  const { accounts, policies, credentials } = ledger
  const account = random.of(['sa_of_nobody', ...[...accounts.keys()].flatMap((id) => [id, id, id])])
  const policy = random.of(['pol_of_nothing', ...[...policies.keys()].flatMap((id) => [id, id, id])])
  const known = accounts.get(account)
  const noAccount = when(known === undefined, 'ACCOUNT_NOT_FOUND')
  const noPolicy = when(!policies.has(policy), 'POLICY_NOT_FOUND')
  const name = `worker ${random.below(ACCOUNTS_MAXIMUM + 1)}`
  const isTaken = [...accounts.values()].some((one) => one.name === name)
  const credential = random.of([undefined, ...credentials.values()])
  const ofAccount = `/service-accounts/${account}`
  const binding = `/policies/${policy}/bindings/${account}`
  const enabled = random.below(3) > 0
  return [
    ...(accounts.size < ACCOUNTS_MAXIMUM || isTaken
      ? [{ method: 'POST', path: '/service-accounts', body: { name }, ...when(isTaken, 'ACCOUNT_NAME_TAKEN') }]
      : []),
    ...(policies.size < POLICIES_MAXIMUM ? [{ method: 'POST', path: '/policies', body: policyBy(random) }] : []),
    ...(random.below(4) === 0 ? [{ method: 'DELETE', path: ofAccount, ...noAccount }] : []),
    { method: 'PUT', path: `${ofAccount}/status`, body: { enabled }, ...noAccount },
    { method: 'POST', path: `${ofAccount}/credentials`, body: {}, ...noAccount },
    {
      method: 'POST',
      path: `${ofAccount}/temporary-credentials`,
      body: { expires_in_seconds: TEMPORARY_SECONDS },
      ...noAccount,
    },
    credential === undefined
      ? {
          method: 'PUT',
          path: `${ofAccount}/credentials/cred_of_nobody/status`,
          body: { enabled },
          ...when(true, known === undefined ? 'ACCOUNT_NOT_FOUND' : 'CREDENTIAL_NOT_FOUND'),
        }
      : {
          method: 'PUT',
          path: `/service-accounts/${credential.account}/credentials/${credential.id}/status`,
          body: { enabled },
        },
    { method: 'PUT', path: `/policies/${policy}`, body: policyBy(random), ...noPolicy },
    { method: 'DELETE', path: `/policies/${policy}`, ...when(ledger.isAttached(policy), 'CONFLICT'), ...noPolicy },
    ...Array.from({ length: 3 }, () => ({ method: 'PUT', path: binding, ...noAccount, ...noPolicy })),
    {
      method: 'DELETE',
      path: binding,
      ...when(known?.policies.has(policy) === false, 'POLICY_NOT_ATTACHED'),
      ...noAccount,
      ...noPolicy,
    },
  ]
}

/** @throws Error when the answer is not the one that it must be */
async function carryOut(world: WorldStore, model: Model, { method, path, body, refused }: Change): Promise<void> {
  const raw = body === undefined ? '' : JSON.stringify(body)
  const { status, text } = await world.manage(method, `${API}${path}`, raw)
  model.log.push(`${method} ${API}${path} ${raw}: ${status}`)
  const isRight =
    refused === undefined ? status < 300 : status === managementErrors[refused].status && text.includes(`"${refused}"`)
  if (!isRight) throw new Error(`${method} ${path} ${raw}: ${status} ${text} instead of ${refused ?? 'a success'}`)
}

/** Unless there is one, an account that may do something. */
export async function firstOnes(world: WorldStore, model: Model, ledger: AccessLedger, random: Random): Promise<void> {
  const { accounts, policies } = ledger
  const hasPolicies = () => [...accounts.values()].some((account) => account.enabled && account.policies.size > 0)
  if (hasPolicies()) return
  const name = `first ${random.below(1_000_000)}`
  const everything = { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] } as const
  const more = policyBy(random)
  await carryOut(world, model, { method: 'POST', path: '/service-accounts', body: { name } })
  const body = { ...more, statements: [everything, ...more.statements] }
  await carryOut(world, model, { method: 'POST', path: '/policies', body })
  const [account, policy] = [[...accounts.keys()].at(-1), [...policies.keys()].at(-1)]
  await carryOut(world, model, { method: 'PUT', path: `/policies/${policy}/bindings/${account}` })
}

/** A temporary credential of an account that may do something. @throws Error where there is no such account */
export async function issueTemporary(world: WorldStore, model: Model): Promise<KnownCredential> {
  const ledger = accessOf(world.host)
  const [account] = [...ledger.accounts].find(([, { enabled, policies }]) => enabled && policies.size > 0) ?? []
  if (account === undefined) throw new Error('no account may do anything')
  const path = `/service-accounts/${account}/temporary-credentials`
  await carryOut(world, model, { method: 'POST', path, body: { expires_in_seconds: TEMPORARY_SECONDS } })
  return ledger.ofAccount(account).at(-1) as KnownCredential
}

/** Some requests of accounts; before each somebody may change what they may. */
class AtWork extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice
  readonly #seed: number

  constructor(recipes: readonly Recipe[], place: PlaceChoice, seed: number) {
    super('service accounts are at work')
    this.#recipes = recipes
    this.#place = place
    this.#seed = seed
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    const world = worldOf(store)
    const ledger = accessOf(world.host)
    model.log.push(String(this))
    await firstOnes(world, model, ledger, random)
    for (const recipe of [...this.#recipes, ...this.#recipes]) {
      for (let count = random.below(3); count > 0; count -= 1) {
        await carryOut(world, model, random.of(changes(ledger, random)))
      }
      const all = [...ledger.credentials.values(), ...ledger.credentials.values(), ...ledger.gone]
      if (all.length > 0) await this.#work(recipe, model, world, random.of(all))
    }
    await requireKnown(world, ledger)
    await compare(model, store)
  }

  async #work(recipe: Recipe, model: Model, world: WorldStore, credential: KnownCredential): Promise<void> {
    const operation = recipe.build(model, choosePlace(model, this.#place, recipe.wants))
    if (operation === undefined || isManagement(operation.request)) return
    const { request } = operation
    // Copies and renames of versions with tags need more than policies of a world give.
    if (request.headers?.some(([name]) => SOURCES.includes(name)) === true && hasTags(model)) return
    const verdict = accessOf(world.host).verdict(credential, request, model.moment.now)
    if (verdict === undefined) return
    const answer = await world.sendAs(credential, request)
    model.tally.add('request of an account', verdict === 'allowed' ? 'done' : 'refused')
    if (verdict === 'allowed') {
      model.settle([{ operation, answer }])
      return
    }
    const line = `${request.method} ${request.target} of ${credential.account}`
    model.log.push(`${line}: ${answer.status}`)
    const isNamed = request.method === 'HEAD' || answer.code === verdict
    if (answer.status !== 403 || !isNamed)
      throw new Error(`${line}: ${answer.status} ${answer.code} instead of ${verdict}`)
  }
}

const SOURCES = ['x-amz-copy-source', 'x-amz-rename-source']

function hasTags({ worlds }: Model): boolean {
  return worlds.some(({ everyVersion }) => everyVersion.some(({ version: { tags = [] } }) => tags.length > 0))
}

/** What the management plane shows of accounts and policies is what it acknowledged. */
async function requireKnown(world: WorldStore, { accounts, policies, credentials }: AccessLedger): Promise<void> {
  const { api } = world.server
  const shown = await api.get<{ service_accounts: ShownAccount[] }>('GET', '/service-accounts')
  const listed = await api.get<{ policies: { id: string; statements: unknown }[] }>('GET', '/policies')
  const found = {
    accounts: shown.service_accounts.map(({ id, enabled, policies: attached }) => [id, enabled, attached.toSorted()]),
    credentials: shown.service_accounts.flatMap(({ credentials: all }) =>
      all.map((one) => [one.access_key, one.enabled]),
    ),
    policies: listed.policies.map(({ id, statements }) => [id, statements]),
  }
  const expected = {
    accounts: [...accounts].map(([id, { enabled, policies: attached }]) => [id, enabled, [...attached].toSorted()]),
    credentials: [...credentials.values()].map((one) => [one.accessKey, one.enabled]),
    policies: [...policies],
  }
  for (const name of ['accounts', 'credentials', 'policies'] as const) {
    const [left, right] = [found, expected].map((all) =>
      all[name]
        .map((one) => JSON.stringify(one))
        .toSorted()
        .join('\n'),
    )
    if (left !== right) throw new Error(`${name} are\n${left}\ninstead of\n${right}`)
  }
}

interface ShownAccount {
  readonly id: string
  readonly enabled: boolean
  readonly policies: readonly string[]
  readonly credentials: readonly { readonly access_key: string; readonly enabled: boolean }[]
}

export const accountStep: fc.Arbitrary<Step> = fc
  .record({ recipes: requestsTogether, at: placeChoice, seed: fc.nat(2 ** 31 - 1) })
  .map(({ recipes, at, seed }) => new AtWork(recipes, at, seed))
