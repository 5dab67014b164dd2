import type { Schema } from './schema.ts'

/** Answers may get further members in later versions; unknown members of requests are refused. */
type Use = 'answer' | 'request'

const REFERENCE = '#/components/schemas/'

/**
 * The schemas of an OpenAPI document in the form that client generators understand: every object is a named component,
 * and a value of several types is a choice (`anyOf`), not a list of types.
 */
export class NamedSchemas {
  /** Components by name, as the document shows them. */
  readonly components: Record<string, Schema> = {}
  /** Name of each given component by its content. */
  readonly #given: ReadonlyMap<string, string>
  /** Name of each nested object of one use by its content. */
  readonly #nested = { answer: new Map<string, string>(), request: new Map<string, string>() }

  /** `given`: components with names of their own, which requests and answers share. */
  constructor(given: Readonly<Record<string, Schema>>) {
    this.#given = new Map(Object.entries(given).map(([name, schema]) => [JSON.stringify(schema), name]))
    for (const [name, schema] of Object.entries(given)) this.components[name] = this.#inner(schema, name, 'answer')
  }

  /** A reference to the schema of a whole body, added under this name unless it is a given component. */
  body(schema: Schema, name: string, use: Use): Schema {
    const given = this.#given.get(JSON.stringify(schema))
    if (given !== undefined) return referenceTo(given)
    if (schema.properties === undefined) return this.#shown(schema, name, use)
    return this.#add(name, schema, use)
  }

  #shown(schema: Schema, name: string, use: Use): Schema {
    const text = JSON.stringify(schema)
    const given = this.#given.get(text)
    if (given !== undefined) return referenceTo(given)
    if (schema.properties === undefined) return this.#inner(schema, name, use)
    const known = this.#nested[use].get(text)
    if (known !== undefined) return referenceTo(known)
    const added = this.#add(name, schema, use)
    this.#nested[use].set(text, nameIn(added))
    return added
  }

  #add(wanted: string, schema: Schema, use: Use): Schema {
    let name = wanted
    for (let count = 2; Object.hasOwn(this.components, name); count += 1) name = `${wanted}${count}`
    // Added before its members, to reserve its place in the order.
    this.components[name] = schema
    this.components[name] = this.#inner(schema, name, use)
    return referenceTo(name)
  }

  /** A schema with names for the objects in it. */
  #inner(schema: Schema, name: string, use: Use): Schema {
    const { type, properties, items, additionalProperties: additional, anyOf, ...rest } = schema
    if (typeof type === 'object') {
      return { ...rest, anyOf: type.map((one) => (one === 'integer' ? { type: one, format: 'int64' } : { type: one })) }
    }
    const isMap = typeof additional === 'object'
    const isClosed = additional === false && use === 'request'
    return {
      ...(type === undefined ? {} : { type }),
      ...(properties && { properties: this.#members(properties, name, use) }),
      ...(items && { items: this.#shown(items, singular(name), use) }),
      ...(isMap ? { additionalProperties: this.#shown(additional, `${name}Value`, use) } : {}),
      ...(isClosed ? { additionalProperties: false } : {}),
      ...(anyOf && { anyOf: this.#choices(anyOf, name, use) }),
      ...rest,
    }
  }

  #members(properties: NonNullable<Schema['properties']>, name: string, use: Use): NonNullable<Schema['properties']> {
    const entries = Object.entries(properties).map(([member, schema]) => {
      return [member, this.#shown(schema, name + pascal(member), use)] as const
    })
    return Object.fromEntries(entries)
  }

  #choices(choices: readonly Schema[], name: string, use: Use): Schema[] {
    const objects = choices.filter(({ properties }) => properties !== undefined)
    return choices.map((choice) => {
      const number = objects.length > 1 && choice.properties !== undefined ? objects.indexOf(choice) + 1 : ''
      return this.#shown(choice, `${name}${number}`, use)
    })
  }
}

function referenceTo(name: string): Schema {
  return { $ref: REFERENCE + name }
}

function nameIn({ $ref = '' }: Schema): string {
  return $ref.slice(REFERENCE.length)
}

/** `delete_markers` is `DeleteMarkers`. */
export function pascal(words: string): string {
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** Name of an element of a list: `Policies` are of `Policy`. */
function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : `${name}Item`
}
