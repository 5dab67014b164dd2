/**
 * Makes two runs comparable: what a server made up (ids, secrets, times, its ports) gets a name by the order in which it
 * was first seen, so that the same thing has the same name wherever it comes again.
 */

interface Rule {
  readonly kind: string
  /** Its first group is what is to be named. */
  readonly pattern: RegExp
}

/** Where an answer shows something that the server made up. */
const RULES: readonly Rule[] = [
  { kind: 'version', pattern: /^x-amz-(?:copy-source-)?version-id: (\S{16,})$/gim },
  { kind: 'version', pattern: /<(?:Next)?VersionId(?:Marker)?>([\w-]{16,})</g },
  { kind: 'version', pattern: /"(?:source_|next_after_)?version_id":"([\w-]{16,})"/g },
  { kind: 'cursor', pattern: /"next_after":"([\w-]{40,})"/g },
  { kind: 'upload', pattern: /<(?:Next)?UploadId(?:Marker)?>([\w-]{16,})</g },
  { kind: 'continuation', pattern: /<(?:Next)?ContinuationToken>([\w-]{20,})</g },
  { kind: 'account', pattern: /\b(sa-[a-z2-7]{20})\b/g },
  { kind: 'credential', pattern: /\b(cred-[a-z2-7]{20})\b/g },
  { kind: 'policy', pattern: /\b(pol-[a-z2-7]{20})\b/g },
  { kind: 'token', pattern: /\b(tok-[a-z2-7]{20})\b/g },
  { kind: 'share', pattern: /\b(share-[a-z2-7]{20})\b/g },
  { kind: 'embed', pattern: /\b(embed-[a-z2-7]{20})\b/g },
  { kind: 'share-token', pattern: /\/s\/([\w-]{43})(?![\w-])/g },
  { kind: 'embed-token', pattern: /\/e\/([\w-]{43})(?![\w-])/g },
  { kind: 'ticket', pattern: /\/d\/([\w-]{20,})(?![\w-])/g },
  { kind: 'access-key', pattern: /\b(OS[A-Z2-7]{18})\b/g },
  { kind: 'secret', pattern: /"secret_key":"([a-z2-7]{40})"/g },
  { kind: 'secret', pattern: /\b(osm_[\w-]{43})(?![\w-])/g },
  { kind: 'deployment', pattern: /"deployment_id":"([0-9a-f]{32})"/g },
  { kind: 'deployment', pattern: /<ID>([0-9a-f]{32})</g },
  { kind: 'export', pattern: /\b(\d{16}-[0-9a-f]{16})\b/g },
  { kind: 'storage-event', pattern: /(?<![\w-])(\d{16}-\d{4})(?![\w-])/g },
  { kind: 'event', pattern: /(?<![\w-])(\d{16})(?![\w-])/g },
  { kind: 'request', pattern: /\b([0-9A-F]{18})\b/g },
  { kind: 'request', pattern: /\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g },
]

/** Whatever can be a name; looked up in what was learned. */
const WORD = /[\w-]{16,}/g
/** Ends in letters or digits that do not belong to a name behind it. */
const ESCAPE = /(%[0-9A-Fa-f]{2}|\\u[0-9a-f]{4})/
const SIGNATURE = /\b[0-9a-f]{128}\b/g
/** Id and bytes of a key as C2SP writes it; they hang on the master key of the run. */
const VERIFIER_KEY = /\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}(?![A-Za-z0-9+/=])/g

/** Those that a message gives as an example stay as they are. */
const TIMES: readonly (readonly [form: string, pattern: RegExp])[] = [
  ['iso', /(?<!such as )\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g],
  [
    'http',
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} [\d:]{8} GMT/g,
  ],
  ['amz', /\b\d{8}T\d{6}Z/g],
]

/** A list of policies that a record cuts off, with the digest of the whole: both hang on ids made by chance. */
const CUT_POLICIES = /\bpol-[a-z2-7]*\.\.\. sha256:[0-9a-f]+/g

