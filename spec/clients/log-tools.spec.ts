/** A log checker of other people reads a live log whole: fsck of tessera, where Go is there to build it (formats/log-tools.md). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { run } from './client-programs.ts'
import { builtCommand } from './go-programs.ts'

const TOKEN = 'the-system-token-of-the-specs-0123456789'
const RECORDS = 300
const LOOKS_MAXIMUM = 100
const FSCK = 'github.com/transparency-dev/tessera/cmd/fsck@v1.0.4'
const CHECK_SECONDS = 60

test('fsck of tessera reads a live log whole, and fails with another key', async (t) => {
  const checker = await builtCommand(temporaryDirectory(), FSCK)
  if ('reason' in checker) return void t.pass('fsck', { skip: checker.reason })
  const server = await startProcess({
    environment: { OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1', OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN },
  })
  const log = `${server.apiEndpoint}/api/v1/transparency/`
  const ask = async (name: string): Promise<string> => {
    const answer = await fetch(log + name, { headers: { authorization: `Bearer ${TOKEN}` } })
    return answer.ok ? answer.text() : ''
  }
  for (let index = 0; index < RECORDS; index += 1) await server.wire.send('GET', `/nothing-${index}`)
  const size = async (): Promise<number> => Number((await ask('checkpoint')).split('\n')[1] ?? 0)
  for (let look = 0; look < LOOKS_MAXIMUM && (await size()) < RECORDS; look += 1) await pause(100)
  const place = temporaryDirectory()
  const check = async (key: string): Promise<string> => {
    const file = join(place, 'key')
    writeFileSync(file, key)
    const options = [`-storage_url=${log}`, `-public_key=${file}`, `-bearer_token=${TOKEN}`, '-ui=false', '-N=4']
    return (await run('timeout', [String(CHECK_SECONDS), checker.path, ...options])).stderr
  }
  const key = await ask('key')
  const whole = /Successfully fsck'd log with size (\d+)/
  t.ok(Number(whole.exec(await check(key))?.[1]) >= RECORDS)
  t.notMatch(await check(key.replace(/^[^+]+/, 'another.log')), whole)
  await server.stop()
})
