import { LIFETIME } from '../expiry.ts'
import { PATTERN, PATTERNS, STATEMENTS } from '../policy-document.ts'
import { DESCRIPTION, NAME } from '../titles.ts'
import { component } from './components.ts'
import { json, nothing, type RouteSchemas } from './route-schema.ts'
import { FLAG, listOf, object, oneOf, text, whole } from './schema.ts'

const STATUS = object({ enabled: FLAG })
const NAMED = text(NAME)
const SECONDS = whole(LIFETIME)
const PATTERN_LIST = listOf(text(PATTERN), PATTERNS)

export const ACCESS_SCHEMAS: RouteSchemas = {
  'GET /management-tokens': json(200, object({ management_tokens: listOf(component('ManagementToken')) })),
  'POST /management-tokens': json(201, component('IssuedManagementToken'), {
    request: object({ name: NAMED, role: component('Role') }, { expires_in_seconds: SECONDS }),
  }),
  'DELETE /management-tokens/{id}': nothing({ errors: ['TOKEN_NOT_FOUND'] }),

  'GET /service-accounts': json(200, object({ service_accounts: listOf(component('ServiceAccount')) })),
  'POST /service-accounts': json(
    201,
    object({ account: component('ServiceAccount'), credential: component('IssuedCredential') }),
    { request: object({ name: NAMED }, { description: text(DESCRIPTION) }) },
  ),
  'GET /service-accounts/{id}': json(200, component('ServiceAccount'), { errors: ['ACCOUNT_NOT_FOUND'] }),
  'DELETE /service-accounts/{id}': nothing({ errors: ['ACCOUNT_NOT_FOUND'] }),
  'PUT /service-accounts/{id}/status': json(200, component('ServiceAccount'), {
    request: STATUS,
    errors: ['ACCOUNT_NOT_FOUND'],
  }),
  'POST /service-accounts/{id}/credentials': json(201, component('IssuedCredential'), {
    request: object({}),
    errors: ['ACCOUNT_NOT_FOUND', 'TOO_MANY_CREDENTIALS'],
  }),
  'POST /service-accounts/{id}/temporary-credentials': json(201, component('IssuedCredential'), {
    request: object({ expires_in_seconds: SECONDS }),
    errors: ['ACCOUNT_NOT_FOUND', 'TOO_MANY_CREDENTIALS'],
  }),
  'PUT /service-accounts/{id}/credentials/{credential_id}/status': json(200, component('Credential'), {
    request: STATUS,
    errors: ['ACCOUNT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND'],
  }),

  'GET /policies': json(200, object({ policies: listOf(component('Policy')) })),
  'POST /policies': json(201, component('Policy'), {
    request: object({
      name: NAMED,
      statements: listOf(
        object({ effect: oneOf('allow', 'deny'), actions: PATTERN_LIST, resources: PATTERN_LIST }),
        STATEMENTS,
      ),
    }),
  }),
  'GET /policies/{policy_id}': json(200, component('Policy'), { errors: ['POLICY_NOT_FOUND'] }),
  'PUT /policies/{policy_id}/bindings/{account_id}': nothing({
    errors: ['POLICY_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'TOO_MANY_POLICIES'],
  }),
  'DELETE /policies/{policy_id}/bindings/{account_id}': nothing({
    errors: ['POLICY_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'POLICY_NOT_ATTACHED'],
  }),
}