/** Hashes of records that have times in them. Where numbers are masked, a hash may begin with the mask. */
const RECORD_HASH = /((?:head|first|last|previous)_hash[^\w#]{1,8})[0-9a-f#]{16,64}/g

/** The commit that the program was built from. */
const COMMIT = /(\bcommit[":\s]+)[0-9a-f]{11}[0-9a-f+](?![0-9a-f])/g
/** The same as a label of a metric, whose digits may be gone already. */
const COMMIT_LABEL = /(\bcommit=")[0-9a-f#+]+/g

/** The active volume is given its room some time after it was made. */
const VOLUME_BYTES = /((?:physical|unused_volume)_bytes[^\w#]{1,6})\d+/g

/** Times that requests name on purpose are before or after these years, and stay as they are. */
const FIRST_YEAR = 2024
const LAST_YEAR = 2089
/** A default retention may end after the last of the years above. */
const FAR_YEARS: readonly [number, number] = [2100, 2200]

const HOUR = 3_600_000
const DAY = 24 * HOUR

export class Names {
  readonly #learned = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #ports: readonly (readonly [text: string, name: string])[]

  constructor(s3Port: number, apiPort: number) {
    this.#ports = [
      [`:${s3Port}`, ':<s3>'],
      [`:${apiPort}`, ':<api>'],
    ]
  }

  /** Learns what an answer shows for the first time. */
  learn(text: string): void {
    for (const { kind, pattern } of RULES) {
      for (const [, value = ''] of text.matchAll(pattern)) this.name(kind, value)
    }
  }

  /** Gives a value a name of a kind, if it has none. */
  name(kind: string, value: string): void {
    if (this.#learned.has(value)) return
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    this.#learned.set(value, `<${kind}-${count}>`)
  }

  /** Gives a value exactly this name. */
  call(value: string, name: string): void {
    this.#learned.set(value, name)
  }

  /** The text with names in the place of what differs between two runs. */
  canonical(text: string, now = Date.now()): string {
    let result = text
    for (const [port, name] of this.#ports) result = result.replaceAll(port, name)
    for (const [form, pattern] of TIMES) result = result.replace(pattern, (time) => timeName(form, time, now))
    result = result.replace(SIGNATURE, '<signature>')
    result = result.replace(VERIFIER_KEY, '<verifier key>')
    result = result.replace(RECORD_HASH, '$1<hash>')
    result = result.replace(COMMIT, '$1<commit>').replace(COMMIT_LABEL, '$1<commit>')
    result = result.replace(VOLUME_BYTES, '$1<bytes>')
    result = result.replace(CUT_POLICIES, '<policy cut off>')
    const pieces = result.split(ESCAPE).map((piece, index) => (index % 2 === 1 ? piece : this.#named(piece)))
    return pieces.join('')
  }

  #named(text: string): string {
    return text.replace(WORD, (word) => this.#learned.get(word) ?? word)
  }
}

function timeName(form: string, text: string, now: number): string {
  const milliseconds = Date.parse(form === 'amz' ? isoOfAmz(text) : text)
  if (Number.isNaN(milliseconds)) return text
  const year = new Date(milliseconds).getUTCFullYear()
  const isFar = year >= FAR_YEARS[0] && year <= FAR_YEARS[1]
  if ((year < FIRST_YEAR || year > LAST_YEAR) && !isFar) return text
  const digits = /\.(\d+)/.exec(text)?.[1]?.length ?? ''
  return `<${form}${digits}${distance(milliseconds - now)}>`
}

function isoOfAmz(text: string): string {
  return text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
}

/** Rounded, since a run takes its time. */
function distance(milliseconds: number): string {
  const size = Math.abs(milliseconds)
  const sign = milliseconds < 0 ? '-' : '+'
  if (size < HOUR / 2) return ''
  return size < 2 * DAY ? `${sign}${Math.round(size / HOUR)}h` : `${sign}${Math.round(size / DAY)}d`
}
