/**
 * `server doctor`: what each check finds, and `completion`: what a shell makes of its script.
 * Proves: API-PRO-05, API-PRO-06, API-PRO-07, LIM-VAL-22, VER-ANY-05.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import type { Finding } from '../../cli/commands/server/doctor/finding.ts'
import { CONFIGURED, doctor, paths, report, root, SCRAPE_TOKEN } from '../support/doctor-report.ts'
import { journalListing } from '../support/journal-files.ts'
import { startManaged } from '../support/management-server.ts'
import { SECRET_KEY } from '../support/test-clients.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { run } from './command-runner.ts'

const CHECKS = [
  'configuration',
  'data directory',
  'atomic publication',
  'storage format',
  'restore state',
  'chain',
  'projections',
  'record index',
  'backup',
  'clock',
  'free space',
  'S3 profile',
  'S3 listener',
  'management listener',
  'console listener',
  'HTTP driver',
  'open files',
  'certificates',
  'credential master key',
  'root credential',
  'metrics token',
]

/** Found well or not by what the machine is like. */
const OF_THE_MACHINE = ['free space', 'HTTP driver', 'open files']

test('a sound store', async (t) => {
  const before = journalListing(paths)
  const { exitCode, healthy, checks, of } = await report()
  t.equal(exitCode, 0)
  t.equal(healthy, true)
  t.same(
    checks.map(({ check }) => check),
    CHECKS,
  )
  t.same(
    checks.filter(({ check, status }) => !OF_THE_MACHINE.includes(check) && status !== 'ok'),
    [],
  )
  t.same(
    readdirSync(root).filter((name) => name.startsWith('probe')),
    [],
    'the file of the probe is gone',
  )
  t.match(of('storage format'), /^ok: version 1, deployment [0-9a-f]{32}$/)
  t.match(of('restore state'), /^ok: the journal ends at (\d+), its high-water mark is \1$/)
  const { stdout } = await doctor()
  t.same(stdout.match(/^(ok|warning|failed|skipped) /gm)?.length, CHECKS.length)
  for (const { check, status } of checks) t.match(stdout, new RegExp(`^${status} +${check} `, 'm'))
  t.same(journalListing(paths), before, 'nothing was changed')
})

test('a store that was not made yet', async (t) => {
  const directory = t.testdir()
  const { exitCode, of } = await report({ OBJECT_STORE_DATA_DIR: join(directory, 'new') })
  t.equal(exitCode, 0)
  t.match(of('data directory'), /^ok: .+ can be created$/)
  for (const check of ['atomic publication', 'storage format', 'restore state']) t.match(of(check), /^skipped: /, check)
  t.match(of('credential master key'), /^ok: it is configured$/)
  t.same(readdirSync(directory), [])
})

