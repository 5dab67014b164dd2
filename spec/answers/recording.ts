/** What is kept of a run, and its file: JSON lines, compressed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { groupedBy } from './grouped.ts'

/** A request and what became of it, everything with names in the place of what differs between two runs. */
export interface Exchange {
  /** The block that made the request. */
  readonly block: string
  /** What was asked, for people and to see that two recordings asked the same. */
  readonly ask: string
  /** Status line of the answer, after those of interim answers; or how the connection ended without one. */
  readonly status: string
  /** Header lines in their order. */
  readonly head: readonly string[]
  readonly body: string
  /** Records of the request in the journal, in their order. */
  readonly records: readonly string[]
}

/** By block, in the order of the requests. */
export type Recording = ReadonlyMap<string, readonly Exchange[]>

export function recordingOf(exchanges: readonly Exchange[]): Recording {
  return groupedBy(exchanges, ({ block }) => block)
}

export function writeRecording(path: string, exchanges: readonly Exchange[]): void {
  const lines = exchanges.map(({ block, ask, status, head, body, records }) =>
    JSON.stringify([block, ask, status, head, body, records]),
  )
  writeFileSync(path, gzipSync(`${lines.join('\n')}\n`, { level: 9 }))
}

type Row = readonly [string, string, string, readonly string[], string, readonly string[]]

export function readRecording(path: string): Recording {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')
  const exchanges = lines.map((line): Exchange => {
    const [block, ask, status, head, body, records] = JSON.parse(line) as Row
    return { block, ask, status, head, body, records }
  })
  return recordingOf(exchanges)
}
