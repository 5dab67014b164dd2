/**
 * Changes of access, each tried at once: a policy is attached and detached, an account disabled and enabled, accounts
 * and tokens are made, used and removed. What is answered holds for the next request.
 */
import type { AccountRecord, CreatedAccount, IssuedToken, PolicyRecord } from '../../support/management-records.ts'
import { bearer } from '../../support/api-client.ts'
import type { Random } from '../../support/random.ts'
import { type Actor, type Clients, mustBe, WrongAnswerError } from './actor.ts'
import { OBJECT_BUCKET } from './object-actor.ts'
import { type Keys, SoakApi, SoakWire } from './soak-clients.ts'

const BINDING = '/policies/{policy_id}/bindings/{account_id}'
const LISTING = `/${OBJECT_BUCKET}?list-type=2&max-keys=1`

/** An account that exists, and a policy that can be attached to it. */
export interface Subject extends Keys {
  readonly account: string
  readonly policy: string
}

/** Makes an account with a policy of its own, not attached. @throws NoAnswerError */
export async function makeSubject({ api }: Pick<Clients, 'api'>, name: string): Promise<Subject> {
  const created = mustBe(name, await api.call('POST /service-accounts', {}, { body: { name } }), 201)
  const { account, credential } = created.json as CreatedAccount
  const statements = [{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }]
  const made = mustBe(name, await api.call('POST /policies', {}, { body: { name, statements } }), 201)
  const policy = (made.json as PolicyRecord).id
  return { account: account.id, policy, accessKey: credential.access_key, secretKey: credential.secret_key }
}

/** @throws NoAnswerError */
export async function attach({ api }: Pick<Clients, 'api'>, { policy, account }: Subject): Promise<void> {
  mustBe('attach', await api.call(`PUT ${BINDING}`, { policy_id: policy, account_id: account }), 204)
}

export class AccessActor implements Actor {
  readonly #random: Random
  readonly #number: number
  readonly #subject: Subject
  #attached = false
  #enabled = true
  #made = 0

  constructor(number: number, random: Random, subject: Subject) {
    this.#number = number
    this.#random = random
    this.#subject = subject
  }

  /** What had no answer is asked for; that it is one of the two is all that can be said. Then it must hold. */
  async check(clients: Clients): Promise<string[]> {
    const { account, policy } = this.#subject
    const answer = mustBe(account, await clients.api.call('GET /service-accounts/{id}', { id: account }), 200)
    const { enabled, policies } = answer.json as AccountRecord
    this.#enabled = enabled
    this.#attached = policies.includes(policy)
    await this.#mustHold(clients)
    return []
  }

  async run(clients: Clients): Promise<void> {
    for (;;) {
      const choice = this.#random.below(10)
      if (choice < 5) await this.#toggleBinding(clients)
      else if (choice < 7) await this.#toggleStatus(clients)
      else if (choice < 9) await this.#passingToken(clients)
      else await this.#passingAccount(clients)
    }
  }

  async #toggleBinding(clients: Clients): Promise<void> {
    const { policy, account } = this.#subject
    const method = this.#attached ? 'DELETE' : 'PUT'
    const sending = clients.api.call(`${method} ${BINDING}`, { policy_id: policy, account_id: account })
    mustBe('binding', await sending, 204)
    this.#attached = !this.#attached
    await this.#mustHold(clients)
  }

  async #toggleStatus(clients: Clients): Promise<void> {
    const body = { enabled: !this.#enabled }
    const { account } = this.#subject
    mustBe('status', await clients.api.call('PUT /service-accounts/{id}/status', { id: account }, { body }), 200)
    this.#enabled = !this.#enabled
    await this.#mustHold(clients)
  }

  async #mustHold({ life }: Clients): Promise<void> {
    const wire = new SoakWire(life, this.#subject)
    try {
      const expected = this.#enabled && this.#attached ? 200 : 403
      const what = `account ${this.#number}, enabled ${this.#enabled}, attached ${this.#attached}`
      mustBe(what, await wire.send('GET', LISTING), expected)
    } finally {
      wire.close()
    }
  }

  /** One that a restart leaves behind is deleted by nobody: there are no more of them than restarts. */
  async #passingToken({ api, life }: Clients): Promise<void> {
    this.#made += 1
    const body = { name: `token-${this.#number}-${this.#made}`, role: 'auditor' }
    const { id, token } = mustBe('token', await api.call('POST /management-tokens', {}, { body }), 201)
      .json as IssuedToken
    const holder = new SoakApi(life, bearer(token))
    try {
      mustBe('token', await holder.call('GET /auth/session', {}), 200)
      mustBe('token', await api.call('DELETE /management-tokens/{id}', { id }), 204)
      mustBe('revoked token', await holder.call('GET /auth/session', {}), 401)
    } finally {
      holder.close()
    }
  }

  async #passingAccount(clients: Clients): Promise<void> {
    this.#made += 1
    const body = { name: `passing-${this.#number}-${this.#made}` }
    const created = mustBe('account', await clients.api.call('POST /service-accounts', {}, { body }), 201)
    const { account, credential } = created.json as CreatedAccount
    const wire = new SoakWire(clients.life, { accessKey: credential.access_key, secretKey: credential.secret_key })
    try {
      mustBe('account without a policy', await wire.send('GET', LISTING), 403)
      mustBe('account', await clients.api.call('DELETE /service-accounts/{id}', { id: account.id }), 204)
      const answer = mustBe('deleted account', await wire.send('GET', LISTING), 403)
      if (answer.code !== 'InvalidAccessKeyId') throw new WrongAnswerError(`a deleted account gets ${answer.code}`)
    } finally {
      wire.close()
    }
  }
}
