/** Proves: DO-LIS-01. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { environment } from '../../../cli/environment.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import { Random } from '../../support/random.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { canIsolate, type Round, runRound } from './round.ts'

/** Path of another version of Node.js, which half of the servers then run under. */
const OTHER_NODE = 'PROVE_OTHER_NODE'
const CYCLES_PER_STORE = 20
const CYCLES_PER_LINE = 10
const FINDINGS_TOLD = 10
const SEARCHABLE = 0o711

/** Starts several servers at once on one store (J18). */
export const twoWriters: Proof = {
  name: 'two-writers',
  tries: 'several servers started at once on one store, in other namespaces and versions of Node.js, after kills',
  unit: 'cycles',
  amount: 6,
  run,
}

async function run({ directory, amount, seed, say }: ProofTask): Promise<ProofResult> {
  const random = new Random(seed)
  const other = environment[OTHER_NODE]
  const isolates = canIsolate()
  if (other === undefined) say(`one version of Node.js only: ${OTHER_NODE} names another one`)
  if (!isolates) say('no namespaces: this user may not make any')
  const nodes = other === undefined ? [process.execPath] : [process.execPath, other]
  // So that another user can come as far as the store lets him.
  chmodSync(directory, SEARCHABLE)
  const findings: Finding[] = []
  let rounds = 0
  let refused = 0
  let acknowledged = 0
  for (; rounds < amount && findings.length === 0; rounds += 1) {
    const paths = new StorePaths(join(directory, `store-${Math.floor(rounds / CYCLES_PER_STORE)}`))
    nodeDisk.makeDirectory(paths.root)
    const result = await runRound(paths, `round-${rounds}`, roundOf(random, nodes, isolates))
    refused += result.refused
    acknowledged += result.acknowledged
    findings.push(...result.findings)
    if (rounds % CYCLES_PER_LINE === CYCLES_PER_LINE - 1) say(`after ${rounds + 1} of ${amount}: ${refused} refused`)
  }
  for (const { kind, text } of findings.slice(0, FINDINGS_TOLD)) say(`${kind}: ${text}`)
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length
  const where = [`${nodes.length} versions of Node.js`, isolates ? 'several namespaces' : 'one namespace'].join(', ')
  return {
    summary: `${rounds} rounds (${where}), ${refused} servers refused, ${acknowledged} acknowledged, ${count('lost')} lost, ${count('wrong')} wrong`,
    passed: findings.length === 0 && refused > 0 && acknowledged > 0,
  }
}

function roundOf(random: Random, nodes: readonly string[], isolates: boolean): Round {
  const contestants = Array.from({ length: 2 + random.below(2) }, (_, index) => ({
    node: nodes[(index + random.below(2)) % nodes.length] as string,
    isolated: isolates && random.below(2) === 0,
  }))
  return { contestants, squatted: random.below(3) === 0, end: random.below(2) === 0 ? 'kill' : 'stop' }
}
