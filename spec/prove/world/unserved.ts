/** Clients that ask for operations of S3 that this server does not have. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { Operation } from '../../../planes/s3/handling/operation.ts'
import { NOT_IMPLEMENTED } from '../../../planes/s3/operations/not-implemented.ts'
import { compare } from '../../model/comparison.ts'
import type { ModelRequest } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'

const REQUESTS = { minLength: 12, maxLength: 24 } as const
const PATHS = { service: '/', bucket: '/plain', object: '/plain/a' } as const

/** Each is refused by its name, and changes nothing. */
class Unserved extends Step {
  readonly #operations: readonly Operation[]

  constructor(operations: readonly Operation[]) {
    super('a client asks for what the server does not have')
    this.#operations = operations
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    for (const operation of this.#operations) {
      const request = requestFor(operation)
      const { status, code } = await store.send(request)
      model.log.push(`${request.method} ${request.target}: ${status} ${code ?? ''}`)
      if (status !== 501) throw new Error(`${operation.name} is not implemented, and was answered ${status} ${code}`)
    }
    await compare(model, store)
  }
}

function requestFor({ method, level, subresource, mark }: Operation): ModelRequest {
  const parameters = subresource === undefined ? [] : [subresource]
  const headers: HeaderLine[] = []
  if (mark?.query !== undefined) parameters.push(`${mark.query}=${mark.value ?? 'x'}`)
  else if (mark !== undefined) headers.push([mark.header, 'x'])
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`
  // None of them is by OPTIONS, which the requests of a model have no word for.
  return { method: method as ModelRequest['method'], target: PATHS[level] + query, headers }
}

export const unservedStep: fc.Arbitrary<Step> = fc
  .array(fc.constantFrom(...NOT_IMPLEMENTED), REQUESTS)
  .map((operations) => new Unserved(operations))
