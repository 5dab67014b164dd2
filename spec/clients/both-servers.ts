/** One server over HTTP and one over TLS, whose certificate is made by the commands of tls.md as they are there. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessServer, startProcess, temporaryDirectory } from '../support/test-server.ts'
import { run } from './client-programs.ts'
import { SOURCES } from './client-tools.ts'

/** A server as a client sees it. */
export interface Target {
  readonly name: 'HTTP' | 'TLS'
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** The certificate of the authority that clients are to trust. */
  readonly authority: string | undefined
  makeBucket(name: string): Promise<void>
}

export interface BothServers {
  readonly targets: readonly Target[]
  stop(): Promise<void>
}

async function runsCommandsOfPage(directory: string): Promise<void> {
  const [, commands] = /```sh\n([^]*?)```/.exec(readFileSync(join(SOURCES, 'tls.md'), 'utf8')) ?? []
  if (commands === undefined) throw new Error('tls.md has no commands')
  const { code, stderr } = await run('bash', ['-e', '-c', commands], { directory })
  if (code !== 0) throw new Error(`the commands of tls.md fail: ${stderr}`)
}

function targetOf(server: ProcessServer, authority: string | undefined): Target {
  const { accessKey, secretKey, port } = server
  const name = authority === undefined ? 'HTTP' : 'TLS'
  const endpoint = authority === undefined ? server.endpoint : `https://127.0.0.1:${port}`
  const trusting = authority === undefined ? [] : ['--cacert', authority]
  const makeBucket = async (bucket: string): Promise<void> => {
    const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${accessKey}:${secretKey}`]
    const unsigned = ['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD']
    const words = ['--silent', '--show-error', '--fail', ...trusting, ...signing, ...unsigned, '--request', 'PUT']
    const { code, stderr } = await run('curl', [...words, `${endpoint}/${bucket}`])
    if (code !== 0) throw new Error(`no bucket ${bucket} over ${name}: ${stderr}`)
  }
  return { name, endpoint, accessKey, secretKey, authority, makeBucket }
}

/** @param environment further settings of both */
export async function startBoth(environment: Readonly<Record<string, string>> = {}): Promise<BothServers> {
  const place = temporaryDirectory()
  await runsCommandsOfPage(place)
  const overTls = {
    OBJECT_STORE_S3_TLS_CERTIFICATE_FILE: join(place, 'certificate.pem'),
    OBJECT_STORE_S3_TLS_KEY_FILE: join(place, 'key.pem'),
  }
  const servers = await Promise.all([
    startProcess({ environment }),
    startProcess({ environment: { ...environment, ...overTls } }),
  ])
  return {
    targets: [targetOf(servers[0], undefined), targetOf(servers[1], join(place, 'ca.pem'))],
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(place, { recursive: true })
    },
  }
}
