import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { type CheckpointStatement, isSignedBy, readCheckpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import { readConsistencyProof, readInclusionProof } from '../../engine/checkpoints/tree-proofs.ts'
import {
  cosignersOf,
  isQuorum,
  POLICY_BYTES_MAXIMUM,
  readWitnessPolicy,
  type WitnessPolicy,
  WitnessPolicyError,
} from '../../engine/checkpoints/witness-policy.ts'
import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { isConsistent, rootOfInclusion } from '../../engine/checkpoints/tree-shape.ts'
import type { CliContext } from '../cli-context.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { readSmallFile } from '../terminal/read-file.ts'
import { parseLogFile, readHandoverFile, trustedKey } from './checkpoint-file.ts'

/** Result of a check. */
interface Check {
  readonly check: 'signature' | 'witnesses' | 'extends' | 'inclusion'
  readonly result: 'passed' | 'failed' | 'not proved'
  readonly detail: string
}

export class CheckpointVerifyCommand extends Command<CliContext> {
  static override paths = [['checkpoint', 'verify']]

  static override usage = Command.Usage({
    category: 'Checkpoints',
    description: 'check a checkpoint, and proofs that lead to it, offline',
    details: `
      Do not take the key from where the checkpoint came from; the operator, for example, prints it with checkpoint key.

      With --policy it checks that enough witnesses have cosigned the checkpoint, and says which and when.
      With --old and --consistency it checks that the checkpoint extends an earlier one; with --inclusion and --record, the
      hash of a record, that the record is in its tree. With --handovers it follows the key to those that it handed over to: each
      signs only behind the checkpoint at which it got the log, and none behind the one at which it handed over. Ends with 0 if all passed, with 8 if one failed, and with 9 without --key.
    `,
    examples: [
      ['Its signature', '$0 checkpoint verify checkpoint.txt --key store.example/06…'],
      ['That a quorum of witnesses has seen it', '$0 checkpoint verify checkpoint.txt --key … --policy policy.txt'],
      ['That it extends another', '$0 checkpoint verify new.txt --key … --old old.txt --consistency proof.txt'],
    ],
  })

  note = Option.String({ name: 'checkpoint' })
  key = Option.String('--key', { description: 'key of the log: NAME+ID+KEY' })
  policy = Option.String('--policy', {
    description: 'file that says which witnesses must have cosigned it (C2SP tlog-policy)',
  })
  handovers = Option.String('--handovers', { description: 'file of the hand-overs of that key (checkpoint handovers)' })
  old = Option.String('--old', { description: 'file of an earlier checkpoint' })
  consistency = Option.String('--consistency', { description: 'file of the proof that it is extended' })
  inclusion = Option.String('--inclusion', { description: 'file of the proof that a record is in the tree' })
  record = Option.String('--record', { description: 'hash of that record: 64 hexadecimal digits' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const statement = await this.#parsed(this.note, readCheckpointNote)
    const checks = [
      await this.#signature(statement),
      ...(await this.#witnesses()),
      ...(await this.#extends(statement)),
      ...(await this.#includes(statement)),
    ]
    const { origin, size } = statement
    const lines = this.json
      ? [JSON.stringify({ origin, size, root: Buffer.from(statement.root).toString('hex'), checks })]
      : [`${origin}, ${size} records`, ...checks.map(({ check, result, detail }) => `${check}: ${result}: ${detail}`)]
    this.context.stdout.write(`${lines.join('\n')}\n`)
    if (checks.some(({ result }) => result === 'failed')) return exitTable.proofFailed.code
    return (checks.some(({ result }) => result === 'not proved') ? exitTable.notProved : exitTable.ok).code
  }

  async #signature(statement: CheckpointStatement, file = this.note): Promise<Check> {
    if (this.key === undefined) {
      if (this.handovers !== undefined) throw new ExitError('usage', '--handovers is of no use without --key')
      return {
        check: 'signature',
        result: 'not proved',
        detail: 'no --key was given, so it is not known who signed',
      }
    }
    const { origin, size } = statement
    const key = trustedKey(this.key, size, await this.#handovers())
    const isSigned = isSignedBy(await this.#parsed(file, readCheckpointNote), key)
    return isSigned
      ? { check: 'signature', result: 'passed', detail: `the log ${origin} signed it` }
      : { check: 'signature', result: 'failed', detail: `${file} has no valid signature of this key under ${origin}` }
  }

  /** After the signature of the log: which witnesses have cosigned, and whether they are enough. */
  async #witnesses(): Promise<Check[]> {
    if (this.policy === undefined) return []
    const policy = await this.#readPolicy(this.policy)
    const cosigners = cosignersOf(policy, await this.#parsed(this.note, readCheckpointNote))
    const names = cosigners.map(({ witness }) => witness.name)
    const signed = cosigners.map(
      ({ witness, cosignature }) => `${witness.name} at ${new Date(cosignature.seconds * 1000).toISOString()}`,
    )
    const missing = policy.witnesses.filter(({ name }) => !names.includes(name)).map(({ name }) => name)
    const detail = `quorum ${policy.quorum ?? 'none'}; cosigned by ${signed.join(', ') || 'nobody'}${missing.length === 0 ? '' : `; not by ${missing.join(', ')}`}`
    return [{ check: 'witnesses', result: isQuorum(policy, names) ? 'passed' : 'failed', detail }]
  }

  /** @throws ExitError `usage` */
  async #readPolicy(file: string): Promise<WitnessPolicy> {
    try {
      return readWitnessPolicy(await readSmallFile(resolve(this.context.workingDirectory, file), POLICY_BYTES_MAXIMUM))
    } catch (error) {
      if (!(error instanceof WitnessPolicyError)) throw error
      throw new ExitError('usage', `--policy: ${file}: ${error.message}`)
    }
  }

  async #extends(statement: CheckpointStatement): Promise<Check[]> {
    if ((this.old === undefined) !== (this.consistency === undefined)) {
      throw new ExitError('usage', '--old and --consistency belong together')
    }
    if (this.old === undefined || this.consistency === undefined) return []
    const old = await this.#parsed(this.old, readCheckpointNote)
    const { number, path, note } = await this.#parsed(this.consistency, readConsistencyProof)
    requireSize(this.consistency, note, statement)
    const holds = number === old.size && isConsistent(LOG_HASHING, old, statement, path)
    const what = `the first ${old.size} of ${statement.size} records`
    return [
      await this.#signature(old, this.old),
      holds
        ? { check: 'extends', result: 'passed', detail: `${what} are those of the earlier checkpoint` }
        : { check: 'extends', result: 'failed', detail: `the proof does not show that ${what} are those before` },
    ]
  }

  async #includes({ size, root }: CheckpointStatement): Promise<Check[]> {
    if ((this.inclusion === undefined) !== (this.record === undefined)) {
      throw new ExitError('usage', '--inclusion and --record belong together')
    }
    if (this.inclusion === undefined || this.record === undefined) return []
    if (!/^[0-9a-f]{64}$/i.test(this.record)) throw new ExitError('usage', '--record takes 64 hexadecimal digits')
    const { number, path, note } = await this.#parsed(this.inclusion, readInclusionProof)
    requireSize(this.inclusion, note, { size })
    const found = rootOfInclusion(LOG_HASHING, Buffer.from(this.record, 'hex'), number, size, path)
    return [
      found?.equals(root) === true
        ? { check: 'inclusion', result: 'passed', detail: `record ${number} has this hash` }
        : {
            check: 'inclusion',
            result: 'failed',
            detail: `the proof does not show that record ${number} has this hash`,
          },
    ]
  }

  async #handovers(): ReturnType<typeof readHandoverFile> {
    const { handovers } = this
    if (handovers === undefined) return []
    return readHandoverFile(resolve(this.context.workingDirectory, handovers), handovers)
  }

  /** @throws ExitError `proofFailed` for a file of another form */
  #parsed<T>(file: string, parse: (text: string) => T): Promise<T> {
    return parseLogFile(resolve(this.context.workingDirectory, file), file, parse)
  }
}

/** @throws ExitError `usage` when a proof leads to another checkpoint than the one to be checked */
function requireSize(file: string, note: string, { size }: Pick<CheckpointStatement, 'size'>): void {
  const [, led] = note.split('\n')
  if (led === String(size)) return
  throw new ExitError(
    'usage',
    `${file} leads to a checkpoint of ${led} records and not of ${size}: ask for it with --size`,
  )
}
