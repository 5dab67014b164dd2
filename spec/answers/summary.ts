/** What a recording reaches: statuses, error codes and operations, with how often each was answered. */
import { groupedBy } from './grouped.ts'
import type { Recording } from './recording.ts'

function counted(words: readonly string[]): string {
  const counts = [...groupedBy(words, (word) => word)].map(([word, all]) => `${word} ${all.length}`)
  return counts.toSorted().join('\n  ')
}

export function summary(recording: Recording): string {
  const all = [...recording.values()].flat()
  const codes = all.flatMap(({ body }) => /<Code>(\w+)<|^\{"error":\{"code":"(\w+)"/.exec(body)?.slice(1) ?? [])
  const records = all.flatMap((exchange) => exchange.records)
  const faults = records.flatMap((record) => /"error":"([^"]+)"/.exec(record)?.[1] ?? [])
  const operations = records.flatMap((record) => /"api":"(\w+)"/.exec(record)?.[1] ?? [])
  const routes = records.flatMap((record) => /^\w+ ([A-Z]+ \/\S+)/.exec(record)?.[1] ?? [])
  const blocks = Array.from(recording, ([name, exchanges]) => `${name} ${exchanges.length}`)
  return [
    `requests: ${all.length}`,
    `blocks:\n  ${blocks.join('\n  ')}`,
    `statuses:\n  ${counted(all.map(({ status }) => status))}`,
    `error codes of answers:\n  ${counted(codes.filter((code) => code !== undefined))}`,
    `errors in records:\n  ${counted(faults)}`,
    `S3 operations in records:\n  ${counted(operations)}`,
    `routes in records:\n  ${counted(routes)}`,
  ].join('\n')
}
