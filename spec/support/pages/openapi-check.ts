/** Holds live answers of the management listener against the OpenAPI document that it serves. */
import { openApiDocument } from '../../../planes/management/openapi/openapi.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import type { ApiAnswer } from '../api-client.ts'
import { SchemaValidator } from './schema-validator.ts'

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { schema: unknown }>>
        readonly 'x-error-codes'?: readonly string[]
      }
    >
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const document = openApiDocument('0.0.0-spec', routeList) as unknown as Document
const validator = new SchemaValidator(document.components.schemas)

/** Templates with fewer names first, so that a fixed segment goes before a name. */
const TEMPLATES = Object.keys(document.paths)
  .toSorted((left, right) => left.split('{').length - right.split('{').length)
  .map((template) => ({
    template,
    pattern: new RegExp(
      `^${template
        .replaceAll('.', '\\.')
        .replace('{key}', '.+')
        .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
    ),
  }))

function operationsAt(target: string): Readonly<Record<string, Operation>> | undefined {
  const path = target.split('?')[0] ?? ''
  const found = TEMPLATES.find(({ pattern }) => pattern.test(path))
  return found === undefined ? undefined : document.paths[found.template]
}

/** What of an answer the document speaks of. */
type CheckedAnswer = Pick<ApiAnswer, 'status' | 'headers' | 'text' | 'json' | 'code'>

/** What an answer has that the document does not say, or the other way round; empty when they agree. */
export function disagreements(method: string, target: string, answer: CheckedAnswer): string[] {
  const named = (problems: readonly string[]) => problems.map((text) => `${method} ${target} ${answer.status}: ${text}`)
  const operations = operationsAt(target)
  const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (operation === undefined) {
    const codes = operations === undefined ? ['NOT_FOUND'] : ['METHOD_NOT_ALLOWED']
    const isRefused = answer.code !== undefined && codes.includes(answer.code)
    return method === 'HEAD' || isRefused ? [] : named(['the document has no such operation'])
  }
  const response = operation.responses[String(answer.status)]
  if (response === undefined) return named([`the document has no such status (${answer.code})`])
  const codes = response['x-error-codes']
  if (answer.code !== undefined && codes?.includes(answer.code) === false) {
    return named([`the document has no such code (${answer.code})`])
  }
  const mediaType = answer.headers['content-type']
  if (response.content === undefined) {
    return named(mediaType === undefined && answer.text === '' ? [] : ['the document says that there is no body'])
  }
  const content = response.content[mediaType ?? '']
  if (content === undefined) return named([`the document does not know the media type ${mediaType}`])
  if (method === 'HEAD' || mediaType !== 'application/json') return []
  return named(validator.problemsOf(answer.json, content.schema))
}
