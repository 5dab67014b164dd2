import type { Answer } from '../../planes/management/routing/route-command.ts'

/** Entries of all lists together from which on no further page is asked for: a terminal has no use for more. */
const LISTED_MAXIMUM = 10_000

/** Members that count entries of one page. */
const COUNTS = ['examined', 'held_count']

/** Members that only the first page has, for all pages. */
const TOTALS = ['held_total']

/**
 * All pages of an inspection or a report as one answer, which has a cursor only if it ends early.
 * @param lists members whose entries are joined over all pages
 * @param ask the page after a cursor
 */
export async function joinedPages(
  lists: readonly string[],
  ask: (after: string | undefined) => Promise<Answer>,
): Promise<Answer> {
  let sum: Answer | undefined
  for (;;) {
    const page = await ask(sum === undefined ? undefined : String(sum['next_after']))
    sum = sum === undefined ? page : added(sum, page, lists)
    const listed = lists.reduce((count, name) => count + entries(sum, name).length, 0)
    if (typeof sum['next_after'] !== 'string' || listed >= LISTED_MAXIMUM) return sum
  }
}

function entries(answer: Answer | undefined, name: string): readonly unknown[] {
  const list = answer?.[name]
  return Array.isArray(list) ? list : []
}

function added(sum: Answer, page: Answer, lists: readonly string[]): Answer {
  const joined = lists.map((name) => [name, [...entries(sum, name), ...entries(page, name)]])
  const counted = COUNTS.filter((name) => typeof page[name] === 'number')
  return {
    ...page,
    ...Object.fromEntries(TOTALS.filter((name) => name in sum).map((name) => [name, sum[name]])),
    // Findings of one page are not undone by a later page without findings.
    ...(sum['consistent'] === false ? { consistent: false } : {}),
    ...Object.fromEntries(counted.map((name) => [name, Number(sum[name]) + Number(page[name])])),
    ...Object.fromEntries(joined),
  }
}
