/** Rules for alerts and the dashboard ask only for metrics that there are, by labels that they have. */
import { test } from 'tap'
import { metricTable } from '../planes/metrics/metric-table.ts'
import { dashboardExpressions, ruleExpressions } from './support/pages/monitoring.ts'

const METRIC = /\b(?:object_store|process|nodejs)_[a-z0-9_]+\b/g
/** What Prometheus adds to every series. */
const ADDED = ['job', 'instance']

const samples = new Map(
  metricTable.flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((suffix) => [name + suffix, [...labels, 'le']])
      : [[name, labels]],
  ),
)

/** Labels in selectors, groupings and texts. */
function labelsIn(expression: string, text: string): string[] {
  const selected = [...expression.matchAll(/\b([a-z_]+)=~?"/g)]
  const shown = [...text.matchAll(/\{\{ ?([a-z_]+) ?\}\}/g)]
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */))
  return [...[...selected, ...shown].map(([, label = '']) => label), ...grouped]
}

const asked = { rules: ruleExpressions(), dashboard: dashboardExpressions() }

for (const [name, expressions] of Object.entries(asked)) {
  test(`${name}: metrics and labels are those of the table`, async (t) => {
    t.ok(expressions.length > 15)
    for (const { where, expression, text } of expressions) {
      const named = expression.match(METRIC) ?? []
      t.ok(named.length > 0 || /^up\b/.test(expression), `${where}: ${expression}`)
      for (const metric of named) t.ok(samples.has(metric), `${where}: ${metric}`)
      const known = [...ADDED, ...named.flatMap((metric) => samples.get(metric) ?? [])]
      for (const label of labelsIn(expression, text)) t.ok(known.includes(label), `${where}: ${label}`)
    }
  })
}

test('the check finds what is not there', async (t) => {
  t.same(labelsIn('sum by (le, class) (a{plane="s3"})', '{{result}} {{ thread }}'), [
    'plane',
    'result',
    'thread',
    'le',
    'class',
  ])
  t.notOk(samples.has('object_store_request_duration_seconds'), 'a histogram has no series of its own name')
})
