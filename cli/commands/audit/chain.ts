import { Command, Option } from 'clipanion'
import { wholeOption } from '../option-values.ts'
import { ClientCommand } from '../../client/client-command.ts'
import { exitTable } from '../../exit-codes.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { textTable } from '../../terminal/text-table.ts'

/** Largest span that the server checks in one request, in records. */
const SPAN_MAXIMUM = 10_000
/** Problems shown; all are counted. */
const PROBLEMS_MAXIMUM = 1000

interface Problem {
  readonly sequence: number
  readonly last_sequence: number
  readonly verdict: string
  readonly segment: string
  readonly offset: number
  readonly detail: string
}

/** A span as the server reports it. */
interface Span {
  readonly checked: number
  readonly verified: number
  readonly unchained: number
  readonly head_sequence: number
  readonly head_hash: string
  readonly next_from: number | null
  readonly problems: readonly Problem[]
}

/** All spans together. */
interface ChainSummary {
  readonly intact: boolean
  readonly from: number
  readonly checked: number
  readonly verified: number
  readonly unchained: number
  readonly head_sequence: number
  readonly head_hash: string
  readonly problem_count: number
  readonly problems: readonly Problem[]
}

export class AuditChainCommand extends ClientCommand {
  static override paths = [['audit', 'chain']]

  static override usage = Command.Usage({
    category: 'Audit',
    description: 'have a running server recompute the hash chain of its audit log',
    details: `
      Follows the chain to the end of the log, and continues after problems. Ends with 0 if all of it is intact, and with
      21 if not.

      With this command the server checks itself; journal verify checks the same files without using code of the server.
    `,
    examples: [['Everything since a record', '$0 audit chain --from 4711000']],
  })

  from = Option.String('--from', { description: 'first sequence (0)' })

  override async execute(): Promise<number> {
    const summary = await this.#follow(wholeOption('--from', this.from) ?? 0)
    this.context.stdout.write(`${(this.json ? [JSON.stringify(summary)] : report(summary)).join('\n')}\n`)
    return (summary.intact ? exitTable.ok : exitTable.storeDamaged).code
  }

  async #follow(first: number): Promise<ChainSummary> {
    const client = this.client()
    const bar = new ProgressBar(this.context.stderr)
    const problems: Problem[] = []
    const counts = { checked: 0, verified: 0, unchained: 0, head_sequence: 0, head_hash: '', problem_count: 0 }
    try {
      for (let from: number | null = first; from !== null; ) {
        const query = { from: String(from), limit: String(SPAN_MAXIMUM) }
        const span = (await client.json({ method: 'GET', path: '/audit/chain', query })) as Span
        counts.checked += span.checked
        counts.verified += span.verified
        counts.unchained += span.unchained
        counts.head_sequence = span.head_sequence
        counts.head_hash = span.head_hash
        counts.problem_count += span.problems.length
        problems.push(...span.problems.slice(0, PROBLEMS_MAXIMUM - problems.length))
        from = span.next_from
        const share = ((from ?? span.head_sequence) - first) / Math.max(1, span.head_sequence - first)
        bar.draw(share, `${counts.checked.toLocaleString('en')} records`)
      }
    } finally {
      bar.clear()
    }
    return { intact: counts.problem_count === 0, from: first, ...counts, problems }
  }
}

function report(summary: ChainSummary): string[] {
  const { intact, from, checked, verified, head_sequence, head_hash, problem_count, problems } = summary
  const head = [
    ['chain', intact ? 'intact' : 'NOT INTACT'],
    ['sequences', `${from} to ${head_sequence}`],
    // In the form that journal verify --expect-head takes.
    ['head', `${head_sequence}:${head_hash}`],
    ['checked', String(checked)],
    ['verified', String(verified)],
    ['problems', String(problem_count)],
  ]
  if (problems.length === 0) return textTable(head)
  const rows = problems.map((problem) => [
    problem.last_sequence === problem.sequence
      ? String(problem.sequence)
      : `${problem.sequence}-${problem.last_sequence}`,
    problem.verdict,
    problem.segment,
    String(problem.offset),
    problem.detail,
  ])
  return [...textTable(head), '', ...textTable([['SEQUENCE', 'VERDICT', 'SEGMENT', 'OFFSET', 'DETAIL'], ...rows])]
}
