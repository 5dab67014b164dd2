/** Links that the attack has made for itself, and how it asks by them. */
import { randomBytes } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { Lane } from '../../support/raw/lane.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { apiBytes } from './signed-requests.ts'

export const PASSWORD = 'the password of a share that nobody may learn'
const HOST: HeaderLine = ['host', 'links']

/** A link, and the lane to the listener that follows it. */
export interface Link {
  readonly id: string
  readonly token: string
  readonly kind: 'share' | 'embed'
}

interface Asked {
  readonly method?: string
  readonly headers?: readonly HeaderLine[]
  readonly body?: string
  /** What its record says; not given for what is answered, which has none. */
  readonly refusal?: string
  readonly showsSecret?: boolean
}

/** The resource that records have of a key of the attack. */
export function targetOf(key: string): string {
  return `bucket:${BUCKET}/${key}`
}

/** Makes links as an administrator, and asks by them as nobody. */
export class LinkAttack {
  readonly assault: Assault
  readonly api: Lane
  readonly s3: Lane

  constructor(assault: Assault) {
    this.assault = assault
    this.api = new Lane(assault.arena.apiPort)
    this.s3 = new Lane(assault.arena.server.port)
  }

  close(): void {
    this.api.close()
    this.s3.close()
  }

  async put(key: string, type = 'text/plain'): Promise<void> {
    const headers: HeaderLine[] = [['content-type', type]]
    const name = `link: PUT ${JSON.stringify(key)}`
    const signable = { name, method: 'PUT', path: `/${BUCKET}/${key}`, headers, body: `bytes of ${key}` }
    await this.assault.signed(this.s3, signable, [200], true)
  }

  async make(kind: Link['kind'], key: string, body: object): Promise<Link> {
    const answer = await this.manage('POST', `/buckets/${BUCKET}/object-${kind}s/${encodeURIComponent(key)}`, 201, body)
    const { id, url } = JSON.parse(answer) as { readonly id: string; readonly url: string }
    const token = url.slice(url.lastIndexOf('/') + 1)
    this.assault.canaries.add(`the token of ${id}`, token)
    return { id, token, kind }
  }

  /** Gives the body of the answer. */
  async manage(method: string, path: string, status: number, body?: object): Promise<string> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const bytes = apiBytes(this.assault.arena, method, `/api/v1${path}`, { body: text })
    const name = `link: ${method} ${path} ${randomBytes(4).toString('hex')}`
    const answer = await this.assault.expect(this.api, { name, method, bytes, mayChange: true, showsSecret: true }, [
      status,
    ])
    return answer?.body ?? '{}'
  }

  /** Asks as nobody; an answer with another status is a fault. */
  async ask(
    lane: Lane,
    target: string,
    status: number,
    { method = 'GET', headers = [], body = '', refusal, showsSecret = false }: Asked = {},
  ): Promise<RawAnswer | undefined> {
    const question = {
      name: `link: ${method} ${target}`.slice(0, 300),
      method,
      bytes: requestBytes(method, target, [HOST, ...headers], body),
      mayChange: false,
      isRecorded: refusal !== undefined,
      showsSecret,
      ...(refusal === undefined ? {} : { records: () => [`capability:public undefined ${refusal}`] }),
    }
    const answer = await this.assault.ask(lane, question)
    if (answer !== undefined && answer.status !== status) {
      const kind = answer.status < 300 ? 'let in' : 'wrong'
      this.assault.ledger.fault(
        kind,
        question.name,
        `${answer.status} ${answer.code} instead of ${status}`,
        question.bytes,
      )
    }
    return answer
  }
}
