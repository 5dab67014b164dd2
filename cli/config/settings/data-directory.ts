/** Where the store is. */
import type { ConfigRow } from '../config-row.ts'

export const dataDirectorySettings = [
  {
    name: 'data_dir',
    kind: 'path',
    default: './data',
    flag: '--data-dir',
    sentence: 'Directory that holds the journal, the payloads and the projections.',
  },
  {
    name: 'secrets_file',
    kind: 'path',
    sentence:
      'File of secrets made by `object-store quickstart`; without it, the path of the data directory with `.secrets.env` appended.',
  },
] as const satisfies readonly ConfigRow[]
