/** Waiting until the journal has a record, by the counter that the metrics show: asking for them leaves no record. */
import { get } from 'node:http'
import { SCRAPE_TOKEN } from './server.ts'

const LOOK_MILLISECONDS = 2
const WAIT_MILLISECONDS = 5000

/** Records in the journal since the start of the server. */
export function journalRecords(apiPort: number): Promise<number> {
  return metric(apiPort, 'object_store_journal_records_total')
}

function metric(apiPort: number, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${SCRAPE_TOKEN}` }
  return new Promise((resolve, reject) => {
    const request = get({ port: apiPort, host: '127.0.0.1', path: '/metrics', headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve(Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0)))
    })
    request.on('error', reject)
  })
}

async function until(apiPort: number, name: string, isThere: (value: number) => boolean): Promise<void> {
  const end = performance.now() + WAIT_MILLISECONDS
  while (!isThere(await metric(apiPort, name)) && performance.now() < end) {
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MILLISECONDS)
    })
  }
}

/** Resolves when there are more records than before; gives up after some seconds. */
export function moreRecords(apiPort: number, before: number): Promise<void> {
  return until(apiPort, 'object_store_journal_records_total', (now) => now > before)
}

/** Resolves when a gauge has a value; gives up after some seconds. */
export function gaugeValue(apiPort: number, name: string, value: number): Promise<void> {
  return until(apiPort, name, (now) => now === value)
}
