/** What the rules for alerts and the dashboard ask Prometheus. */
import { readFileSync } from 'node:fs'

export const RULES = 'cli/packaging/monitoring/alerts.yml'
const DASHBOARD = 'cli/packaging/monitoring/dashboard.json'

/** One expression, with what its result is shown by. */
interface Asked {
  readonly where: string
  readonly expression: string
  /** Where labels are named in double braces. */
  readonly text: string
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** The expressions of every panel. */
export function dashboardExpressions(): Asked[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: readonly Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expression: expr, text: legendFormat })),
  )
}

/** The expressions of every rule; its file has one form of line for each key. */
export function ruleExpressions(): Asked[] {
  const [, ...rules] = readFileSync(RULES, 'utf8').split(/^ +- alert: /m)
  return rules.map((rule) => ({
    where: rule.slice(0, rule.indexOf('\n')),
    expression: /^ +expr: (?:>-\n)?([^]*?)^ +(?:for|annotations):/m.exec(rule)?.[1] ?? '',
    text: rule.replaceAll('$labels.', ''),
  }))
}
