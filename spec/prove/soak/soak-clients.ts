/** Clients of one life of the server. Every request goes through the rules of that life. */
import { type ApiAnswer, ApiClient, type ApiRequest } from '../../support/api-client.ts'
import { type RawRequest, type WireAnswer, WireClient } from '../../support/wire-client.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import type { Life } from './life.ts'
import { s3KindOf } from './soak-kinds.ts'

export interface Keys {
  readonly accessKey: string
  readonly secretKey: string
}

/** The S3 plane, with the signature of somebody. */
export class SoakWire extends WireClient {
  readonly #life: Life
  readonly #through: boolean

  /** @param through for requests that are made while all others are paused */
  constructor(life: Life, keys: Keys, through = false) {
    super({ endpoint: life.server.endpoint, ...keys })
    this.#life = life
    this.#through = through
  }

  /** @throws NoAnswerError */
  override send(method: string, target: string, options: RawRequest = {}): Promise<WireAnswer> {
    const kind = s3KindOf(method, target, options)
    return this.#life.ask(kind, () => super.send(method, target, options), this.#through)
  }
}

/** The management listener. */
export class SoakApi {
  readonly #life: Life
  readonly #client: ApiClient
  readonly #through: boolean

  constructor(life: Life, authorization: string, through = false) {
    this.#life = life
    this.#client = ApiClient.of(life.server.apiEndpoint, authorization)
    this.#through = through
  }

  /**
   * @param route method and path as they stand in the table of routes, which names the kind
   * @param names values for what stands in braces
   * @throws NoAnswerError
   */
  call(
    route: string,
    names: Readonly<Record<string, string>>,
    options: ApiRequest & { query?: string } = {},
  ): Promise<ApiAnswer> {
    const [method = '', path = ''] = route.split(' ')
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')
    const prefix = path === '/metrics' || path === '/ready' ? '' : API
    const target = `${prefix}${filled}${options.query ?? ''}`
    return this.#life.ask(route, () => this.#client.send(method, target, options), this.#through)
  }

  close(): void {
    this.#client.close()
  }
}
