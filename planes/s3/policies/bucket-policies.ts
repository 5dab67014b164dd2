import { AwsPolicyError } from '../../../engine/aws-policies/aws-elements.ts'
import { type BucketStatement, translateBucketPolicy } from '../../../engine/aws-policies/aws-policy.ts'
import { type CompiledPolicies, compilePolicies, isAllowed } from '../../../engine/access/policy.ts'
import type { BucketPolicyState } from '../../../engine/access/state.ts'
import { parseStrictJson, StrictJsonError } from '../../../engine/proof/strict-json.ts'
import { GET_OBJECT, type PoliciesOfBuckets } from './permissions.ts'

/** Policies that are kept in memory; all are forgotten when there are more. */
const POLICIES_MAXIMUM = 1000
/** Principals that are kept for one policy, as above. */
const PRINCIPALS_MAXIMUM = 1000
const ACCOUNTS_MAXIMUM = 100
const ACCOUNT = 'service_account:'
/** As records name a request without a credential. */
const STRANGER = 'anonymous'

/** Denies everything: of a document that this program cannot translate. */
const NOTHING = compilePolicies([{ effect: 'deny', actions: ['*'], resources: ['*'] }])

/** What the policies of buckets are read from. Sees what was acknowledged before the call. */
interface PolicyReader {
  hasBucketPolicies(): boolean
  bucketPolicy(bucket: string): BucketPolicyState | undefined
  accountNamed(text: string): string | undefined
}

interface Options {
  readonly reader: PolicyReader
  /** Every action that a policy can name. */
  readonly actions: ReadonlySet<string>
  /** A number that changes with every change of buckets and of access. */
  readonly changes: () => number
  /** Whether the extension bucket-policy is on. While it is off policies deny and do not allow. */
  readonly isOn: boolean
  /** The setting `s3.public_read_prefixes`: `bucket/prefix`. */
  readonly publicPrefixes: readonly string[]
}

/** A policy that was translated. */
interface Translated {
  readonly stored: BucketPolicyState
  readonly statements: readonly BucketStatement[] | undefined
  readonly byPrincipal: Map<string, CompiledPolicies>
}

/** A bucket's policy that was sent, translated. */
interface SentBucketPolicy extends BucketPolicyState {
  readonly statements: readonly BucketStatement[]
}

/** The policies of buckets in one front end. What is kept holds until something of buckets or access changes. */
export class BucketPolicies implements PoliciesOfBuckets {
  readonly #options: Options
  readonly #known = new Map<string, { readonly at: number; readonly policy: Translated | undefined }>()
  #changes: number | undefined
  #hasAny = false

  constructor(options: Options) {
    this.#options = options
  }

  of(bucket: string, principal: string): CompiledPolicies | undefined {
    const policy = this.#policyOf(bucket)
    if (policy === undefined) return undefined
    const known = policy.byPrincipal.get(principal)
    if (known !== undefined) return known
    const compiled = this.#compiled(policy, principal)
    if (policy.byPrincipal.size >= PRINCIPALS_MAXIMUM) policy.byPrincipal.clear()
    policy.byPrincipal.set(principal, compiled)
    return compiled
  }

  /** Whether strangers may read an object: the operator and the policy of its bucket both say so. */
  isPublic(bucket: string, key: string): boolean {
    const resource = `bucket:${bucket}/${key}`
    if (!this.#options.isOn || !this.#covers(resource)) return false
    const policies = this.of(bucket, STRANGER)
    return policies !== undefined && isAllowed(policies, GET_OBJECT, resource)
  }

  /** Whether strangers may read anything of a bucket (S3 API reference, GetBucketPolicyStatus). */
  isAnyPublic(bucket: string): boolean {
    const statements = this.#options.isOn ? this.#policyOf(bucket)?.statements : undefined
    return (
      statements?.some((statement) => isOfEveryone(statement) && this.#publicResources(statement).length > 0) === true
    )
  }

  /** The document of a bucket's policy. */
  document(bucket: string): string | undefined {
    return this.#options.reader.bucketPolicy(bucket)?.document
  }

  /**
   * Reads a policy that is sent for a bucket.
   * @throws AwsPolicyError
   */
  read(bucket: string, body: Uint8Array): SentBucketPolicy {
    let value: unknown
    try {
      value = parseStrictJson(body)
    } catch (error) {
      if (error instanceof StrictJsonError) throw new AwsPolicyError('the policy', error.message)
      throw error
    }
    const accounts: string[] = []
    const byName = new Map<string, string>()
    const statements = this.#translate(bucket, value, (name) => {
      const known = byName.get(name)
      if (known !== undefined) return known
      const found = this.#options.reader.accountNamed(name)
      if (found === undefined) return undefined
      if (accounts.length >= ACCOUNTS_MAXIMUM) {
        throw new AwsPolicyError('the policy', `names more than ${ACCOUNTS_MAXIMUM} accounts`)
      }
      byName.set(name, found)
      accounts.push(found)
      return found
    })
    return { document: Buffer.from(body).toString(), accounts, statements }
  }

