/** Features and the spine: a feature is found in the folders of its name, and joined to the rest in few places. */
import type { Import } from './imports.ts'
import { type Finding, isProduction } from './project-files.ts'

const FEATURES = [
  'access',
  'backup',
  'checkpoints',
  'clock',
  'events',
  'lifecycle',
  'links',
  'proof',
  'scrub',
  'webhooks',
] as const
type Feature = (typeof FEATURES)[number]

/** The folder of a feature: of its name, in a top-level folder or in the management plane. */
const FOLDER = new RegExp(
  `^(?:engine|projections|planes|planes/management|workers|cli)/(?<feature>${FEATURES.join('|')})/`,
)
/** Entries of the journal, and the verifier of bundles, which a browser runs too: both are of the spine. */
const SPINE = /^engine\/(?:events|proof)\//

/** Files that other features may import, each with its reason. */
export const PORTS: Readonly<Record<string, string>> = {
  'engine/checkpoints/state.ts': 'a bundle shows the checkpoint that covers its records, and its receipts',
  'engine/links/changes.ts': 'changes of links open objects, so they are authenticated as those of access are',
  'engine/webhooks/changes.ts': 'changes of webhooks send data out, so they are authenticated as those of access are',
  'projections/access/tables.ts': 'the version of access counts changes of webhooks too',
  'projections/checkpoints/checkpoint-log.ts': 'a bundle shows the checkpoint that covers its records',
  'projections/events/storage-event.ts': 'what a storage event is: webhooks send them',
  'projections/webhooks/reader.ts': 'the operator vouches for webhooks together with access',
}

/** Imports of features by files of the spine, lists aside. It may only fall: a new feature is reached by its list. */
export const SPINE_IMPORTS_MAXIMUM = 113

/** The feature that a file belongs to; undefined for the spine. */
export function featureOf(path: string): Feature | undefined {
  return SPINE.test(path) ? undefined : (FOLDER.exec(path)?.groups?.['feature'] as Feature | undefined)
}

/** Imports of one feature by another that name no port, and of `feature.ts` by anything but a list and the feature. */
export function featureFindings(imports: readonly Import[]): Finding[] {
  return imports.flatMap(({ from, line, target }) => {
    if (target === undefined || !isProduction(from)) return []
    const [own, other] = [featureOf(from), featureOf(target)]
    if (other === undefined || own === other) return []
    if (target.endsWith('/feature.ts') && !from.endsWith('/features.ts')) {
      return [
        { path: from, line, message: `imports ${target}; only features.ts of the top-level folder lists features` },
      ]
    }
    if (own === undefined || target in PORTS) return []
    return [{ path: from, line, message: `imports ${target}; features do not know each other but through a port` }]
  })
}

/** How often files of the spine import a file of a feature, lists aside. */
export function spineImports(imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, target = '' }) => {
    return (
      isProduction(from) &&
      featureOf(from) === undefined &&
      featureOf(target) !== undefined &&
      !from.endsWith('/features.ts')
    )
  })
}
