/** Who may import whom. Each refusal says where the thing belongs instead. */
import { dirname } from 'node:path'
import { type Import, packageOf } from './imports.ts'
import { type Finding, isProduction } from './project-files.ts'

interface Direction {
  /** A folder, or which files. */
  readonly folder: string | RegExp
  /** Folders or files that its files may import; `./` is the folder of the file itself. */
  readonly may: readonly string[]
  readonly instead: string
}

const ENGINE_SIDE = ['engine/', 'projections/'] as const
const SHARED_BY_PLANES = [
  ...ENGINE_SIDE,
  'planes/http/',
  'planes/metrics/',
  'planes/exchange/',
  'planes/objects/',
] as const
const PLANE =
  'a plane never imports another: what both need belongs into planes/objects/, planes/http/, projections/ or engine/'

const RULES_OF_FEATURES = /^engine\/[\w-]+\/(?:rules|policy)\.ts$/
const PURE = [
  'engine/domain/',
  'engine/events/',
  'engine/commands/',
  'engine/brands.ts',
  'engine/state-ports.ts',
  'engine/errors.ts',
] as const

/** The first row whose folder a file is in holds for it. */
const DIRECTIONS: readonly Direction[] = [
  {
    folder: 'engine/domain/',
    may: PURE,
    instead: 'the rules are pure: have it passed in through engine/state-ports.ts',
  },
  {
    folder: RULES_OF_FEATURES,
    may: [...PURE, './'],
    instead: 'the rules are pure: have it passed in through engine/state-ports.ts',
  },
  {
    folder: 'engine/verify/',
    may: ['engine/verify/'],
    instead: 'the verifier shares no code with the writer: write it again from spec/formats/journal.md',
  },
  {
    folder: 'engine/',
    may: ['engine/'],
    instead: 'the engine imports nothing of ours: declare what it needs in engine/state-ports.ts',
  },
  {
    folder: 'projections/',
    may: ENGINE_SIDE,
    instead: 'projections know the engine alone: let the composition root in cli/ hand it in',
  },
  { folder: 'planes/features.ts', may: ['planes/management/'], instead: 'it lists the features of the planes' },
  { folder: 'planes/metrics/', may: [...ENGINE_SIDE, 'planes/metrics/'], instead: PLANE },
  { folder: 'planes/http/', may: [...ENGINE_SIDE, 'planes/http/'], instead: PLANE },
  { folder: 'planes/exchange/', may: [...ENGINE_SIDE, 'planes/http/', 'planes/exchange/'], instead: PLANE },
  { folder: 'planes/objects/', may: [...SHARED_BY_PLANES], instead: PLANE },
  { folder: 'planes/s3/', may: [...SHARED_BY_PLANES, 'planes/s3/'], instead: PLANE },
  {
    folder: 'planes/management/',
    may: [...SHARED_BY_PLANES, 'planes/management/', 'planes/features.ts'],
    instead: PLANE,
  },
  { folder: 'planes/links/', may: [...SHARED_BY_PLANES, 'planes/links/'], instead: PLANE },
  {
    folder: 'planes/console/client/',
    may: ['planes/console/client/', 'engine/proof/', 'engine/access/policy.ts', 'build/console-api/'],
    instead:
      'it runs in a browser: only what verifies proofs and decides by policies is shared with it, everything else is asked by HTTP',
  },
  {
    folder: 'planes/console/',
    may: [...SHARED_BY_PLANES, 'planes/console/console-'],
    instead: `${PLANE}; the client is served as a bundle`,
  },
  {
    folder: 'workers/',
    may: [...ENGINE_SIDE, 'workers/'],
    instead: 'workers and planes do not know each other: change state by a command on the engine',
  },
  {
    folder: 'cli/',
    may: [...ENGINE_SIDE, 'planes/', 'workers/', 'cli/'],
    instead: 'what is shipped never imports spec/ or bench/: move what it needs into cli/',
  },
  {
    folder: 'spec/',
    may: [...ENGINE_SIDE, 'planes/', 'workers/', 'cli/', 'spec/'],
    instead: 'specs do not build on benches: move what both need into spec/support/',
  },
  {
    folder: 'bench/',
    may: [...ENGINE_SIDE, 'planes/', 'workers/', 'cli/', 'spec/support/', 'bench/'],
    instead: 'benches use the code and spec/support/ and nothing else of the specs',
  },
]

/** Rows above, for the imports of all files. A folder without a row may import nothing. */
export function directionFindings(imports: readonly Import[]): Finding[] {
  return imports.flatMap(({ from, line, target }) => {
    if (target === undefined) return []
    const row = DIRECTIONS.find(({ folder }) =>
      typeof folder === 'string' ? from.startsWith(folder) : folder.test(from),
    )
    const may = row?.may.map((place) => (place === './' ? `${dirname(from)}/` : place))
    if (may?.some((place) => target === place || (/[/-]$/.test(place) && target.startsWith(place)))) return []
    return [{ path: from, line, message: `imports ${target}; ${row?.instead ?? 'its folder has no row in spec/tidy'}` }]
  })
}

