/** The log. */
import type { ConfigRow } from '../config-row.ts'

export const logSettings = [
  {
    name: 'log.level',
    kind: 'choice',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    flag: '--log-level',
    sentence: 'Least severe level that is written to the log.',
  },
  {
    name: 'log.format',
    kind: 'choice',
    choices: ['auto', 'json', 'text'],
    default: 'auto',
    sentence:
      'Form of the log: one JSON object per line, or text for people; auto means text on a terminal, JSON otherwise.',
  },
  {
    name: 'log.requests',
    kind: 'choice',
    choices: ['all', 'errors', 'none'],
    default: 'all',
    sentence: 'Which requests get a log line: all, those answered with an error, or none.',
  },
] as const satisfies readonly ConfigRow[]
