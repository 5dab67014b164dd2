/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: .*\\"time\\":\\"###T/,
    ask: /\/system\/metrics\/history/,
    reason: 'there are as many readings as ten seconds have passed',
  },
  {
    shape: /^body: .*\\"class\\":\\"/,
    ask: /\/system\/metrics\/history/,
    reason: 'a reading has the classes of requests that were answered before it, which is a matter of time',
  },
  {
    shape: /^records: .*head_sequence/,
    ask: /\/audit\/chain/,
    reason: 'how many records there are by then is a matter of time',
  },
  {
    shape: /^body: .*last_used_at\\":(?:null|\\"<iso6>)/,
    ask: /\/(?:service-accounts|management-tokens)/,
    reason: 'a read is a use once its record is in the journal, which is a matter of time',
  },
  {
    shape: /commit|^headers: without content-length: \d+; with content-length: \d+$/i,
    ask: /\/system\/info|\/system\/metrics as|\/openapi\.json/,
    reason: 'system info and metrics name the commit that the program was built from',
  },
]
