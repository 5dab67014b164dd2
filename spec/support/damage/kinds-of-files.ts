/** Every kind of file that a data directory can have, by its path in it. */

export interface KindOfFile {
  readonly name: string
  readonly path: RegExp
  /** Why no reader can meet damage in it; otherwise the table of damage has a case of this name. */
  readonly noCase?: string
}

const SOCKET = 'a socket: it has no bytes'
const ZEROS = 'zeros that a start makes again; nothing reads them'
const UNFINISHED = 'unfinished: a start removes it, or makes it again, without a look at what it has'

/** The first whose path fits is the kind of a file. */
export const KINDS_OF_FILES: readonly KindOfFile[] = [
  { name: 'segment', path: /^journal\/\d{16}\.segment$/ },
  { name: 'HEAD', path: /^journal\/HEAD$/ },
  { name: 'key file', path: /^journal\/keys$/ },
  { name: 'evidence', path: /^journal\/aside\/segment-/ },
  { name: 'unrecorded', path: /^journal\/unrecorded$/ },
  { name: 'restore note', path: /^journal\/restored$/ },
  { name: 'spare segment', path: /^journal\/spare$/, noCase: ZEROS },
  {
    name: 'unfinished file of the journal',
    path: /^journal\/(keys-making|unrecorded\.making|rewrite|compressing-.*)$/,
    noCase: UNFINISHED,
  },
  { name: 'volume', path: /^payloads\/volumes\/\d{10}\.volume$/ },
  { name: 'payload file', path: /^payloads\/files\/[0-9a-f]{2}\/[0-9a-f]{28}$/ },
  { name: 'spare volume', path: /^payloads\/volumes\/spare$/, noCase: ZEROS },
  { name: 'upload', path: /^payloads\/tmp\//, noCase: UNFINISHED },
  { name: 'rows', path: /^projections\/data\.mdb$/ },
  { name: 'sums of rows', path: /^projections\/sums$/ },
  { name: 'locks of rows', path: /^projections\/lock\.mdb$/ },
  { name: 'record hashes', path: /^projections\/trees\/record-hashes$/ },
  { name: 'tree of the log', path: /^projections\/trees\/log-\d$/ },
  { name: 'tree of bundles', path: /^projections\/trees\/bundle-\d$/ },
  {
    name: 'unfinished projections',
    path: /^projections-(rebuild|check|follower|restore|next|prepared|replaced)(\/|$)|^projections-opening$|^projections\/sums-making$/,
    noCase: UNFINISHED,
  },
  { name: 'note of new projections', path: /^projections\/made$/, noCase: 'it is read before they are in place' },
  {
    name: 'note of starts',
    path: /^projections\/starts$/,
    noCase: 'without it, or with another number in it, rows are trusted as before, or derived again',
  },
  { name: 'note of damage', path: /^projections-damaged$/, noCase: 'only that it is there counts' },
  { name: 'snapshot', path: /^snapshots\/\d+-\d{16}\.snapshot$/ },
  { name: 'changes of a snapshot', path: /^snapshots\/\d+-\d{16}-\d{16}\.changes$/ },
  { name: 'unfinished snapshot', path: /^snapshots\/making$/, noCase: UNFINISHED },
  {
    name: 'record index',
    path: /^record-index\/\d{16}-\d{16}-\d\.index$/,
    noCase: 'a damaged file says nothing: the records are read instead (spec/projections/record-index.spec.ts)',
  },
  { name: 'unfinished file of the record index', path: /^record-index\/making$/, noCase: UNFINISHED },
  { name: 'kept verdict', path: /^verified$/ },
  { name: 'unfinished verdict', path: /^verified-\d+$/, noCase: UNFINISHED },
  { name: 'note of a backup', path: /^backed-up$/ },
  { name: 'unfinished note of a backup', path: /^backed-up-\d+$/, noCase: UNFINISHED },
  { name: 'probe', path: /^probe-\d+$/, noCase: 'of a doctor that was killed: the next one removes it' },
  { name: 'reserve', path: /^reserve$/, noCase: ZEROS },
  { name: 'lock', path: /^lock(\/|$)/, noCase: SOCKET },
  { name: 'hold', path: /^holds(\/|$)/, noCase: SOCKET },
  { name: 'unfinished restore', path: /^restoring(\/|$)/, noCase: UNFINISHED },
  { name: 'mark of a backup', path: /^BACKUP$/, noCase: 'only in a backup, where its name alone counts' },
]

/** The kind of a file; undefined for a file of a new kind, which then needs a row above. */
export function kindOfFile(path: string): KindOfFile | undefined {
  return KINDS_OF_FILES.find((kind) => kind.path.test(path))
}
