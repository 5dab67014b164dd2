import { ADMINISTRATOR, defineRoute, json, NOTHING, type Route, SYSTEM_AND_AUDITOR } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { GIVEN_KEYS, newCredential } from './new-credential.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { TITLE } from '../schemas/common.ts'
import { component } from '../schemas/components.ts'
import { FLAG, listOf, object, text } from '../schemas/schema.ts'
import { accountRecord, credentialRecord, requireAccount, storedAccountRecord } from './account-records.ts'

const listAccounts = defineRoute({
  pattern: 'GET /service-accounts',
  roles: SYSTEM_AND_AUDITOR,
  summary: 'A page of the service accounts, by name.',
  query: NAMED_QUERY,
  answer: { 200: json(object({ service_accounts: listOf(component('ServiceAccount')), ...NEXT_AFTER })) },
  handle(request, services) {
    const { records, next } = namedPage(request, {
      entries: services.access.accounts(),
      placeOf: ({ title, account }) => [title, account],
      recordOf: (account) => storedAccountRecord(account, services),
    })
    return jsonResponse(200, { service_accounts: records, next_after: next })
  },
  command: command('service-account list', 'list the service accounts', {
    options: NAMED_OPTIONS,
    show: { page: 'service_accounts', columns: ['id', 'name', 'enabled', 'created_at'] },
  }),
})

const createAccount = defineRoute({
  pattern: 'POST /service-accounts',
  roles: ADMINISTRATOR,
  summary: 'Creates a service account with its first credential, shown once.',
  request: object({ name: TITLE }, { description: text({ minimum: 0, maximum: 1024 }), ...GIVEN_KEYS }),
  answer: { 201: json(object({ account: component('ServiceAccount'), credential: component('IssuedCredential') })) },
  errors: ['ACCOUNT_NAME_TAKEN', 'ACCESS_KEY_TAKEN'],
  async handle(request, services) {
    const { name: title, description = '', ...given } = await request.body()
    const account = newId('sa')
    if (given.access_key === services.rootAccessKey) throw new ManagementError('ACCESS_KEY_TAKEN')
    const { secretKey, ...stored } = newCredential(services.secrets, given)
    const details = ['id', account, 'credential_id', stored.credential]
    const change = { kind: 'create-account', account, title, description, ...stored } as const
    const { timeMicroseconds } = await request.journal.execute(change, details)
    const shown = { enabled: true, createdMicroseconds: timeMicroseconds, expiresMicroseconds: undefined }
    const credential = { ...stored, ...shown }
    return jsonResponse(201, {
      account: accountRecord(
        { account, title, description, policies: [], ...shown },
        [credential],
        services.expiryClock(),
      ),
      credential: { ...credentialRecord(credential, services.expiryClock()), secret_key: secretKey },
    })
  },
  command: command('service-account create', 'create a service account; its secret key is shown once', {
    arguments: { name: 'text' },
    options: {
      description: 'what it is for',
      'access-key': 'access key that an application has already (default: a new one)',
      'secret-key-file': { file: 'file that holds the secret key of --access-key, on one line' },
    },
    call: ({ name, description, 'access-key': accessKey, 'secret-key-file': secretKey }) => ({
      body: { name, description, access_key: accessKey, secret_key: secretKey },
    }),
  }),
})

const getAccount = defineRoute({
  pattern: 'GET /service-accounts/{id}',
  roles: SYSTEM_AND_AUDITOR,
  summary: 'One service account with its credentials and policies.',
  answer: { 200: json(component('ServiceAccount')) },
  errors: ['ACCOUNT_NOT_FOUND'],
  handle({ parameters }, services) {
    return jsonResponse(200, storedAccountRecord(requireAccount(parameters.id, services), services))
  },
  command: command('service-account show', 'show a service account with its credentials and policies', {
    arguments: { account: 'text' },
  }),
})

const deleteAccount = defineRoute({
  pattern: 'DELETE /service-accounts/{id}',
  roles: ADMINISTRATOR,
  summary: 'Permanently deletes a service account and its credentials.',
  answer: { 204: NOTHING },
  errors: ['ACCOUNT_NOT_FOUND'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-account', account: request.parameters.id })
    return noContent()
  },
  command: command('service-account delete', 'permanently delete a service account and its credentials', {
    arguments: { account: 'text' },
    show: { done: 'deleted' },
  }),
})

const putAccountStatus = defineRoute({
  pattern: 'PUT /service-accounts/{id}/status',
  roles: ADMINISTRATOR,
  summary: 'Enables or disables a service account.',
  request: object({ enabled: FLAG }),
  answer: { 200: json(component('ServiceAccount')) },
  errors: ['ACCOUNT_NOT_FOUND'],
  /** Applies to all its credentials, from the next signed request. */
  async handle(request, services) {
    const { account } = requireAccount(request.parameters.id, services)
    const { enabled } = await request.body()
    // Read before the change: another request may delete the account before this one is answered.
    const record = storedAccountRecord(requireAccount(account, services), services)
    const change = { kind: 'set-account-status', account, enabled } as const
    await request.journal.execute(change)
    return jsonResponse(200, { ...record, enabled })
  },
  command: (['enable', 'disable'] as const).map((verb) =>
    command(`service-account ${verb}`, `${verb} a service account`, {
      arguments: { account: 'text' },
      call: () => ({ body: { enabled: verb === 'enable' } }),
    }),
  ),
})

export const ACCOUNT_ROUTES: readonly Route[] = [
  listAccounts,
  createAccount,
  getAccount,
  deleteAccount,
  putAccountStatus,
]
