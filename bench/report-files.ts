import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COLUMNS, cells, circumstancesRows, number, remarks, reportRows } from './report.ts'
import type { RunResult } from './run.ts'

const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url))

/**
 * Writes the results as JSON and as Markdown.
 * @returns the paths written; none for a quick run without a path
 */
export function writeReports(run: RunResult): string[] {
  const base = baseName(run)
  if (base === undefined) return []
  mkdirSync(dirname(base), { recursive: true })
  writeFileSync(`${base}.json`, `${JSON.stringify(asJson(run), undefined, 2)}\n`)
  writeFileSync(`${base}.md`, asMarkdown(run))
  return [`${base}.json`, `${base}.md`]
}

function baseName({ settings, circumstances }: RunResult): string | undefined {
  if (settings.output !== undefined) return settings.output.replace(/\.(json|md)$/, '')
  if (settings.quick) return undefined
  return join(RESULTS, `${circumstances.date.slice(0, 10)}-${circumstances.commit}`)
}

/** Secrets and paths of the machine stay out. */
function asJson(run: RunResult): object {
  const { quick, only, seconds, objects, endpoint, serverSettings } = run.settings
  return {
    circumstances: run.circumstances,
    settings: { quick, only, seconds, objects, endpoint: endpoint?.url, serverSettings },
    seconds: run.seconds,
    limits: run.limits,
    scenarios: run.scenarios.map((scenario) => ({
      ...scenario,
      figures: reportRows(run, scenario).map(({ figure, bar, verdict, limit }) => ({
        ...figure,
        limits: undefined,
        bar: bar?.value,
        verdict,
        limit: limit?.value,
        limitName: limit?.name,
      })),
    })),
    remarks: remarks(run),
  }
}

function asMarkdown(run: RunResult): string {
  const limits = run.limits.map(({ name, label, value, unit }) => [name, label, number(value), unit])
  const sections = run.scenarios
    .filter(({ figures }) => figures.length > 0)
    .flatMap((scenario) => {
      const rows = reportRows(run, scenario)
      const notes = rows.flatMap(({ figure: { label, note } }) => (note === undefined ? [] : [`- ${label}: ${note}`]))
      return [
        `## ${scenario.title}`,
        '',
        ...table(COLUMNS, rows.map(cells)),
        ...(notes.length > 0 ? ['', ...notes] : []),
        '',
      ]
    })
  return [
    `# Bench of ${run.circumstances.date.slice(0, 10)}, ${run.circumstances.commit}`,
    '',
    ...table(['', ''], circumstancesRows(run)),
    '',
    ...remarks(run).map((remark) => `- ${remark}`),
    '',
    '## Limits of the machine',
    '',
    ...table(['', '', 'value', 'unit'], limits),
    '',
    ...sections,
  ].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [line(head), `|${head.map(() => ' --- ').join('|')}|`, ...rows.map(line)]
}

function line(cellsOfRow: readonly string[]): string {
  return `| ${cellsOfRow.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
