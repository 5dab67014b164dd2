import { EventEmitter, once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { readConfig } from '../../cli/config/read-config.ts'
import { ExitError } from '../../cli/exit-codes.ts'
import { createLogger } from '../../cli/server/log/logger.ts'
import { runServer } from '../../cli/server/run-server.ts'
import type { RunningServer, StartServer } from '../../cli/server/running-server.ts'
import { environment, FakeControl, FakeServer, run, spawned, startedServer } from './command-runner.ts'

const goodConfig = readConfig({ workingDirectory: '/', environment }).config
const logger = createLogger({ level: 'silent' })
function begin() {
  const [control, server] = [new FakeControl(), new FakeServer()]
  return { control, server, start: (async () => server) satisfies StartServer }
}

/** A start that does not succeed. */
function failing(error: Error): StartServer {
  return () => Promise.reject(error)
}

test('server refuses to start without its secrets', async (t) => {
  const nothing = await run(['server'])
  t.equal(nothing.exitCode, 23)
  t.match(
    nothing.stderr,
    /OBJECT_STORE_CREDENTIAL_MASTER_KEY[^]*OBJECT_STORE_ROOT_ACCESS_KEY[^]*OBJECT_STORE_ROOT_SECRET/,
  )
  const noRoot = await run(['server'], { environment: { ...environment, OBJECT_STORE_ROOT_SECRET_KEY: '' } })
  t.equal(noRoot.exitCode, 2)
  t.match(noRoot.stderr, /root\.secret_key is not set/)
  t.notMatch(noRoot.stderr, /abab/)
})

test('server reports why it could not start', async (t) => {
  const locked = await run(['server'], {
    environment,
    startServer: failing(new ExitError('directoryLocked', 'in use')),
  })
  t.equal(locked.exitCode, 22)
  t.equal(locked.stderr, 'object-store: in use\n')
  const control = new FakeControl()
  const bug = await run(['server'], { environment, control, startServer: failing(new TypeError('a bug')) })
  t.equal(bug.exitCode, 1)
  t.match(bug.stderr, /unexpected failure: TypeError: a bug\n +at /)
  t.strictSame(control.exits, ['soon 1'])
  t.strictSame(control.listeners, [], 'signals are as before')
  const full = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC', syscall: 'write' })
  t.equal((await run(['server'], { environment, startServer: failing(full) })).exitCode, 26)
})

test('signals: the first drains, and the exit code is that of the server', async (t) => {
  const { control, server, start } = begin()
  let started = 0
  const done = runServer({ config: goodConfig, logger, control, start, started: () => (started += 1) })
  await new Promise(setImmediate)
  t.equal(started, 1)
  control.signal('SIGTERM')
  t.equal(await done, 0)
  t.equal(server.stops, 1)
  t.strictSame(control.exits, ['soon 0'])
  t.strictSame(control.listeners, [])
})

test('signals: the second ends at once', async (t) => {
  const { control, server, start } = begin()
  server.stop = async () => {
    server.stops += 1
  }
  const done = runServer({ config: goodConfig, logger, control, start })
  await new Promise(setImmediate)
  control.signal('SIGINT')
  t.strictSame(control.exits, [])
  control.signal('SIGINT')
  t.strictSame(control.exits, ['now 130'])
  t.equal(server.stops, 1)
  server.end(0)
  await done
})

test('signals: one during the start drains as soon as the server has started', async (t) => {
  const { control, server } = begin()
  const finish = new EventEmitter()
  const start: StartServer = () => once(finish, 'started').then(() => server)
  let started = 0
  const done = runServer({ config: goodConfig, logger, control, start, started: () => (started += 1) })
  control.signal('SIGTERM')
  t.equal(server.stops, 0)
  finish.emit('started')
  t.equal(await done, 0)
  t.equal(server.stops, 1)
  t.equal(started, 0, 'nothing is announced')
})

test('signals: SIGHUP reloads, and one during the start does so as soon as the server has started', async (t) => {
  const { control, server } = begin()
  const finish = new EventEmitter()
  const start: StartServer = () => once(finish, 'started').then(() => server)
  const done = runServer({ config: goodConfig, logger, control, start })
  control.hangUp()
  control.hangUp()
  t.equal(server.reloads, 0)
  finish.emit('started')
  await new Promise(setImmediate)
  t.equal(server.reloads, 1)
  control.hangUp()
  t.equal(server.reloads, 2)
  t.strictSame(control.exits, [])
  server.end(0)
  t.equal(await done, 0)
  t.strictSame(control.reloadListeners, [])
})

test('signals: a server that ends by itself gives its exit code', async (t) => {
  const { control, server, start } = begin()
  const done = runServer({ config: goodConfig, logger, control, start })
  server.end(20)
  t.equal(await done, 20)
  t.strictSame(control.exits, ['soon 20'])
})

test('signals: a server that cannot be stopped ends with a failure', async (t) => {
  const { control, server, start } = begin()
  server.stop = async () => {
    throw new Error('stuck')
  }
  const done = runServer({ config: goodConfig, logger, control, start })
  await new Promise(setImmediate)
  control.signal('SIGTERM')
  await new Promise(setImmediate)
  t.strictSame(control.exits, ['now 1'])
  server.end(1)
  await done
})

test('quickstart', async (t) => {
  const directory = t.testdir()
  const workingDirectory = directory
  const quiet = { OBJECT_STORE_LOG_LEVEL: 'silent' }
  const start = async (
    extra: Record<string, string> = {},
    argv: readonly string[] = [],
    facts: Partial<RunningServer> = {},
    terminal = false,
  ) => {
    const server = Object.assign(new FakeServer(), facts)
    let secret: string | undefined
    const startServer: StartServer = async (config) => {
      secret = config['root.secret_key']?.reveal()
      setImmediate(() => server.end(0))
      return server
    }
    const options = { environment: { ...quiet, ...extra }, workingDirectory, startServer, terminal }
    const outcome = await run(['quickstart', ...argv], options)
    return { ...outcome, secret: secret ?? '(never started)' }
  }

  const first = await start({}, [], {}, true)
  t.equal(first.exitCode, 0)
  t.ok(
    first.stdout.includes(`export AWS_SECRET_ACCESS_KEY=${first.secret}`),
    'the first start prints the secret on a terminal',
  )
  t.ok(first.stdout.includes('aws --endpoint-url http://127.0.0.1:17600 s3 mb s3://first'))
  t.ok(first.stdout.includes(join(directory, 'data.secrets.env')))
  t.ok(first.stdout.includes('http://127.0.0.1:17601/ready'))
  const text = readFileSync(join(directory, 'data.secrets.env'), 'utf8')
  const [, key = '(none)'] = /MASTER_KEY=(.*)/.exec(text) ?? []
  t.notOk(first.stdout.includes(key), 'the master key is not printed')

  const second = await start({}, [], {}, true)
  t.equal(second.secret, first.secret)
  t.notOk(second.stdout.includes(first.secret), 'later starts print no secret')
  t.ok(second.stdout.includes('. ./data.secrets.env\n'))
  t.ok(second.stdout.includes('export AWS_SECRET_ACCESS_KEY="$OBJECT_STORE_ROOT_SECRET_KEY"'))

  t.notMatch(first.stdout, /AWS_CA_BUNDLE|CHECKSUM/)
  const tls = ['--set', 's3.tls_certificate_file=a b.pem', '--set', 's3.tls_key_file=key.pem']
  const secure = await start({}, tls, { s3Url: 'https://localhost:17600', s3SelfSigned: true })
  t.ok(secure.stdout.includes('aws --endpoint-url https://localhost:17600 s3 mb s3://first'))
  t.ok(secure.stdout.includes("export AWS_CA_BUNDLE='./a b.pem'\n"), 'a client must be told whom to believe')
  t.ok(secure.stdout.includes('export AWS_REQUEST_CHECKSUM_CALCULATION=when_required\n'))

  t.match(
    first.stdout,
    /S3 profile {4}strict {3}\(what .* is refused; OBJECT_STORE_S3_PROFILE=compatible serves it\)\n/,
  )
  const compatible = await start({ OBJECT_STORE_S3_PROFILE: 'compatible', OBJECT_STORE_S3_EXTENSIONS: 'append' })
  t.match(
    compatible.stdout,
    /S3 profile {4}compatible, with s3\.extensions set by name {3}\(OBJECT_STORE_S3_PROFILE=strict /,
  )
  const trailing = await start({ OBJECT_STORE_S3_PROFILE: 'compatible' }, tls, { s3Url: 'https://localhost:17600' })
  t.notMatch(trailing.stdout, /CHECKSUM/, 'checksums after the body are served')

  const own = await start({ OBJECT_STORE_ROOT_SECRET_KEY: 'of-the-environment' })
  t.equal(own.secret, 'of-the-environment', 'the environment goes before the file')
  t.notOk(own.stdout.includes('of-the-environment'))
  t.notOk(own.stdout.includes('. ./data.secrets.env'))

  const elsewhere = await start({ ...environment }, ['--data-dir', "it's here"])
  t.equal(elsewhere.exitCode, 0)
  t.strictSame(readdirSync(join(directory, "it's here")), [])
  const piped = await start({}, ['--data-dir', 'piped'])
  t.notOk(piped.stdout.includes(piped.secret), 'a log gets no secret')
  t.ok(piped.stdout.includes('. ./piped.secrets.env\n'), 'the example works all the same')
  const again = await start({}, ['--data-dir', "it's here"])
  t.equal(again.exitCode, 23, 'the master key was injected, and is now missing')

  rmSync(join(directory, 'data'), { recursive: true })
  rmSync(join(directory, 'data.secrets.env'))
  writeFileSync(join(directory, 'data'), 'a file in the way')
  t.match(await start(), {
    exitCode: 1,
    stderr: /^object-store: \S+data is a file where a directory must be; move it away, or choose another path\n$/,
  })
})

test('the real server starts, is ready, drains on SIGTERM and starts again with the same secrets', async (t) => {
  const directory = t.testdir()
  const free = ['--s3-bind', '127.0.0.1:0', '--api-bind', '127.0.0.1:0', '--console-bind', '127.0.0.1:0']
  const argv = ['quickstart', '--data-dir', directory, ...free]
  const first = await startedServer(argv)
  const text = readFileSync(`${directory}.secrets.env`, 'utf8')
  t.teardown(() => rmSync(`${directory}.secrets.env`))
  const [, secret = '(none)'] = /ROOT_SECRET_KEY=(\S+)/.exec(text) ?? []
  t.notOk(first.stdout.includes(secret), 'standard output is no terminal here')
  const [, api = '(none)'] = /http:\/\/(\S+)\/ready/.exec(first.stdout) ?? []
  t.match(await spawned(['status', '--api-bind', api]), { exitCode: 0, stdout: /: ready\n$/ })
  const [, page = '(none)'] = /console +(http:\/\/\S+) /.exec(first.stdout) ?? []
  t.match(await (await fetch(`${page}/api/v1/auth/session`)).json(), { error: { code: 'UNAUTHENTICATED' } })
  t.equal(await first.stop(), 0)
  t.equal((await spawned(['status', '--api-bind', api])).exitCode, 10)
  const second = await startedServer(argv)
  t.notOk(second.stdout.includes(secret), 'no secret on a later start')
  t.equal(await second.stop(), 0)
})
