/** Requests of somebody whom the store does not know. */
import type { ModelRequest } from '../../model/expectation.ts'
import { isManagement } from '../../model/model-client.ts'
import { bearer } from '../../support/api-client.ts'
import type { WorldStore } from './world-store.ts'

/** How such a client comes. */
export type Guise = 'without a signature' | 'with a wrong secret' | 'with an unknown key' | 'too late'

/** Longer than the clocks of a client and a server may differ. */
const LATE_MILLISECONDS = 60 * 60 * 1000

export async function sendAsStranger(
  { server, now }: WorldStore,
  request: ModelRequest,
  guise: Guise,
): Promise<{ readonly status: number }> {
  const { method, target, headers = [], body } = request
  if (isManagement(request)) {
    const authorization = guise === 'without a signature' ? undefined : bearer('a token that was never made')
    return server.api.as(authorization).send(method, target, { raw: String(body ?? '') })
  }
  const signing = {
    ...(guise === 'with a wrong secret' && { secretKey: 'a secret that is not the one' }),
    ...(guise === 'with an unknown key' && { accessKey: 'NOBODY' }),
    now: now - (guise === 'too late' ? LATE_MILLISECONDS : 0),
  }
  const bytes = typeof body === 'object' ? body.bytes : (body ?? '')
  return server.raw(method, target, {
    headers,
    body: bytes,
    sign: guise === 'without a signature' ? false : signing,
  })
}
