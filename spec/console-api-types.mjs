// Types of the management interface for the console, from its OpenAPI document: what an operation takes and answers.

/** A schema of the document as a type. */
function typeOf(schema) {
  if (schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => `(${typeOf(one)})`).join(' | ')
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => `(${typeOf({ ...schema, type })})`).join(' | ')
  }
  return plainTypeOf(schema)
}

function plainTypeOf(schema) {
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `readonly (${typeOf(schema.items)})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties, required = [], additionalProperties }) {
  if (properties === undefined) {
    return `Readonly<Record<string, ${typeOf(typeof additionalProperties === 'object' ? additionalProperties : undefined)}>>`
  }
  const members = Object.entries(properties).map(([name, schema]) => {
    return `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`
  })
  return `{ ${members.join('; ')} }`
}

function answerOf(responses) {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.values(content).map(({ schema }) => typeOf(schema)))
  return types.length === 0 ? 'undefined' : [...new Set(types)].join(' | ')
}

function operationType({ parameters = [], requestBody, responses }) {
  const named = (place) => parameters.filter((parameter) => parameter.in === place)
  const path = named('path').map(({ name }) => `readonly ${JSON.stringify(name)}: string`)
  const query = named('query').map(
    ({ name, schema }) => `readonly ${JSON.stringify(name)}?: ${typeOf(schema)} | undefined`,
  )
  const json = requestBody?.content?.['application/json']
  const body = json === undefined ? 'undefined' : typeOf(json.schema)
  return `{ path: { ${path.join('; ')} }; query: { ${query.join('; ')} }; body: ${body}; answer: ${answerOf(responses)} }`
}

/** The source of a module with a type for each component, and `Operations` by method and path. */
export function apiTypes({ paths, components }) {
  const named = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const short = path.replace('/api/v1', '')
      return `  ${JSON.stringify(`${method.toUpperCase()} ${short}`)}: ${operationType(operation)}`
    }),
  )
  return `${named.join('\n')}\n\nexport interface Operations {\n${operations.join('\n')}\n}\n`
}
