/** What a run of kills counts, and when it says too little to pass. */
import type { Finding } from '../../support/dying-servers/client-findings.ts'

export interface KillCounts {
  /** Of the server, all of them. */
  kills: number
  /** Kills before the server said that it accepts requests. */
  inStart: number
  /** Kills while a multipart upload was begun and not ended. */
  inMultipart: number
  /** Segments of the journal that were begun after the first. */
  rotations: number
  /** Of them: those that were compressed when the store was done with. */
  compressed: number
  /** Volumes that were emptied by moving what lived in them, and removed. */
  compactions: number
  /** Snapshots of the projections. */
  snapshots: number
  /** Kills while one was being written: a moment that a short run may miss. */
  inSnapshot: number
  /** Starts that made the projections from one. */
  fromSnapshot: number
  /** Starts that found one which was damaged. */
  refused: number
  /** Checkpoints that clients had as notes. */
  checkpoints: number
  /** Notes of a start before that were proved to be extended by a later one. */
  extended: number
  /** Requests. */
  acknowledged: number
  /** By lifecycle rules. */
  removals: number
  /** Requests to receivers of webhooks. */
  deliveries: number
  /** Of the largest data directory, when it was done with. */
  bytesMaximum: number
}

export function noKills(): KillCounts {
  return {
    kills: 0,
    inStart: 0,
    inMultipart: 0,
    rotations: 0,
    compressed: 0,
    compactions: 0,
    snapshots: 0,
    inSnapshot: 0,
    fromSnapshot: 0,
    refused: 0,
    checkpoints: 0,
    extended: 0,
    acknowledged: 0,
    removals: 0,
    deliveries: 0,
    bytesMaximum: 0,
  }
}

/** Without one of these the kills were never where they hurt. */
const REQUIRED = [
  'kills',
  'inStart',
  'inMultipart',
  'rotations',
  'compressed',
  'compactions',
  'snapshots',
  'fromSnapshot',
  'refused',
  'checkpoints',
  'extended',
  'acknowledged',
  'removals',
  'deliveries',
] as const

/** What is counted at each kill, and not only when the store is done with. */
const AT_KILLS = ['inStart', 'inMultipart', 'snapshots', 'fromSnapshot', 'refused', 'checkpoints', 'extended'] as const

/** Whether no kill was yet where one must be: chance and the machine decide when that comes. */
export function lacksKills(counts: KillCounts): boolean {
  return AT_KILLS.some((name) => counts[name] === 0)
}

/** What a run proved: `100 kills (20 in a start, …), 0 lost, 0 wrong`. */
export function verdict(counts: KillCounts, findings: readonly Finding[]): { summary: string; passed: boolean } {
  const { kills, inStart, inMultipart, rotations, compressed, compactions } = counts
  const {
    snapshots,
    inSnapshot,
    fromSnapshot,
    refused,
    checkpoints,
    extended,
    acknowledged,
    removals,
    deliveries,
    bytesMaximum,
  } = counts
  const lost = findings.filter(({ kind }) => kind === 'lost').length
  const missing = REQUIRED.filter((name) => counts[name] === 0)
  const parts = [
    `${kills} kills (${inStart} in a start, ${inMultipart} in multipart, ${rotations} rotations, ${compressed} compressed, ${compactions} compactions)`,
    `${snapshots} snapshots (${inSnapshot} kills in one, ${fromSnapshot} starts from one, ${refused} refused)`,
    `${checkpoints} checkpoints (${extended} extended after a kill)`,
    `${acknowledged} acknowledged`,
    `${removals} removed by age`,
    `${deliveries} deliveries`,
    `at most ${Math.ceil(bytesMaximum / 1024 ** 2)} MiB`,
    ...missing.map((name) => `nothing counted as ${name}`),
    `${lost} lost`,
    `${findings.length - lost} wrong`,
  ]
  return { summary: parts.join(', '), passed: findings.length === 0 && missing.length === 0 }
}
