/** Ways to spoil a good JSON body: members of another type, missing ones, further ones. */

const OTHER_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  '',
  ' ',
  'text',
  'x'.repeat(2000),
  'control \u0001',
  'half \ud800',
  'ä€😀',
  [],
  [null],
  {},
  { other: 1 },
  2 ** 60,
]

type Json = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every body that differs from a good one in one member, at any depth. */
export function spoiledObjects(good: Json): unknown[] {
  const spoiled: unknown[] = [{ ...good, unknown_member: 1 }]
  for (const [name, value] of Object.entries(good)) {
    const { [name]: _, ...rest } = good
    spoiled.push(rest)
    for (const other of OTHER_VALUES) spoiled.push({ ...good, [name]: other })
    if (isObject(value)) for (const inner of spoiledObjects(value)) spoiled.push({ ...good, [name]: inner })
    const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : []
    if (isObject(first)) {
      for (const inner of spoiledObjects(first)) spoiled.push({ ...good, [name]: [inner, ...others] })
    }
    if (typeof first === 'string') {
      for (const other of OTHER_VALUES.slice(0, 12)) spoiled.push({ ...good, [name]: [other, ...others] })
    }
  }
  return spoiled
}
