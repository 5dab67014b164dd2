/**
 * Holds values against schemas, as far as this project writes any. A word that it does not know is an error, so that no
 * part of a schema goes unread.
 */

type Json = Readonly<Record<string, unknown>>

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return typeof value
}

type Rule = (value: unknown, argument: never, schema: Json) => string | false

/** What each word of a schema asks; a text says what is wrong. A word looks only at values of its own type. */
const RULES: Readonly<Record<string, Rule>> = {
  type: (value, type: string | readonly string[]) => {
    const actual = typeOf(value)
    const fits = [type].flat().some((one) => one === actual || (one === 'number' && actual === 'integer'))
    return !fits && `is ${actual}, not ${type}`
  },
  required: (value, names: string[]) => {
    const missing = isObject(value) ? names.filter((name) => !Object.hasOwn(value, name)) : []
    return missing.length > 0 && `has no ${missing.join(', ')}`
  },
  minItems: (value, minimum: number) => Array.isArray(value) && value.length < minimum && 'has too few items',
  maxItems: (value, maximum: number) => Array.isArray(value) && value.length > maximum && 'has too many items',
  minLength: (value, minimum: number) => typeof value === 'string' && value.length < minimum && 'is too short',
  maxLength: (value, maximum: number) => typeof value === 'string' && value.length > maximum && 'is too long',
  minimum: (value, minimum: number) => typeof value === 'number' && value < minimum && 'is too small',
  maximum: (value, maximum: number) => typeof value === 'number' && value > maximum && 'is too large',
  enum: (value, values: unknown[]) =>
    !values.includes(value) && `is ${JSON.stringify(value)}, which is not in the list`,
  pattern: (value, pattern: string) =>
    typeof value === 'string' && !new RegExp(pattern).test(value) && `does not fit ${pattern}`,
  format: (value, format: string) => {
    if (format === 'int64') return typeof value === 'number' && !Number.isSafeInteger(value) && 'is not a whole number'
    if (format === 'double' || format === 'binary') return false
    if (format !== 'date-time') return `has the unknown format ${format}`
    const isTime = typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value))
    return !isTime && 'is no time'
  },
  default: () => false,
  description: () => false,
}

/** Words that look into a value, handled by `problemsOf` itself. */
const DEEP: ReadonlySet<string> = new Set(['$ref', 'anyOf', 'properties', 'additionalProperties', 'items'])

export class SchemaValidator {
  readonly #components: Json

  /** `components`: what `#/components/schemas/<name>` refers to. */
  constructor(components: Json) {
    this.#components = components
  }

  /** What is wrong with a value, each with where it is; empty when nothing is. */
  problemsOf(value: unknown, schema: unknown, at = 'body'): string[] {
    if (!isObject(schema)) return [`${at}: its schema is no object`]
    const problems: string[] = []
    for (const [word, argument] of Object.entries(schema)) {
      if (DEEP.has(word)) continue
      const rule = RULES[word]
      const problem = rule === undefined ? `has the unknown word ${word}` : rule(value, argument as never, schema)
      if (problem !== false) problems.push(`${at}: ${problem}`)
    }
    return [...problems, ...this.#deepProblems(value, schema, at)]
  }

  #deepProblems(value: unknown, schema: Json, at: string): string[] {
    const { $ref, anyOf, properties, additionalProperties, items } = schema
    const problems: string[] = []
    if (typeof $ref === 'string') problems.push(...this.problemsOf(value, this.#component($ref), at))
    if (Array.isArray(anyOf)) {
      const each = anyOf.map((one) => this.problemsOf(value, one, at))
      if (each.every((found) => found.length > 0)) problems.push(`${at}: fits none of ${JSON.stringify(each)}`)
    }
    if (Array.isArray(value) && items !== undefined) {
      problems.push(...value.flatMap((item, index) => this.problemsOf(item, items, `${at}[${index}]`)))
    }
    if (!isObject(value)) return problems
    const known = new Map(isObject(properties) ? Object.entries(properties) : [])
    // The document leaves answers open for members of later versions; this version has no others than it says.
    const others = additionalProperties ?? (properties === undefined ? undefined : false)
    for (const [name, member] of Object.entries(value)) {
      const inner = known.get(name) ?? others
      if (inner === false) problems.push(`${at}.${name}: is not in the schema`)
      else if (inner !== undefined) problems.push(...this.problemsOf(member, inner, `${at}.${name}`))
    }
    return problems
  }

  #component($ref: string): unknown {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    if ($ref !== `#/components/schemas/${name}`) throw new Error(`${$ref} leads nowhere`)
    return this.#components[name]
  }
}
