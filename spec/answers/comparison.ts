/** Two recordings held against each other, answer by answer. */
import type { Exchange, Recording } from './recording.ts'

/** A way in which answers differ, and the requests whose answers do. */
export interface Difference {
  readonly shape: string
  readonly asks: readonly string[]
}

/** A difference that is meant. */
export interface OnPurpose {
  /** What the shape of the difference matches. */
  readonly shape: RegExp
  /** What the block and request match; any where it is not there. */
  readonly ask?: RegExp
  readonly reason: string
}

const AROUND = 24
const SHOWN = 100

/** The differing middle of two texts, with a little around it. */
export function middle(before: string, after: string): string {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  const bound = Math.min(before.length, after.length) - start
  while (end < bound && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const from = Math.max(0, start - AROUND)
  const cut = (text: string) => JSON.stringify(text.slice(from, Math.min(text.length - end + AROUND, from + SHOWN)))
  return `${cut(before)} is now ${cut(after)}`
}

/** Header names and values that only one side has, or that they are in another order. */
function headShape(before: readonly string[], after: readonly string[]): string {
  const gone = before.filter((line) => !after.includes(line))
  const come = after.filter((line) => !before.includes(line))
  if (gone.length === 0 && come.length === 0) return `headers are in another order: ${after.map(nameOf).join(', ')}`
  return `headers: ${[...gone.map((line) => `without ${line}`), ...come.map((line) => `with ${line}`)].join('; ')}`
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':'))
}

function shapesOf(before: Exchange, after: Exchange): string[] {
  if (before.ask !== after.ask) return [`the request is another: ${middle(before.ask, after.ask)}`]
  const shapes: string[] = []
  if (before.status !== after.status) shapes.push(`status ${before.status} is now ${after.status}`)
  if (before.head.join('\n') !== after.head.join('\n')) shapes.push(headShape(before.head, after.head))
  if (before.body !== after.body) shapes.push(`body: ${middle(before.body, after.body)}`)
  const [old, young] = [before.records.join('\n'), after.records.join('\n')]
  if (old !== young) {
    const counts = `${before.records.length} and ${after.records.length}`
    const places = before.records.length === after.records.length ? '' : ` (${counts})`
    shapes.push(`records${places}: ${middle(old, young)}`)
  }
  return shapes
}

/**
 * The differences by their shape, those with the most requests first. What only one recording has is a difference.
 * @param partly only the blocks of the new recording are looked at
 */
export function compare(old: Recording, young: Recording, partly = false): Difference[] {
  const found = new Map<string, string[]>()
  const note = (shape: string, ask: string): void => {
    const asks = found.get(shape)
    if (asks === undefined) found.set(shape, [ask])
    else asks.push(ask)
  }
  for (const block of new Set([...(partly ? [] : old.keys()), ...young.keys()])) {
    const before = old.get(block) ?? []
    const after = young.get(block) ?? []
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      const [one, other] = [before[index], after[index]]
      const ask = `${block} ${index + 1}: ${(one ?? other)?.ask}`
      if (one === undefined || other === undefined) {
        note(one === undefined ? 'only the new recording has the request' : 'the new recording lacks the request', ask)
      } else for (const shape of shapesOf(one, other)) note(shape, ask)
    }
  }
  const differences = Array.from(found, ([shape, asks]): Difference => ({ shape, asks }))
  return differences.toSorted((a, b) => b.asks.length - a.asks.length)
}

/** The differences that no row says to be meant. */
export function withoutMeant(differences: readonly Difference[], meant: readonly OnPurpose[]): Difference[] {
  return differences.flatMap(({ shape, asks }) => {
    const rows = meant.filter((row) => row.shape.test(shape))
    const left = asks.filter((each) => !rows.some(({ ask }) => ask === undefined || ask.test(each)))
    return left.length === 0 ? [] : [{ shape, asks: left }]
  })
}

const ASKS_SHOWN = 5

export function differenceText({ shape, asks }: Difference): string {
  const more = asks.length > ASKS_SHOWN ? [`    and ${asks.length - ASKS_SHOWN} more`] : []
  return [`${asks.length} times: ${shape}`, ...asks.slice(0, ASKS_SHOWN).map((ask) => `    ${ask}`), ...more].join('\n')
}

/** What an HTTP library adds to every answer. */
const LIBRARY_LINES: ReadonlySet<string> = new Set([
  'uWebSockets: 20',
  'Connection: keep-alive',
  'Keep-Alive: timeout=12',
])
/** What it writes itself, before or after the other lines. */
const LIBRARY_PLACES = /^(?:Date|Content-Length|Transfer-Encoding|Connection): /

function linesOfAnyLibrary(head: readonly string[]): string[] {
  const own = head.filter((line) => !LIBRARY_LINES.has(line) && !LIBRARY_PLACES.test(line))
  const moved = head.filter((line) => !LIBRARY_LINES.has(line) && LIBRARY_PLACES.test(line))
  return [...own, ...moved.toSorted()]
}

/** Without the header lines that an HTTP library adds to every answer, and with those that it places itself at the end. */
export function withoutLibrary(recording: Recording): Recording {
  return new Map(
    Array.from(recording, ([block, exchanges]) => [
      block,
      exchanges.map((each) => ({ ...each, head: linesOfAnyLibrary(each.head) })),
    ]),
  )
}

/** Each difference with all of its requests, as in the file that is kept of those between the HTTP drivers. */
export function wholeText(differences: readonly Difference[]): string {
  return differences.flatMap(({ shape, asks }) => [shape, ...asks.map((ask) => `    ${ask}`), '']).join('\n')
}
