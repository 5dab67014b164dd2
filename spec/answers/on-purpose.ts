/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: .*\\"time\\":\\"###T/,
    ask: /\/system\/metrics\/history/,
    reason: 'there are as many readings as ten seconds have passed',
  },
  {
    shape: / is now ".*he server does it with [a-z0-9-]+ in its setting s3\.extensions/,
    ask: /./,
    reason: 'the refusal of what an extension does names the setting',
  },
  {
    shape: /^body: .* is now ".*\\"s3_extensions\\":/,
    ask: /\/system\/info|\/openapi/,
    reason: 'which extensions are on is told',
  },
  {
    shape: /^body: "quests_total\{operation=/,
    ask: /\/metrics/,
    reason: 'the operations of extensions are counted by their names',
  },
  {
    shape: /checkpoint/i,
    ask: /\/storage\/status|\/openapi|\/metrics/,
    reason: 'the status, the metrics and the document tell of checkpoints',
  },
  {
    shape: /./,
    ask: /\/transparency\//,
    reason: 'the routes of checkpoints are new',
  },
  {
    shape: /^body: .*\\"http_driver\\":\\"uws\\".* is now .*\\"http_driver\\":\\"node\\"/,
    ask: /\/system\/info/,
    reason: 'which driver serves is told',
  },
]
