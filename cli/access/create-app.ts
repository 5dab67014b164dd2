import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import type { PolicyStatement } from '../../engine/events/values.ts'
import { ClientCommand } from '../client/client-command.ts'
import { type ManagementClient, pathOf } from '../client/management-client.ts'
import { type NamedRecord, recordsNamed } from '../client/route-commands.ts'
import { createDurably } from '../config/durable-file.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { textTable } from '../terminal/text-table.ts'
import { type AppFacts, appSnippets, profileText } from './app-snippets.ts'
import { BUILT_IN_HELP, builtInOption, builtInStatements, scopeOf } from './built-in-policies.ts'

const S3_PORT = 7600

interface Issued {
  readonly credential_id: string
  readonly access_key: string
  readonly secret_key: string
}

export class AppCreateCommand extends ClientCommand {
  static override paths = [['app', 'create']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'make an account, a policy and a key for an application, and print what its client needs',
    details: `
      The application gets a service account of its name with a key of its own, and a policy for one bucket, or with
      --prefix for the keys in it that begin so. Access is ${BUILT_IN_HELP}.

      The secret key is printed once; with --profile-file it is written to a new file that only its owner can read, and
      not printed. A name that is taken is refused. What a failure left half made is named, and the same command
      completes it: with a new key, since the one before was not shown.
    `,
    examples: [
      [
        'All of a bucket, after a quick start',
        '$0 app create web --bucket web --make-bucket --access read-write --secrets-file data.secrets.env',
      ],
      ['Logs only', '$0 app create shipper --bucket logs --prefix app/ --access write --profile-file shipper.ini'],
    ],
  })

  appName = Option.String({ name: 'name' })
  bucket = Option.String('--bucket', { description: 'the bucket that it uses; required' })
  access = Option.String('--access', { description: 'read, write or read-write; required' })
  prefix = Option.String('--prefix', { description: 'what its keys begin with (default: all of the bucket)' })
  makeBucket = Option.Boolean('--make-bucket', false, { description: 'make the bucket if it does not exist' })
  profileFile = Option.String('--profile-file', {
    description: 'new file for the keys, as AWS_CONFIG_FILE names one; the output has no secret then',
  })
  s3Url = Option.String('--s3-url', {
    description: `address of the S3 plane for what is printed (default: http, the host of --url, port ${S3_PORT})`,
  })

  override async execute(): Promise<number> {
    if (this.access === undefined || this.bucket === undefined) {
      throw new ExitError('usage', 'an application needs --bucket and --access')
    }
    const access = builtInOption('--access', this.access)
    const scope = scopeOf(this.bucket, this.prefix)
    const s3Url = this.#s3Url()
    const client = this.client()
    const file = this.profileFile === undefined ? undefined : resolve(this.context.workingDirectory, this.profileFile)
    if (file !== undefined) checkNewFile(file)
    const { s3_profile: profile } = (await client.json({ method: 'GET', path: '/system/info' })) as SystemInfo
    await this.#requireBucket(client, scope.bucket)
    const description = `application: ${access} on ${scope.bucket}/${scope.prefix}*`
    const made = await makeApplication(client, this.appName, description, builtInStatements(access, scope))
    const keys = { accessKey: made.credential.access_key, secretKey: made.credential.secret_key }
    const facts = { name: this.appName, access, ...scope, s3Url, isStrict: profile === 'strict', ...keys, file }
    if (file !== undefined) writeKeys(file, profileText(facts), this.appName)
    this.#show(made, facts)
    return exitTable.ok.code
  }

  #s3Url(): string {
    const own = new URL(this.endpoint().url)
    const url = this.s3Url?.replace(/\/+$/, '') ?? `http://${own.hostname}:${S3_PORT}`
    if (/^https?:\/\/[^/?#@\s]+$/.test(url) && URL.canParse(url)) return url
    throw new ExitError('usage', `--s3-url is an address such as https://store.example:${S3_PORT}, not ${url}`)
  }

  async #requireBucket(client: ManagementClient, name: string): Promise<void> {
    try {
      await client.json({ method: 'GET', path: pathOf('buckets', name) })
    } catch (error) {
      if (!(error instanceof ExitError) || error.exit !== 'notFound') throw error
      if (!this.makeBucket) {
        throw new ExitError('notFound', `there is no bucket ${name}; --make-bucket makes it. Nothing was made`)
      }
      await client.json({ method: 'POST', path: '/buckets', json: { name } })
    }
  }

  #show({ account, policy, credential }: Made, facts: AppFacts): void {
    const snippets = appSnippets(facts)
    const { secretKey, file } = facts
    const shown = {
      name: facts.name,
      account_id: account,
      policy_id: policy,
      credential_id: credential.credential_id,
      access_key: facts.accessKey,
      ...(file === undefined ? { secret_key: secretKey } : { profile_file: file }),
      s3_url: facts.s3Url,
      bucket: facts.bucket,
      prefix: facts.prefix,
      access: facts.access,
    }
    if (this.json) return this.print({ ...shown, snippets: Object.fromEntries(texts(snippets)) }, () => [])
    const rows = Object.entries(shown).map(([name, value]) => [name, value === '' ? '-' : value])
    const secret = file === undefined ? ['The secret key is shown this once.'] : []
    const parts = texts(snippets).flatMap(([client, text]) => ['', `# ${client}`, text])
    this.context.stdout.write(`${[...textTable(rows), ...secret, ...parts].join('\n')}\n`)
  }
}

