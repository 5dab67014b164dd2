import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { ClientCommand } from '../client/client-command.ts'
import { exitTable } from '../exit-codes.ts'
import { wholeOption } from '../commands/option-values.ts'
import { saveFile } from '../terminal/save-file.ts'

/** A command that prints a text of the log as it is: a checkpoint or a proof, which are signed to the last byte. */
abstract class LogTextCommand extends ClientCommand {
  output = Option.String('--output', { description: 'write it to this file instead' })

  protected async printText(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<number> {
    const text = await this.client().text({ method: 'GET', path: `/transparency${path}`, query })
    if (this.output !== undefined) saveFile(resolve(this.context.workingDirectory, this.output), Buffer.from(text))
    else if (this.json) this.context.stdout.write(`${JSON.stringify({ text })}\n`)
    else this.context.stdout.write(text)
    return exitTable.ok.code
  }
}

const CATEGORY = 'Checkpoints'

export class CheckpointShowCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'show']]

  static override usage = {
    category: CATEGORY,
    description: 'print the last checkpoint, a signed note',
    details:
      'Keep it where nobody with write access to the store can change it: "checkpoint consistency" proves later that the store still ' +
      'has the records that it covers.',
    examples: [['Keep it', '$0 checkpoint show --output checkpoint.txt']] as [string, string][],
  }

  override execute(): Promise<number> {
    return this.printText('/checkpoint')
  }
}

export class CheckpointKeyCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'key']]

  static override usage = {
    category: CATEGORY,
    description: 'print the key that verifies checkpoints',
    details: 'Give it to verifiers over a channel they trust. A key that comes with the checkpoint proves nothing.',
    examples: [['For a verifier', '$0 checkpoint key']] as [string, string][],
  }

  override execute(): Promise<number> {
    return this.printText('/key')
  }
}

export class CheckpointWitnessKeyCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'witness-key']]

  static override usage = {
    category: CATEGORY,
    description: 'print the key of this store as a witness of other logs',
    details:
      'Give it to those who trust this store as a witness, over a channel they trust, and to the logs that it witnesses.',
    examples: [['For the policy of another store', '$0 checkpoint witness-key']] as [string, string][],
  }

  override execute(): Promise<number> {
    return this.printText('/witness/key')
  }
}

export class CheckpointHandoversCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'handovers']]

  static override usage = {
    category: CATEGORY,
    description: 'print how the key of the log was handed over, signed notes',
    details: 'With it, "checkpoint verify --handovers" goes from a key that a verifier trusts to those after it.',
    examples: [['For a verifier', '$0 checkpoint handovers --output handovers.txt']] as [string, string][],
  }

  override execute(): Promise<number> {
    return this.printText('/key/handovers')
  }
}

export class CheckpointProveCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'prove']]

  static override usage = {
    category: CATEGORY,
    description: 'print the proof that a record is in the tree of a checkpoint',
    examples: [['Of record 4711', '$0 checkpoint prove 4711 --output 4711.proof']] as [string, string][],
  }

  sequence = Option.String({ name: 'sequence' })
  size = Option.String('--size', { description: 'size of the checkpoint (default: the last one)' })

  override execute(): Promise<number> {
    const sequence = String(wholeOption('sequence', this.sequence))
    return this.printText('/proof/inclusion', { sequence, size: wholeOption('--size', this.size)?.toString() })
  }
}

export class CheckpointConsistencyCommand extends LogTextCommand {
  static override paths = [['checkpoint', 'consistency']]

  static override usage = {
    category: CATEGORY,
    description: 'print the proof that a checkpoint extends an earlier one',
    examples: [['Since a checkpoint of 70,000 records', '$0 checkpoint consistency 70000']] as [string, string][],
  }

  old = Option.String({ name: 'old-size' })
  size = Option.String('--size', { description: 'size of the later checkpoint (default: the last one)' })

  override execute(): Promise<number> {
    const old = String(wholeOption('old-size', this.old))
    return this.printText('/proof/consistency', { old, size: wholeOption('--size', this.size)?.toString() })
  }
}
