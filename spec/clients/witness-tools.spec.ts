/** Witnesses and logs of other people: each of them does its part with a live store (formats/log-tools.md). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { readCheckpointNote, readSignatureLines } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureOf, cosignerKeyText, readCosignerKey } from '../../engine/checkpoints/cosignature.ts'
import { freePort } from '../support/free-port.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { run } from './client-programs.ts'
import { builtCommand, builtFile } from './go-programs.ts'

const TOKEN = 'the-system-token-of-the-specs-0123456789'
const WITNESS = 'witness.example/lite'
const TORCHWOOD = 'filippo.io/torchwood'
const MODULES = [`${TORCHWOOD}@v0.9.0`, 'golang.org/x/mod@v0.42.0']
const LOOKS_MAXIMUM = 200

/** Makes the two tables of litewitness and a row for a log that it has not seen yet. */
const KNOW_LOG = `
import sqlite3, sys
path, origin, key = sys.argv[1:]
database = sqlite3.connect(path)
database.executescript("""
CREATE TABLE log (origin TEXT PRIMARY KEY, tree_size INTEGER NOT NULL, tree_hash TEXT NOT NULL);
CREATE TABLE key (origin TEXT NOT NULL, key TEXT NOT NULL, FOREIGN KEY(origin) REFERENCES log(origin));
""")
database.execute("INSERT INTO log VALUES (?, 0, '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')", (origin,))
database.execute("INSERT INTO key VALUES (?, ?)", (origin, key))
database.commit()
`

async function startStore(settings: Readonly<Record<string, string>>) {
  const server = await startProcess({
    environment: { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN, ...settings },
  })
  const transparency = `${server.apiEndpoint}/api/v1/transparency`
  const ask = async (name: string): Promise<string> => {
    const answer = await fetch(`${transparency}/${name}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    return answer.ok ? answer.text() : ''
  }
  return { server, transparency, ask }
}

test('a log in Go has its checkpoints cosigned by a store, and torchwood verifies what the store says', async (t) => {
  const log = await builtFile(temporaryDirectory(), resolve('spec/clients/go/other_log.go'), MODULES)
  if ('reason' in log) return void t.pass('other_log', { skip: log.reason })
  const key = (await run(log.path, ['key'])).stdout.toString().trim()
  const { server, transparency, ask } = await startStore({ OBJECT_STORE_CHECKPOINTS_WITNESS_FOR: key })
  const witness = (await ask('witness/key')).trim()
  const { code, stdout, stderr } = await run(log.path, ['submit', `${transparency}/witness`, witness])
  t.equal(code, 0, stderr)
  const said = stdout.toString().replaceAll(/ at \d{10}\n/g, '\n')
  t.equal(said, 'cosigned 3\ncosigned 64\ncosigned 100\ncosigned 100\nconflict 409 100\n')
  t.match(JSON.parse(await ask('witness/logs')), { logs: [{ origin: 'go.example/log', size: 100 }] })
  const other = await run(log.path, ['submit', `${transparency}/witness`, witness.replace(/^[^+]+/, 'another')])
  t.not(other.code, 0, 'a key of another name is none')
  await server.stop()
})

test('litewitness of torchwood cosigns the checkpoints of a store', async (t) => {
  const place = temporaryDirectory()
  const lite = await builtCommand(place, `${TORCHWOOD}/cmd/litewitness@v0.9.0`)
  if ('reason' in lite) return void t.pass('litewitness', { skip: lite.reason })
  const agent = spawn('ssh-agent', ['-D', '-a', join(place, 'agent')], { stdio: 'ignore' })
  const keyFile = join(place, 'key')
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', keyFile])
  const environment = { SSH_AUTH_SOCK: join(place, 'agent') }
  for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
    if ((await run('ssh-add', ['-q', keyFile], { environment })).code === 0) break
    await pause(20)
  }
  const publicLine = (await run('ssh-keygen', ['-y', '-f', keyFile])).stdout.toString()
  const publicKey = Buffer.from(publicLine.split(' ')[1] ?? '', 'base64').subarray(-32)
  const fingerprint = (await run('ssh-keygen', ['-l', '-f', keyFile])).stdout.toString().split(' ')[1] ?? ''

  const { server, ask } = await startStore({ OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1' })
  const checkpointBeyond = async (size: number): Promise<string> => {
    for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
      const note = await ask('checkpoint')
      if (Number(note.split('\n')[1]) > size) return note
      await server.wire.send('GET', '/nothing')
      await pause(50)
    }
    return ''
  }
  const first = await checkpointBeyond(0)
  const { origin, size } = readCheckpointNote(first)
  const database = join(place, 'witness.db')
  await run('python3', ['-c', KNOW_LOG, database, origin, (await ask('key')).trim()])
  const port = await freePort()
  const words = ['-name', WITNESS, '-db', database, '-ssh-agent', environment.SSH_AUTH_SOCK, '-key', fingerprint]
  const witness = spawn(lite.path, [...words, '-listen', `127.0.0.1:${port}`], { stdio: 'ignore' })
  const submit = async (body: string) => {
    for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/add-checkpoint`, { method: 'POST', body }).catch(
        () => undefined,
      )
      if (answer !== undefined) return { status: answer.status, text: await answer.text() }
      await pause(20)
    }
    throw new Error('litewitness does not listen')
  }
  const key = readCosignerKey(cosignerKeyText(WITNESS, publicKey))
  const isCosigned = ({ text }: { readonly text: string }, note: string) =>
    cosignatureOf(readCheckpointNote(note).text, readSignatureLines(text), key) !== undefined

  const answer = await submit(`old 0\n\n${first}`)
  t.equal(answer.status, 200, answer.text)
  t.ok(isCosigned(answer, first))
  const second = await checkpointBeyond(size)
  const proof = await ask(`proof/consistency?old=${size}&size=${readCheckpointNote(second).size}`)
  const extended = await submit(proof)
  t.equal(extended.status, 200, extended.text)
  t.ok(isCosigned(extended, second) && !isCosigned(extended, first))
  t.same(await submit(`old 0\n\n${first}`), { status: 409, text: `${readCheckpointNote(second).size}\n` })
  for (const child of [witness, agent]) {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  await server.stop()
})
