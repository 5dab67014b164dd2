/** The proof `attack`: everything that a stranger or a malicious client can send, against a server process. */
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { Random } from '../../support/random.ts'
import { endServer, examineJournal, lastSequence, searchFiles, searchSecrets } from './aftermath.ts'
import { attackPayloads } from './altered-payloads.ts'
import { type Arena, openArena, PLAINTEXT } from './arena.ts'
import { Assault } from './assault.ts'
import { attackBatches } from './batch-deletions.ts'
import { attackByChance } from './by-chance.ts'
import { Canaries } from './canaries.ts'
import { attackExistence } from './existence.ts'
import { attackConditions } from './blind-conditions.ts'
import { attackForms } from './forms.ts'
import { attackValues } from './forged-values.ts'
import { attackDocuments } from './hostile-documents.ts'
import { attackChunks } from './chunks/attack-chunks.ts'
import { attackNames } from './hostile-names.ts'
import { Ledger } from './ledger.ts'
import { attackHttp } from './malformed-http.ts'
import { attackRoutes } from './management-routes.ts'
import { attackHosts } from './other-hosts.ts'
import { attackBounds } from './oversized.ts'
import { attackLongest } from './longest-requests.ts'
import { attackPartCopies } from './part-copies.ts'
import { attackRefusals } from './refusal-flood.ts'
import { attackLinks } from './public-links.ts'
import { attackOperations } from './s3-matrix.ts'
import { attackSlowly, floodConnections } from './slow-clients.ts'
import { attackSignatures } from './tampering.ts'
import { attackTargets } from './webhook-targets.ts'
import { attackWitness } from './witness-submissions.ts'
import { attackTiming } from './token-timing.ts'

/** So many cycles try every case once. */
const CYCLES = 8

export const attack: Proof = {
  name: 'attack',
  tries: `forged, tampered, malformed and oversized requests against both planes, and looks for secrets; ${CYCLES} cycles are all cases`,
  unit: 'cycles',
  amount: CYCLES,
  run: runAttack,
}

async function runAttack({ amount, seed, directory, say }: ProofTask): Promise<ProofResult> {
  const ledger = new Ledger(say)
  // A server is attacked with a share of the cases or with all of them; what is more goes against the next one.
  for (let done = 0; done < amount && ledger.faults === 0; done += CYCLES) {
    const cycles = Math.min(CYCLES, amount - done)
    const place = join(directory, String(done))
    mkdirSync(place)
    await attackOne(ledger, { seed: seed + done, part: cycles / CYCLES }, place, say)
    if (ledger.faults > 0) say(`again: npm run prove -- attack --cycles ${cycles} --seed ${seed + done}`)
  }
  for (const line of ledger.areas()) say(line)
  const [letIn, wrong, leaked] = [ledger.count('let in'), ledger.count('wrong'), ledger.count('leaked')]
  const summary = `${ledger.requests.toLocaleString('en')} requests, ${letIn} let in, ${wrong} wrong, ${leaked} leaked`
  return { summary, passed: ledger.requests > 0 && ledger.faults === 0 }
}

async function attackOne(
  ledger: Ledger,
  { seed, part }: { readonly seed: number; readonly part: number },
  directory: string,
  say: (line: string) => void,
): Promise<void> {
  const arena = await openArena(directory)
  const assault = new Assault(arena, ledger, canariesOf(arena), new Random(seed), part)
  try {
    const since = await lastSequence(assault)
    // Most of the first two wait for connections that are cut off in the end.
    await Promise.all([attackSlowly(assault), attackHttp(assault), attackInTurn(assault, say)])
    await examineJournal(assault, since)
    await searchSecrets(assault)
    await endServer(assault)
    searchFiles(assault)
  } finally {
    await arena.server.kill9()
  }
}

/** Each gives a line for the reader, or nothing. */
const PARTS: readonly (readonly [name: string, part: (assault: Assault) => Promise<string | void>])[] = [
  // While the journal is short: some routes read all of it.
  ['management routes', attackRoutes],
  ['chance', attackByChance],
  ['targets of webhooks', attackTargets],
  ['submissions to a witness', attackWitness],
  ['operations of S3', attackOperations],
  ['signatures', attackSignatures],
  ['bodies in chunks', attackChunks],
  ['what there is', attackExistence],
  ['hosts', attackHosts],
  ['conditions', attackConditions],
  ['copies of parts', attackPartCopies],
  ['batches of deletions', attackBatches],
  ['forms and links of version 2', attackForms],
  ['values', attackValues],
  ['names', attackNames],
  ['documents', attackDocuments],
  ['public links', attackLinks],
  ['altered payloads', attackPayloads],
  ['bounds', attackBounds],
  ['the longest requests', attackLongest],
  ['connections', floodConnections],
  ['refusals', attackRefusals],
  ['times', attackTiming],
]

async function attackInTurn(assault: Assault, say: (line: string) => void): Promise<void> {
  for (const [name, part] of PARTS) {
    const started = performance.now()
    const line = await part(assault)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    say(line === undefined ? `${name}: ${seconds} s` : `${name}: ${seconds} s; ${line}`)
  }
}

function canariesOf({ signers, known, masterKey, signingSecret }: Arena): Canaries {
  const canaries = new Canaries()
  for (const [name, { secretKey }] of Object.entries(signers)) canaries.add(`the secret key of ${name}`, secretKey)
  for (const [name, value] of Object.entries(known)) {
    if (typeof value !== 'string') canaries.add(`the token ${name}`, value.token)
  }
  canaries.add('the system token', known.systemToken)
  canaries.add('the scrape token', known.scrapeToken)
  canaries.addBytes('the master key', masterKey)
  canaries.add('the signing secret of a webhook', signingSecret)
  canaries.addBytes('the key of a webhook', Buffer.from(signingSecret.replace('whsec_', ''), 'base64'))
  canaries.add('the plaintext of an encrypted object', PLAINTEXT)
  return canaries
}
