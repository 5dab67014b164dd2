/** What every command that reads makes of a data directory, with a server on it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../cli/command-runner.ts'
import { type ManagedServer, SYSTEM_TOKEN } from '../management-server.ts'
import { ACCESS_KEY, SECRET_KEY } from '../test-clients.ts'
import { MASTER_KEY } from '../test-store.ts'
import { BUCKET, LARGE, SMALL } from './store-of-every-file.ts'

const EVER = '--since 1970-01-01T00:00:00Z --limit 1000'
/** Commands, by the names of the table. `OUT` is a directory of this reading. */
const COMMANDS = {
  verify: 'journal verify',
  show: 'journal show --operation none',
  doctor: 'server doctor',
  backup: 'backup OUT/backup',
  query: `audit query ${EVER}`,
  exported: 'audit export --output OUT/export',
  chain: 'audit chain',
  events: `events list ${EVER}`,
  proof: `proof create ${BUCKET} small --output OUT/proof`,
  checkpoint: 'checkpoint show',
  prove: 'checkpoint prove 10',
  tiles: 'checkpoint export OUT/log',
  status: 'storage status',
  bucket: `verify bucket ${BUCKET}`,
} as const

/** Exit codes of commands, and what requests for objects and events are answered with. */
export type Readings = Readonly<
  Record<keyof typeof COMMANDS, number> & { small: string; large: string; stream: string }
>

export const ALL_READ: Readings = {
  verify: 0,
  show: 0,
  doctor: 0,
  backup: 0,
  query: 0,
  exported: 0,
  chain: 0,
  events: 0,
  proof: 0,
  checkpoint: 0,
  prove: 0,
  tiles: 0,
  status: 0,
  bucket: 0,
  small: 'whole',
  large: 'whole',
  stream: 'whole',
}

export const environmentOf = (server: Pick<ManagedServer, 'apiEndpoint' | 'paths'>) => ({
  OBJECT_STORE_URL: server.apiEndpoint,
  OBJECT_STORE_TOKEN: SYSTEM_TOKEN,
  OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
  OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
  OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
  OBJECT_STORE_DATA_DIR: server.paths.root,
})

/** Runs all of them, one after the other. */
export async function readingsOf(server: ManagedServer): Promise<Readings> {
  const out = mkdtempSync(join(tmpdir(), 'object-store-damage-'))
  const environment = environmentOf(server)
  try {
    const codes: Record<string, number> = {}
    for (const [name, line] of Object.entries(COMMANDS)) {
      const { exitCode } = await run(line.replace('OUT', out).split(' '), { environment })
      codes[name] = exitCode
    }
    const small = await objectOf(server, 'small', SMALL)
    const large = await objectOf(server, 'large', LARGE)
    return { ...(codes as Record<keyof typeof COMMANDS, number>), small, large, stream: await streamOf(server) }
  } finally {
    rmSync(out, { recursive: true })
  }
}

async function objectOf(server: ManagedServer, key: string, bytes: Buffer): Promise<string> {
  const { status, body } = await server.wire.send('GET', `/${BUCKET}/${key}`)
  if (status !== 200) return /<Code>(\w+)</.exec(body.toString())?.[1] ?? String(status)
  return body.equals(bytes) ? 'whole' : 'other bytes'
}

async function streamOf(server: ManagedServer): Promise<string> {
  const headers = { authorization: `Bearer ${SYSTEM_TOKEN}` }
  const answer = await fetch(`${server.apiEndpoint}/api/v1/events/stream?follow=false`, { headers })
  if (answer.status !== 200) return String(answer.status)
  return (await answer.text()).includes('{"damage":') ? 'names damage' : 'whole'
}

/** Exit code of `projections check` on a stopped store. */
export async function checkOf(root: string): Promise<number> {
  const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'), OBJECT_STORE_DATA_DIR: root }
  return (await run(['projections', 'check'], { environment })).exitCode
}