interface PackageHome {
  /** Files and folders (with `/`) of production that may import it. */
  readonly homes: readonly string[]
  /** Where its types alone may be imported as well. */
  readonly types?: readonly string[]
  /** The one entry of it that is imported; without it the package itself is. */
  readonly entry?: string
  readonly instead: string
}

/** Each package has one place where it enters, so that replacing or wrapping it is a local act. */
export const PACKAGE_HOMES: Readonly<Record<string, PackageHome>> = {
  '@noble/ed25519': {
    homes: ['engine/proof/ed25519.ts'],
    instead: 'sign with node:crypto (engine/keys/proof-signer.ts), verify with isSigned of engine/proof/ed25519.ts',
  },
  '@noble/hashes': {
    homes: ['engine/verify/', 'engine/proof/'],
    instead:
      'it is for verifiers that share no code with the writer, or that run in a page: use node:crypto, which is faster',
  },
  '@node-rs/crc32': { homes: ['engine/hashing/crc32.ts'], instead: 'use crc32 and crc32c of engine/hashing/crc32.ts' },
  clipanion: { homes: ['cli/'], instead: 'command lines are parsed in cli/ alone' },
  'fast-xml-parser': {
    homes: ['planes/s3/text/xml-reader.ts'],
    instead: 'documents of clients are read by planes/s3/text/xml-reader.ts, after xml-bounds.ts has bounded them',
  },
  koffi: {
    homes: ['planes/http/uws/receive-buffer.ts'],
    instead:
      'calls of the C library can end the process: find another way, or give the call a file of its own as this one has',
  },
  lmdb: {
    homes: ['projections/lmdb-environment.ts'],
    instead: 'use ProjectionEnvironment and Table of projections/lmdb-environment.ts, which know its sharp edges',
  },
  msgpackr: {
    homes: [
      'engine/events/',
      'engine/journal/',
      'engine/client/packed-writes.ts',
      'projections/tables/',
      'engine/verify/bodies.ts',
    ],
    instead: 'use the codecs of engine/events/, engine/journal/bodies.ts or the table concerned',
    entry: 'msgpackr/index-no-eval',
  },
  pino: {
    homes: ['cli/server/log/logger.ts'],
    instead: 'take a Logger from cli/server/log/logger.ts, which redacts secrets',
  },
  'prom-client': {
    homes: ['planes/metrics/exposition.ts'],
    instead: 'metrics become text in planes/metrics/exposition.ts alone',
  },
  'smol-toml': { homes: ['cli/config/'], instead: 'configuration files are read in cli/config/ alone' },
  // A peer that clipanion loads itself.
  typanion: { homes: [], instead: 'use the checks of cli/config/config-values.ts' },
  'uWebSockets.js': {
    homes: ['planes/http/uws/uws-apps.ts'],
    types: ['planes/http/uws/'],
    instead: 'use listen of planes/http/listen.ts; in planes/http/uws/ its types may be imported with `import type`',
  },
}

function isAt(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)))
}

/** Packages that only the console's client imports. The bundle holds them, so they are not installed for users. */
export const BUNDLED_PACKAGES: readonly string[] = ['preact', '@preact/signals', 'uplot']
const CLIENT = 'planes/console/client/'

/** Imports of packages by production. Modules of the platform are free, but for the rules on what they do. */
export function packageFindings(imports: readonly Import[]): Finding[] {
  return imports.flatMap(({ from, line, specifier, typesOnly }) => {
    if (specifier.startsWith('.') || !isProduction(from)) return []
    if (from.startsWith(CLIENT)) {
      if (BUNDLED_PACKAGES.includes(packageOf(specifier))) return []
      return [{ path: from, line, message: `imports ${specifier}; it runs in a browser, with BUNDLED_PACKAGES alone` }]
    }
    if (specifier.startsWith('node:')) {
      if (!from.startsWith('engine/domain/') && !RULES_OF_FEATURES.test(from)) return []
      return [{ path: from, line, message: `imports ${specifier}; the rules are pure: have the result passed in` }]
    }
    const home = PACKAGE_HOMES[packageOf(specifier)]
    if (home === undefined) {
      const message = `imports ${specifier}, which has no home; give it a row in spec/tidy/import-rules.ts and a file`
      return [{ path: from, line, message }]
    }
    if (home.entry !== undefined && specifier !== home.entry) {
      return [{ path: from, line, message: `imports ${specifier}; import ${home.entry} in its place` }]
    }
    if (isAt(from, home.homes) || (typesOnly && isAt(from, home.types ?? []))) return []
    return [{ path: from, line, message: `imports ${specifier}; ${home.instead}` }]
  })
}
