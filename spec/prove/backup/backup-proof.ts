import { lost, type Finding } from '../../support/dying-servers/client-findings.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { BackedUpStore, type BackupCounts, noBackups } from './backed-up-store.ts'

const FINDINGS_TOLD = 10

/** Backs up a working store, kills what can be killed, and goes on from what was restored. */
export const backupProof: Proof = {
  name: 'backup',
  tries:
    'backups under load and kill -9 of server, backup and restore, against what clients of the restored store know',
  unit: 'cycles',
  amount: 3,
  run,
}

async function run({ directory, amount, seed, say }: ProofTask): Promise<ProofResult> {
  const counts = noBackups()
  const store = new BackedUpStore(directory, seed, counts)
  for (let cycle = 0; cycle < amount && store.findings.length === 0; cycle += 1) {
    await store.cycle().catch((error: unknown) => {
      store.findings.push(lost(`cycle ${cycle}: ${error instanceof Error ? String(error.stack) : String(error)}`))
    })
  }
  for (const { kind, text } of store.findings.slice(0, FINDINGS_TOLD)) say(`${kind}: ${text}`)
  if (store.findings.length > 0) say(`again, as far as time allows: backup --cycles ${amount} --seed ${seed}`)
  return verdict(counts, store.findings)
}

/** Without one of these nothing was tried where it hurts. */
const REQUIRED = ['underLoad', 'killedBackups', 'killedRestores', 'restores', 'acknowledged', 'removedVolumes'] as const

function verdict(counts: BackupCounts, findings: readonly Finding[]): ProofResult {
  const missing = REQUIRED.filter((name) => counts[name] === 0)
  const losses = findings.filter(({ kind }) => kind === 'lost').length
  const { backups, underLoad, killedBackups, restores, killedRestores, acknowledged, removedVolumes } = counts
  const parts = [
    `${backups} backups (${underLoad} under load, ${killedBackups} killed)`,
    `${restores} restores (${killedRestores} killed)`,
    `${acknowledged} acknowledged`,
    `${removedVolumes} volumes removed`,
    ...missing.map((name) => `nothing counted as ${name}`),
    `${losses} lost`,
    `${findings.length - losses} wrong`,
  ]
  return { summary: parts.join(', '), passed: findings.length === 0 && missing.length === 0 }
}