  /** The first statement that opens to everyone what the operator has not: its place, and what is not open. */
  notPublic(statements: readonly BucketStatement[]): string | undefined {
    const wrong = statements.find(
      (statement) => isOfEveryone(statement) && this.#publicResources(statement).length < statement.resources.length,
    )
    return wrong?.place
  }

  #translate(bucket: string, value: unknown, accountOf: (name: string) => string | undefined): BucketStatement[] {
    return translateBucketPolicy(value, { bucket, actions: this.#options.actions, accountOf })
  }

  #policyOf(bucket: string): Translated | undefined {
    const { reader } = this.#options
    const changes = this.#options.changes()
    if (changes !== this.#changes) {
      this.#hasAny = reader.hasBucketPolicies()
      this.#changes = changes
    }
    if (!this.#hasAny) return undefined
    const known = this.#known.get(bucket)
    if (known?.at === changes) return known.policy
    const stored = reader.bucketPolicy(bucket)
    const policy =
      known?.policy !== undefined && isSame(known.policy.stored, stored) ? known.policy : this.#learn(bucket, stored)
    if (this.#known.size >= POLICIES_MAXIMUM) this.#known.clear()
    this.#known.set(bucket, { at: changes, policy })
    return policy
  }

  #learn(bucket: string, stored: BucketPolicyState | undefined): Translated | undefined {
    if (stored === undefined) return undefined
    const byName = new Map<string, string>()
    const accountOf = (name: string) => {
      const found = byName.get(name) ?? stored.accounts[byName.size]
      if (found !== undefined) byName.set(name, found)
      return found
    }
    let statements: BucketStatement[] | undefined
    try {
      statements = this.#translate(bucket, JSON.parse(stored.document), accountOf)
    } catch (error) {
      if (!(error instanceof AwsPolicyError || error instanceof SyntaxError)) throw error
    }
    return { stored, statements, byPrincipal: new Map() }
  }

  #compiled({ statements }: Translated, principal: string): CompiledPolicies {
    if (statements === undefined) return NOTHING
    const account = principal.startsWith(ACCOUNT) ? principal.slice(ACCOUNT.length) : undefined
    const all = statements.flatMap((statement) => {
      const { effect, accounts } = statement
      if (accounts !== undefined && (account === undefined || !accounts.includes(account))) return []
      if (effect === 'deny') return [statement]
      if (!this.#options.isOn) return []
      if (accounts !== undefined) return [statement]
      const resources = this.#publicResources(statement)
      return resources.length === 0 ? [] : [{ ...statement, resources }]
    })
    return compilePolicies(all)
  }

  /** The resources of an Allow of everyone that the operator has opened: none where it is of more than reading objects. */
  #publicResources({ actions, resources }: BucketStatement): string[] {
    if (actions.some((action) => action !== GET_OBJECT)) return []
    return resources.filter((resource) => this.#covers(resource))
  }

  /** Whether a resource, or all that a pattern fits, starts with a prefix of the setting. */
  #covers(resource: string): boolean {
    const start = resource.endsWith('*') ? resource.slice(0, -1) : resource
    return this.#options.publicPrefixes.some((prefix) => start.startsWith(`bucket:${prefix}`))
  }
}

function isOfEveryone({ effect, accounts }: BucketStatement): boolean {
  return effect === 'allow' && accounts === undefined
}

function isSame(left: BucketPolicyState, right: BucketPolicyState | undefined): boolean {
  return left.document === right?.document && String(left.accounts) === String(right.accounts)
}
