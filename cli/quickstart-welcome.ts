import { isAbsolute, relative } from 'node:path'
import type { Config, ConfigSources } from './config/config-types.ts'
import type { QuickstartSecrets } from './quickstart-secrets.ts'
import type { RunningServer } from './running-server.ts'

export interface WelcomeFacts {
  readonly config: Config
  readonly sources: ConfigSources
  readonly secrets: QuickstartSecrets
  /** What relative paths begin from. */
  readonly workingDirectory: string
  readonly server: Pick<RunningServer, 's3Url' | 'apiUrl' | 's3SelfSigned'>
}

/** Quotes a word for a POSIX shell, if it needs quoting. */
function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The path as a shell in the working directory would best write it; `.` takes a file only by a path with a slash. */
function shellPath(path: string, workingDirectory: string): string {
  const fromHere = relative(workingDirectory, path)
  return shellWord(fromHere.startsWith('..') || isAbsolute(fromHere) ? path : `./${fromHere}`)
}

/** The lines that give an AWS client its keys; after the first start they show no secret. */
function keyLines(facts: WelcomeFacts): string[] {
  const { config, sources, secrets } = facts
  const generated = sources['root.secret_key'] === 'secrets file'
  const secretKey = generated && secrets.created ? config['root.secret_key']?.reveal() : undefined
  return [
    ...(generated && !secrets.created ? [`. ${shellPath(secrets.path, facts.workingDirectory)}`] : []),
    `export AWS_ACCESS_KEY_ID=${shellWord(config['root.access_key'] ?? '')}`,
    `export AWS_SECRET_ACCESS_KEY=${secretKey === undefined ? '"$OBJECT_STORE_ROOT_SECRET_KEY"' : shellWord(secretKey)}`,
    'export AWS_DEFAULT_REGION=us-east-1',
    ...tlsLines(facts),
  ]
}

/** What an AWS client must be told when it talks TLS: whom to believe, and not to send checksums behind the body. */
function tlsLines({ config, server, workingDirectory }: WelcomeFacts): string[] {
  const certificateFile = config['s3.tls_certificate_file']
  if (certificateFile === undefined) return []
  return [
    ...(server.s3SelfSigned ? [`export AWS_CA_BUNDLE=${shellPath(certificateFile, workingDirectory)}`] : []),
    'export AWS_REQUEST_CHECKSUM_CALCULATION=when_required',
  ]
}

/** What the operator is told about the secrets. */
function secretLines(facts: WelcomeFacts): string[] {
  const { config, sources, secrets } = facts
  const lines = [`  access key    ${config['root.access_key'] ?? ''}`]
  const generated = sources['root.secret_key'] === 'secrets file'
  if (generated && secrets.created) {
    lines.push(`  secret key    ${config['root.secret_key']?.reveal() ?? ''}   (shown this once)`)
  } else {
    lines.push(`  secret key    ${generated ? `in ${secrets.path}` : `from your own configuration`}`)
  }
  const stored = Object.keys(secrets.values).length > 0
  return stored ? [...lines, `  all secrets   ${secrets.path}   (keep a copy in a safe place)`] : lines
}

/** What `object-store quickstart` prints when the server accepts requests: where it is, its keys, and what to try. */
export function quickstartWelcome(facts: WelcomeFacts): string {
  const endpoint = facts.server.s3Url
  const aws = `aws --endpoint-url ${endpoint} s3`
  return [
    '',
    'The object store is running. Stop it with Ctrl-C.',
    '',
    `  endpoint      ${endpoint}`,
    ...secretLines(facts),
    `  readiness     ${facts.server.apiUrl}/ready`,
    `  data          ${facts.config['data_dir']}`,
    '',
    'Try it in another terminal:',
    '',
    ...keyLines(facts).map((line) => `  ${line}`),
    `  ${aws} mb s3://first`,
    '  echo hello > hello.txt',
    `  ${aws} cp hello.txt s3://first/`,
    `  ${aws} ls s3://first`,
    '',
    '',
  ].join('\n')
}
