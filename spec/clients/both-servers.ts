/** One server over HTTP and one over TLS, whose certificate is made by the commands of tls.md as they are there. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessServer, startProcess, temporaryDirectory } from '../support/test-server.ts'
import { elements } from '../support/wire-client.ts'
import { run } from './client-programs.ts'
import { SOURCES } from './client-tools.ts'

/** A server as a client sees it. */
export interface Target {
  readonly name: string
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** The certificate of the authority that clients are to trust. */
  readonly authority: string | undefined
  /** Whether it is `compatible`, and clients are run with their defaults. */
  readonly extended: boolean
  /** The body of the answer to a signed request, or the headers of one to HEAD. Path and query are as they are sent. */
  ask(method: 'GET' | 'HEAD' | 'PUT', path: string): Promise<Buffer>
  makeBucket(name: string): Promise<void>
  /** Keys of objects, delete markers, other versions and open uploads. */
  heldBy(bucket: string): Promise<string[]>
  openUploads(bucket: string): Promise<string[]>
}

export interface BothServers {
  readonly targets: readonly Target[]
  stop(): Promise<void>
}

export interface BothOptions {
  readonly extended?: boolean
}

async function runsCommandsOfPage(directory: string): Promise<void> {
  const [, commands] =
    /```sh\n([^]*?)```/.exec(readFileSync(join(SOURCES, '..', 'manual', 'clients', 'tls.md'), 'utf8')) ?? []
  if (commands === undefined) throw new Error('tls.md has no commands')
  const { code, stderr } = await run('bash', ['-e', '-c', commands], { directory })
  if (code !== 0) throw new Error(`the commands of tls.md fail: ${stderr}`)
}

function targetOf(server: ProcessServer, authority: string | undefined, extended: boolean): Target {
  const { accessKey, secretKey, port } = server
  const name = `${authority === undefined ? 'HTTP' : 'TLS'}${extended ? ' with extensions' : ''}`
  const endpoint = authority === undefined ? server.endpoint : `https://127.0.0.1:${port}`
  const trusting = authority === undefined ? [] : ['--cacert', authority]
  const ask: Target['ask'] = async (method, path) => {
    const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${accessKey}:${secretKey}`]
    const unsigned = ['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD']
    const words = ['--silent', '--show-error', '--fail', ...trusting, ...signing, ...unsigned]
    words.push(...(method === 'HEAD' ? ['--head'] : ['--request', method]))
    const { code, stdout, stderr } = await run('curl', [...words, `${endpoint}/${path}`])
    if (code !== 0) throw new Error(`${method} ${path} over ${name}: ${stderr}`)
    return stdout
  }
  const keysIn = async (path: string): Promise<string[]> => elements(String(await ask('GET', path)), 'Key')
  const openUploads = (bucket: string): Promise<string[]> => keysIn(`${bucket}?uploads=`)
  return {
    name,
    endpoint,
    accessKey,
    secretKey,
    authority,
    extended,
    ask,
    makeBucket: async (bucket) => void (await ask('PUT', bucket)),
    heldBy: async (bucket) => [...(await keysIn(`${bucket}?versions=`)), ...(await openUploads(bucket))],
    openUploads,
  }
}

/** A setting as README.md has operators set it for clients with their defaults. */
function settingOfPage(name: string): Record<string, string> {
  const page = readFileSync(join(SOURCES, 'README.md'), 'utf8')
  const [, value] = new RegExp(`^export ${name}=(\\S+)`, 'm').exec(page) ?? []
  if (value === undefined) throw new Error(`README.md does not set ${name}`)
  return { [name]: value }
}

const COMPATIBLE = settingOfPage('OBJECT_STORE_S3_PROFILE')

export async function startBoth({ extended = false }: BothOptions = {}): Promise<BothServers> {
  const place = temporaryDirectory()
  await runsCommandsOfPage(place)
  const overHttp = extended ? COMPATIBLE : {}
  const overTls = {
    ...overHttp,
    OBJECT_STORE_S3_TLS_CERTIFICATE_FILE: join(place, 'certificate.pem'),
    OBJECT_STORE_S3_TLS_KEY_FILE: join(place, 'key.pem'),
  }
  const servers = await Promise.all([startProcess({ environment: overHttp }), startProcess({ environment: overTls })])
  return {
    targets: [targetOf(servers[0], undefined, extended), targetOf(servers[1], join(place, 'ca.pem'), extended)],
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(place, { recursive: true })
    },
  }
}

/** Both as they are by default, and both in `compatible`. */
export async function startAll(): Promise<BothServers> {
  const pairs = await Promise.all([startBoth(), startBoth({ extended: true })])
  return {
    targets: pairs.flatMap(({ targets }) => targets),
    stop: async () => void (await Promise.all(pairs.map((pair) => pair.stop()))),
  }
}