test('certificates of listeners', async (t) => {
  t.equal((await report()).of('certificates'), 'ok: no listener speaks TLS')
  const directory = t.testdir()
  const year = new Date(systemMilliseconds()).getUTCFullYear()
  const until = async (day: string): Promise<string> => {
    const { certificate, key } = selfSignedCertificate({ until: day })
    writeFileSync(join(directory, 'certificate.pem'), certificate)
    writeFileSync(join(directory, 'key.pem'), key)
    const found = await report({
      OBJECT_STORE_API_TLS_CERTIFICATE_FILE: join(directory, 'certificate.pem'),
      OBJECT_STORE_API_TLS_KEY_FILE: join(directory, 'key.pem'),
    })
    return `${found.exitCode} ${found.of('certificates')}`
  }
  t.match(await until(`${year + 2}0101000000`), new RegExp(`^0 ok: api until Jan {2}1 00:00:00 ${year + 2} GMT$`))
  t.match(await until('20210101000000'), /^7 failed: api: the certificate has expired \(Jan {2}1 00:00:00 2021 GMT\)$/)
  const soon = new Date(systemMilliseconds() + 3 * 86_400_000).toISOString().replaceAll(/\D/g, '').slice(0, 14)
  t.match(await until(soon), /^0 warning: api: the certificate expires soon \(/)
  rmSync(join(directory, 'key.pem'))
  const gone = await report({
    OBJECT_STORE_API_TLS_CERTIFICATE_FILE: join(directory, 'certificate.pem'),
    OBJECT_STORE_API_TLS_KEY_FILE: join(directory, 'key.pem'),
  })
  t.match(gone.of('certificates'), /^failed: .*TLS of api\.bind: .*key\.pem: the file cannot be read/s)
})

test('what is configured', async (t) => {
  const wrong = await report({ OBJECT_STORE_CREDENTIAL_MASTER_KEY: 'cd'.repeat(32) })
  t.match(wrong, { exitCode: 7, healthy: false, failed: ['credential master key'] })
  t.match(wrong.of('credential master key'), /not the one of this store/)
  const bare = {
    OBJECT_STORE_DATA_DIR: root,
    OBJECT_STORE_S3_BIND: '127.0.0.1:0',
    OBJECT_STORE_API_BIND: '127.0.0.1:0',
    OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
  }
  const { exitCode, stdout } = await run(['server', 'doctor', '--json'], { environment: bare })
  const { checks } = JSON.parse(stdout) as { checks: Finding[] }
  t.equal(exitCode, 7)
  t.match(checks.slice(-3), [
    {
      check: 'credential master key',
      status: 'failed',
      detail: /no master key is configured/,
      next: /OBJECT_STORE_CREDENTIAL_MASTER_KEY/,
    },
    { check: 'root credential', status: 'failed', detail: /no root credential/ },
    { check: 'metrics token', status: 'warning' },
  ])
  const unread = await report({ OBJECT_STORE_S3_BIND: 'nowhere' })
  t.match(unread, { exitCode: 7, failed: ['configuration'] })
  t.equal(unread.checks.length, 1, 'there is nothing else to look at')
})

test('free space below a fifth is a warning', async (t) => {
  const { space } = nodeDisk
  t.teardown(() => Object.assign(nodeDisk, { space }))
  const gibibyte = 1024 ** 3
  const free = async (of100: number) => {
    Object.assign(nodeDisk, { space: () => ({ availableBytes: of100 * gibibyte, capacityBytes: 100 * gibibyte }) })
    const { exitCode, of } = await report()
    return `${exitCode} ${of('free space')}`
  }
  t.match(await free(20), /^0 ok: 20480 MiB of 102400 MiB are free$/)
  t.match(await free(19.9), /^0 warning: .* are free, less than a fifth$/)
  t.match(await free(0), /^7 failed: .* every upload is refused$/)
})

test('the profile of S3', async (t) => {
  t.equal((await report()).of('S3 profile'), 'ok: strict; extensions: none')
  const { of } = await report({ OBJECT_STORE_S3_PROFILE: 'compatible', OBJECT_STORE_S3_EXTENSIONS: 'append' })
  t.equal(of('S3 profile'), 'ok: compatible, with s3.extensions set by name; extensions: append')
})

test('a port that is taken', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const bind = `127.0.0.1:${(other.address() as AddressInfo).port}`
  const s3 = await report({ OBJECT_STORE_S3_BIND: bind })
  t.match(s3, { exitCode: 7, failed: ['S3 listener'] })
  t.match(s3.of('S3 listener'), /another process listens there/)
  t.match(await report({ OBJECT_STORE_API_BIND: bind }), { exitCode: 7, failed: ['management listener'] })
  t.match(await report({ OBJECT_STORE_CONSOLE_BIND: bind }), { exitCode: 7, failed: ['console listener'] })
  const without = await report({ OBJECT_STORE_CONSOLE_BIND: bind, OBJECT_STORE_CONSOLE_ENABLED: 'false' })
  t.match(without.of('console listener'), /^skipped: console.enabled is false/)
})

test('a server that is running', async (t) => {
  const running = await startManaged({ dataDirectory: root })
  // A server in the thread of a spec leaves the lock to its caller.
  const lock = await lockStore(nodeDisk, root)
  const bind = running.endpoint.slice('http://'.length)
  const { exitCode, of } = await report({ OBJECT_STORE_S3_BIND: bind })
  await lock.release()
  await running.stop()
  t.equal(exitCode, 0, 'its port is rightly taken')
  t.match(of('S3 listener'), /^skipped: /)
})