interface SystemInfo {
  readonly s3_profile: string
}

function texts(snippets: Readonly<Record<string, readonly string[]>>): [client: string, text: string][] {
  return Object.entries(snippets).map(([client, lines]) => [client, lines.join('\n')])
}

/** @throws ExitError `usage` where a new file cannot be made, before anything is */
function checkNewFile(path: string): void {
  if (existsSync(path))
    throw new ExitError('usage', `${path} exists already; --profile-file names a new file. Nothing was made`)
  try {
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw new ExitError('usage', `${path} cannot be made: ${(error as Error).message}. Nothing was made`)
  }
}

/** @throws ExitError `failed`: then the keys are known to no one */
function writeKeys(path: string, text: string, name: string): void {
  let problem = 'there is a file of this name since then'
  try {
    if (createDurably(path, text)) return
  } catch (error) {
    problem = (error as Error).message
  }
  const message = `${path}: the keys could not be written: ${problem}. The application is there; object-store credential rotate ${name} issues another key`
  throw new ExitError('failed', message)
}

interface Made {
  readonly account: string
  readonly policy: string
  readonly credential: Issued
}

/**
 * Makes what there is not yet of policy, account, key and binding, in this order: an account without its policy may do
 * nothing, and is what the same command completes.
 * @throws ExitError with what was made
 */
async function makeApplication(
  client: ManagementClient,
  name: string,
  description: string,
  statements: readonly PolicyStatement[],
): Promise<Made> {
  const made: string[] = []
  try {
    const [present] = await recordsNamed<NamedAccount>('account', name, client)
    if (present !== undefined && present.description !== description) throw taken(name, present)
    const title = `application ${name}`
    const policies = await recordsNamed<NamedPolicy>('policy', title, client)
    const same = policies.filter((each) => isSame(each.statements, statements))
    if (present !== undefined && wasUsed(present)) throw complete(name, present)
    const json = { name: title, statements }
    const policy = same[0]?.id ?? idIn(await client.json({ method: 'POST', path: '/policies', json }))
    made.push(`policy ${policy}`)
    const { account, credential } =
      present === undefined ? await newAccount(client, name, description) : await newKey(client, present)
    made.push(`account ${account} with the access key ${credential.access_key}`)
    await client.json({ method: 'PUT', path: `/policies/${policy}/bindings/${account}` })
    return { account, policy, credential }
  } catch (error) {
    if (!(error instanceof ExitError) || made.length === 0) throw error
    const message = `${error.message}\nmade so far: ${made.join(', ')}. The same command completes it, with a new key`
    throw new ExitError(error.exit, message, { cause: error })
  }
}

/** What listings say of accounts and policies. */
interface NamedPolicy extends NamedRecord {
  readonly statements: readonly PolicyStatement[]
}

interface NamedAccount extends NamedRecord {
  readonly description: string
  readonly policies: readonly string[]
  readonly credentials: readonly { readonly credential_id: string; readonly last_used_at: string | null }[]
}

/**
 * Whether an account was finished: it has a policy, perhaps another one by now, or a key of it was used. What was
 * narrowed, detached or deployed since then is not for this command.
 */
function wasUsed({ policies, credentials }: NamedAccount): boolean {
  return policies.length > 0 || credentials.some(({ last_used_at: used }) => used !== null)
}

async function newAccount(client: ManagementClient, name: string, description: string) {
  const json = { name, description }
  const answer = await client.json({ method: 'POST', path: '/service-accounts', json })
  const { account, credential } = answer as { account: { id: string }; credential: Issued }
  return { account: account.id, credential }
}

/** Another key for an account that was left half made. The keys before, which were shown to no one, are disabled. */
async function newKey(client: ManagementClient, { id: account, credentials }: NamedAccount) {
  const path = pathOf('service-accounts', account, 'credentials')
  const credential = (await client.json({ method: 'POST', path })) as Issued
  for (const { credential_id: before } of credentials) {
    await client.json({ method: 'PUT', path: `${path}/${before}/status`, json: { enabled: false } })
  }
  return { account, credential }
}

function idIn(answer: unknown): string {
  return (answer as { readonly id: string }).id
}

function isSame(left: readonly PolicyStatement[], right: readonly PolicyStatement[]): boolean {
  return documentOf(left) === documentOf(right)
}

function documentOf(statements: readonly PolicyStatement[]): string {
  return JSON.stringify(statements.map(({ effect, actions, resources }) => [effect, actions, resources]))
}

function taken(name: string, { id, description }: NamedAccount): ExitError {
  const what = description === '' ? id : `${id}, ${description}`
  return new ExitError(
    'failed',
    `there is an account ${name} already (${what}), for something else: choose another name`,
  )
}

function complete(name: string, { id }: NamedAccount): ExitError {
  const ways = `object-store credential rotate ${name} issues another key, object-store service-account delete ${name} ends it`
  return new ExitError('failed', `the application ${name} (${id}) is there, and its secret key was shown once: ${ways}`)
}
