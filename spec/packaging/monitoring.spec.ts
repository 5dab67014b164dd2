/** What Prometheus itself says of the rules for alerts and of the dashboard's expressions. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { dashboardExpressions, RULES, ruleExpressions } from '../support/pages/monitoring.ts'
import { runs } from './installed.ts'

test('the rules are valid, and call when they should', async (t) => {
  t.match(await runs('.', 'promtool', 'check', 'rules', RULES), `SUCCESS: ${ruleExpressions().length} rules found`)
  t.match(await runs('.', 'promtool', 'test', 'rules', 'spec/packaging/alerts.test.yml'), 'SUCCESS')
})

test('the expressions of the dashboard are valid', async (t) => {
  // As recording rules, which promtool reads; Grafana puts its own names in before Prometheus sees them.
  const rules = dashboardExpressions().map(({ expression }, index) => ({
    record: `panel:${index}`,
    expr: expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|instance)\b/g, 'a'),
  }))
  const path = join(t.testdir(), 'panels.json')
  const check = async () => runs('.', 'promtool', 'check', 'rules', path)
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  t.match(await check(), `SUCCESS: ${rules.length} rules found`)
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules: [{ record: 'a', expr: 'rate(b[5m)' }] }] }))
  await t.rejects(check(), /parse error/)
})
