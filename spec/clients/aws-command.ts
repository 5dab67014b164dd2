/** The AWS command line with the settings that README.md names. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { TestServer } from '../support/test-server.ts'
import { type Outcome, type Program, run } from './client-programs.ts'

const REGION = '[default]\nregion = us-east-1\n'
const SETTINGS = `${REGION}s3 =\n  addressing_style = path\n  signature_version = s3v4\n`
/** What copies inside the store want in addition. */
export const COPY_SETTINGS = '  multipart_threshold = 5GB\n'

export type Aws = (...words: string[]) => Promise<Outcome>

export interface AwsOptions {
  /** Added to the configuration file. */
  readonly settings?: string
  /** The configuration file says the region and nothing else. */
  readonly byDefault?: boolean
  readonly input?: Buffer
  /** Further variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>
  /** Where it finds the server, if not where the server says. */
  readonly endpoint?: string
}

type Server = Pick<TestServer, 'endpoint' | 'accessKey' | 'secretKey'>

/** The command against a server, in a directory. */
export function awsCommand(program: Program, server: Server, place: string, options: AwsOptions = {}): Aws {
  const { settings = '', endpoint = server.endpoint, byDefault = false, input } = options
  const configuration = join(place, `config-${byDefault ? 'none' : settings.length}`)
  writeFileSync(configuration, byDefault ? REGION : SETTINGS + settings)
  const environment = {
    AWS_CONFIG_FILE: configuration,
    AWS_SHARED_CREDENTIALS_FILE: join(place, 'none'),
    AWS_ACCESS_KEY_ID: server.accessKey,
    AWS_SECRET_ACCESS_KEY: server.secretKey,
    AWS_MAX_ATTEMPTS: '1',
    AWS_PAGER: '',
    ...options.environment,
  }
  const running = { environment, directory: place, ...(input === undefined ? {} : { input }) }
  return (...words) => run(program.path, ['--endpoint-url', endpoint, ...words], running)
}

/** What a command that must succeed printed. */
export async function succeeds(t: Test, running: Promise<Outcome>, what: string): Promise<string> {
  const { code, stdout, stderr } = await running
  t.equal(code, 0, what, { stderr })
  return String(stdout)
}

/** What a command that must succeed told in JSON. */
export async function tells(t: Test, running: Promise<Outcome>, what: string): Promise<unknown> {
  const text = await succeeds(t, running, what)
  return text === '' ? undefined : JSON.parse(text)
}

/** A command that must fail, with these words in what it says. */
export async function refuses(t: Test, running: Promise<Outcome>, ...words: readonly string[]): Promise<void> {
  const { code, stderr } = await running
  t.not(code, 0, words.join(', '))
  for (const word of words) t.match(stderr, word)
}

/**
 * What the extensions are for: a command that must succeed against a server that has them on, and fail with these words
 * against one that has not.
 */
export async function extended(
  t: Test,
  target: { readonly extended: boolean },
  running: Promise<Outcome>,
  what: string,
  ...words: readonly string[]
): Promise<void> {
  await (target.extended ? succeeds(t, running, what) : refuses(t, running, ...words))
}
