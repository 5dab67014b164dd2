import { type CommandRow, integer, optional, text } from './command-rows.ts'
import { pathOf } from './management-client.ts'
import { done, fields, list } from './tables.ts'

const ACCOUNT = { name: 'account' } as const

/** Service accounts, credentials, policies, management tokens. */
export const ACCESS_COMMANDS: readonly CommandRow[] = [
  {
    path: 'service-account list',
    description: 'list the service accounts',
    request: () => ({ method: 'GET', path: '/service-accounts' }),
    show: list('service_accounts', ['id', 'name', 'enabled', 'created_at']),
  },
  {
    path: 'service-account create',
    description: 'create a service account; its secret key is shown once',
    arguments: [{ name: 'name' }],
    options: [{ name: 'description', description: 'what it is for' }],
    request: (values) => ({
      method: 'POST',
      path: '/service-accounts',
      json: { name: text(values, 'name'), description: optional(values, 'description') ?? '' },
    }),
    show: fields,
  },
  {
    path: 'service-account show',
    description: 'show a service account with its credentials and policies',
    arguments: [ACCOUNT],
    request: (values) => ({ method: 'GET', path: pathOf('service-accounts', text(values, 'account')) }),
    show: fields,
  },
  {
    path: 'service-account delete',
    description: 'delete a service account and its credentials for ever',
    arguments: [ACCOUNT],
    request: (values) => ({ method: 'DELETE', path: pathOf('service-accounts', text(values, 'account')) }),
    show: done('deleted'),
  },
  ...(['enable', 'disable'] as const).map(
    (verb): CommandRow => ({
      path: `service-account ${verb}`,
      description: `${verb} a service account`,
      arguments: [ACCOUNT],
      request: (values) => ({
        method: 'PUT',
        path: pathOf('service-accounts', text(values, 'account'), 'status'),
        json: { enabled: verb === 'enable' },
      }),
      show: fields,
    }),
  ),
  {
    path: 'credential rotate',
    description: 'issue a new credential beside the old ones; its secret key is shown once',
    arguments: [ACCOUNT],
    request: (values) => ({
      method: 'POST',
      path: pathOf('service-accounts', text(values, 'account'), 'credentials'),
      json: {},
    }),
    show: fields,
  },
  {
    path: 'credential temporary',
    description: 'issue a credential that expires',
    arguments: [ACCOUNT, { name: 'seconds' }],
    request: (values) => ({
      method: 'POST',
      path: pathOf('service-accounts', text(values, 'account'), 'temporary-credentials'),
      json: { expires_in_seconds: integer(values, 'seconds') },
    }),
    show: fields,
  },
  ...(['enable', 'disable'] as const).map(
    (verb): CommandRow => ({
      path: `credential ${verb}`,
      description: `${verb} a credential`,
      arguments: [ACCOUNT, { name: 'credential' }],
      request: (values) => ({
        method: 'PUT',
        path: pathOf('service-accounts', text(values, 'account'), 'credentials', text(values, 'credential'), 'status'),
        json: { enabled: verb === 'enable' },
      }),
      show: fields,
    }),
  ),
  {
    path: 'policy list',
    description: 'list the policies',
    request: () => ({ method: 'GET', path: '/policies' }),
    show: list('policies', ['id', 'name', 'created_at', 'statements']),
  },
  {
    path: 'policy show',
    description: 'show a policy and the accounts it is attached to',
    arguments: [{ name: 'policy' }],
    request: (values) => ({ method: 'GET', path: pathOf('policies', text(values, 'policy')) }),
    show: fields,
  },
  ...(
    [
      ['attach', 'PUT'],
      ['detach', 'DELETE'],
    ] as const
  ).map(
    ([verb, method]): CommandRow => ({
      path: `policy ${verb}`,
      description: `${verb} a policy ${verb === 'attach' ? 'to' : 'from'} a service account`,
      arguments: [{ name: 'policy' }, ACCOUNT],
      request: (values) => ({
        method,
        path: pathOf('policies', text(values, 'policy'), 'bindings', text(values, 'account')),
      }),
      show: done(`${verb}ed`),
    }),
  ),
  {
    path: 'token list',
    description: 'list the management tokens that were issued',
    request: () => ({ method: 'GET', path: '/management-tokens' }),
    show: list('management_tokens', ['id', 'name', 'role', 'created_at', 'expires_at']),
  },
  {
    path: 'token issue',
    description: 'issue a management token; it is shown once',
    arguments: [{ name: 'name' }, { name: 'role' }],
    options: [{ name: 'expires-in', description: 'seconds until it expires' }],
    request: (values) => ({
      method: 'POST',
      path: '/management-tokens',
      json: {
        name: text(values, 'name'),
        role: text(values, 'role'),
        expires_in_seconds: integer(values, 'expires-in'),
      },
    }),
    show: fields,
  },
  {
    path: 'token revoke',
    description: 'revoke a management token',
    arguments: [{ name: 'token-id' }],
    request: (values) => ({ method: 'DELETE', path: pathOf('management-tokens', text(values, 'token-id')) }),
    show: done('revoked'),
  },
  {
    path: 'session',
    description: 'show the role of the token in use',
    request: () => ({ method: 'GET', path: '/auth/session' }),
    show: fields,
  },
]
