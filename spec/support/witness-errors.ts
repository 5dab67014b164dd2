import type { ApiAnswer, ApiClient } from './api-client.ts'
import { API } from '../../planes/management/routing/define-route.ts'
import { OtherLog } from './other-log.ts'

const ROUTE = `${API}/transparency/witness/add-checkpoint`

/** The log that a server has to witness for these. */
export const WITNESSED_LOG = new OtherLog('witnessed.example/log')

/** Ways to the errors of a witness, by their codes. */
export const WITNESS_ERRORS = {
  LOG_NOT_WITNESSED: (api: ApiClient): Promise<ApiAnswer> =>
    api.send('POST', ROUTE, { raw: new OtherLog('strange.example/log').submission(0, 3) }),
  LOG_SIGNATURE_INVALID: (api: ApiClient): Promise<ApiAnswer> =>
    api.send('POST', ROUTE, { raw: new OtherLog(WITNESSED_LOG.origin, { seed: 9 }).submission(0, 3) }),
  CONSISTENCY_REFUSED: async (api: ApiClient): Promise<ApiAnswer> => {
    await api.send('POST', ROUTE, { raw: WITNESSED_LOG.submission(0, 3) })
    return api.send('POST', ROUTE, { raw: new OtherLog(WITNESSED_LOG.origin, { history: 'two' }).submission(3, 5) })
  },
}
