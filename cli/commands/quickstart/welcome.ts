import { isAbsolute, relative } from 'node:path'
import { environmentName } from '../../config/config-table.ts'
import { profileText } from '../../config/s3-profiles.ts'
import type { Config, ConfigSources } from '../../config/config-types.ts'
import type { QuickstartSecrets } from './secrets.ts'
import type { RunningServer } from '../../server/running-server.ts'

interface WelcomeFacts {
  readonly config: Config
  readonly sources: ConfigSources
  readonly secrets: QuickstartSecrets
  /** Base of relative paths. */
  readonly workingDirectory: string
  /** Whether a person reads it. Other output is kept, in logs and files, and gets no secret. */
  readonly onTerminal: boolean
  readonly server: Pick<RunningServer, 's3Url' | 'apiUrl' | 'consoleUrl' | 's3SelfSigned'>
}

/** Quotes a word for a POSIX shell if necessary. */
function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The path relative to the working directory if it is below it; the shell's `.` requires a slash in it. */
function shellPath(path: string, workingDirectory: string): string {
  const fromHere = relative(workingDirectory, path)
  return shellWord(fromHere.startsWith('..') || isAbsolute(fromHere) ? path : `./${fromHere}`)
}

/** The root secret is shown once, on the terminal where it was made. */
function isShown({ sources, secrets, onTerminal }: WelcomeFacts): boolean {
  return onTerminal && secrets.created && sources['root.secret_key'] === 'secrets file'
}

/** Shell lines that configure an AWS client; they show a secret only after the first start. */
function keyLines(facts: WelcomeFacts): string[] {
  const { config, sources, secrets } = facts
  const generated = sources['root.secret_key'] === 'secrets file'
  const secretKey = isShown(facts) ? config['root.secret_key']?.reveal() : undefined
  return [
    ...(generated && secretKey === undefined ? [`. ${shellPath(secrets.path, facts.workingDirectory)}`] : []),
    `export AWS_ACCESS_KEY_ID=${shellWord(config['root.access_key'] ?? '')}`,
    `export AWS_SECRET_ACCESS_KEY=${secretKey === undefined ? '"$OBJECT_STORE_ROOT_SECRET_KEY"' : shellWord(secretKey)}`,
    'export AWS_DEFAULT_REGION=us-east-1',
    ...tlsLines(facts),
  ]
}

/** Settings of an AWS client over TLS: the certificate to trust, and no trailing checksums where they are refused. */
function tlsLines({ config, server, workingDirectory }: WelcomeFacts): string[] {
  const certificateFile = config['s3.tls_certificate_file']
  if (certificateFile === undefined) return []
  return [
    ...(server.s3SelfSigned ? [`export AWS_CA_BUNDLE=${shellPath(certificateFile, workingDirectory)}`] : []),
    ...(config['s3.extensions'].includes('aws-chunked')
      ? []
      : ['export AWS_REQUEST_CHECKSUM_CALCULATION=when_required']),
  ]
}

function secretLines(facts: WelcomeFacts): string[] {
  const { config, sources, secrets } = facts
  const lines = [`  access key    ${config['root.access_key'] ?? ''}`]
  const generated = sources['root.secret_key'] === 'secrets file'
  if (isShown(facts)) {
    lines.push(`  secret key    ${config['root.secret_key']?.reveal() ?? ''}   (shown this once)`)
  } else {
    lines.push(`  secret key    ${generated ? `in ${secrets.path}` : `from your own configuration`}`)
  }
  const stored = Object.keys(secrets.values).length > 0
  return stored ? [...lines, `  all secrets   ${secrets.path}   (keep a copy in a safe place)`] : lines
}

/** Where a browser finds the console, and what to sign in with. */
function consoleLines({ server: { consoleUrl } }: WelcomeFacts): string[] {
  return consoleUrl === undefined
    ? []
    : [`  console       ${consoleUrl}   (sign in with the access key and the secret key)`]
}

/** Which profile runs, and how to start the other. */
function profileLine({ config }: WelcomeFacts): string {
  const variable = environmentName('s3.profile')
  const other =
    config['s3.profile'] === 'strict'
      ? `what most S3 clients send by default is refused; ${variable}=compatible serves it`
      : `${variable}=strict serves the specified S3 alone`
  return `  S3 profile    ${profileText(config)}   (${other})`
}

/** The text that `object-store quickstart` prints when the server accepts requests. */
export function quickstartWelcome(facts: WelcomeFacts): string {
  const endpoint = facts.server.s3Url
  const aws = `aws --endpoint-url ${endpoint} s3`
  return [
    '',
    'The object store is running. Stop it with Ctrl-C.',
    '',
    `  endpoint      ${endpoint}`,
    ...secretLines(facts),
    profileLine(facts),
    ...consoleLines(facts),
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
