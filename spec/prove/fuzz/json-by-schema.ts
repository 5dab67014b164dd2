/** JSON values that fit a schema, most of the time. */
import { COMPONENTS } from '../../../planes/management/schemas/components.ts'
import type { Schema } from '../../../planes/management/schemas/schema.ts'
import type { Random } from '../../support/random.ts'

/** Values that fit hardly any schema. */
const ODD = JSON.parse(
  '[null, true, false, 0, -1, 1.5, 9007199254740992, 1e300, "", "x", "\\ud800", "\\u0000", [], {}, {"__proto__": 1}]',
) as unknown[]
const TEXTS = ['fuzz-bucket', 'a/key', 'name', 's3:*', 's3:GetObject', 'bucket:*', 'bucket:a/b*', 'ü😀', 'a\u0007b']

function componentOf($ref: string): Schema {
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  return COMPONENTS[name as keyof typeof COMPONENTS].schema
}

export function jsonBySchema(schema: Schema, random: Random, depth = 0): unknown {
  if (random.below(40) === 0) return random.of(ODD)
  if (schema.$ref !== undefined) return jsonBySchema(componentOf(schema.$ref), random, depth)
  if (schema.anyOf !== undefined) return jsonBySchema(random.of(schema.anyOf), random, depth)
  if (schema.enum !== undefined) return random.of(schema.enum)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objectBySchema(schema, random, depth)
    case 'array': {
      const { items = {}, minItems = 0 } = schema
      return Array.from({ length: minItems + random.below(3) }, () => jsonBySchema(items, random, depth + 1))
    }
    case 'boolean':
      return random.below(2) === 0
    case 'integer':
    case 'number':
      return random.of([schema.minimum ?? 0, (schema.minimum ?? 0) - 1, schema.maximum ?? 7, (schema.maximum ?? 7) + 1])
    case 'null':
      return null
    default:
      return textBySchema(schema, random)
  }
}

function objectBySchema({ properties = {}, required = [] }: Schema, random: Random, depth: number): unknown {
  const names = Object.keys(properties).filter((name) => required.includes(name) || random.below(2) === 0)
  const kept = names.filter(() => random.below(30) > 0)
  const members = kept.map((name) => [name, jsonBySchema(properties[name] as Schema, random, depth + 1)] as const)
  return Object.fromEntries(
    random.below(30) === 0 ? [...members, [random.of(['x', '__proto__', 'constructor']), 1]] : members,
  )
}

function textBySchema({ minLength = 0, maxLength = 2000 }: Schema, random: Random): string {
  const length = random.of([minLength, minLength - 1, maxLength, maxLength + 1])
  return random.below(3) > 0 ? random.of(TEXTS) : 'n'.repeat(Math.max(0, Math.min(length, 2000)))
}