test('what a running server says of itself', async (t) => {
  const answers = [
    [200, { status: 'ready' }],
    [
      200,
      {
        status: 'ready',
        degraded: [
          { name: 'space', reason: 'the disk is full' },
          { name: 'audit', reason: 'damage' },
        ],
      },
    ],
    [503, { status: 'not_ready', failing: [{ name: 'metadata', reason: 'it is stopping' }] }],
  ] as const
  let at = 0
  const server = createHttpServer((_request, response) => {
    const [status, body] = answers[at++] ?? [500, {}]
    response.writeHead(status).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const lock = await lockStore(nodeDisk, root)
  t.teardown(() => lock.release())
  const OBJECT_STORE_API_BIND = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const found = []
  for (const _ of answers) {
    const { exitCode, of } = await report({ OBJECT_STORE_API_BIND })
    found.push([exitCode, of('running server')])
  }
  t.same(found, [
    [0, 'ok: it is ready'],
    [0, 'warning: it is ready, degraded: space: the disk is full; audit: damage'],
    [7, 'failed: it is not ready: metadata: it is stopping'],
  ])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const gone = await report({ OBJECT_STORE_API_BIND })
  t.match([gone.exitCode, gone.of('running server')], [0, /^warning: .*cannot be reached/])
})

test('a data directory that is no directory', async (t) => {
  const directory = t.testdir({ file: '' })
  const { exitCode, failed } = await report({ OBJECT_STORE_DATA_DIR: join(directory, 'none/below') })
  t.equal(exitCode, 7)
  t.ok(failed.includes('data directory'))
  const { of } = await report({ OBJECT_STORE_DATA_DIR: join(directory, 'file') })
  t.match(of('data directory'), /^failed: \S+file is a file where a directory must be$/)
})

test('no secret is printed', async (t) => {
  for (const words of [[], ['--json']]) {
    for (const key of [CONFIGURED.OBJECT_STORE_CREDENTIAL_MASTER_KEY, 'cd'.repeat(32), 'canary-of-no-key']) {
      const { stdout, stderr } = await doctor({ OBJECT_STORE_CREDENTIAL_MASTER_KEY: key }, ...words)
      for (const secret of [key, SECRET_KEY, SCRAPE_TOKEN]) t.notOk(`${stdout}${stderr}`.includes(secret))
    }
  }
})

/** What bash offers behind these words; the last one is being typed. */
function offered(script: string, ...words: string[]): string[] {
  const quoted = ['object-store', ...words].map((word) => `'${word}'`).join(' ')
  const tail = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _object_store; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${tail}`], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`bash ended with ${status}: ${stderr}`)
  return stdout.split('\n').filter((line) => line !== '')
}

test('completion of bash', async (t) => {
  const { stdout: script } = await run(['completion', 'bash'])
  t.same(offered(script, 'serv'), ['server', 'service-account'])
  t.same(offered(script, 'quota', ''), ['set', 'show'])
  t.same(offered(script, 'server', 'd'), ['doctor'])
  t.same(offered(script, 'server', '--s'), ['--s3-bind', '--set'])
  t.same(offered(script, 'server', 'doctor', '--js'), ['--json'])
  t.same(offered(script, 'quota', 'set', 'photos', '--b'), ['--bytes'], 'behind an argument')
  t.same(offered(script, 'object', 'get', 'photos', 'a b', '--ver'), ['--version-id'])
  t.same(offered(script, 'completion', '--none'), [])
  t.same((await run(['completion', 'zsh'])).stdout, script)
  const fish = (await run(['completion', 'fish'])).stdout
  t.ok(fish.includes("complete -c object-store -n '__fish_use_subcommand' -a 'bucket'"))
  t.ok(fish.includes("complete -c object-store -n '__fish_seen_subcommand_from quota' -a 'set'"))
  t.match(await run(['completion', 'ksh']), { exitCode: 2, stderr: /choose bash, zsh or fish/ })
})
