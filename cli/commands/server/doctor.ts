import { Command, Option } from 'clipanion'
import { ConfigCommand } from '../config/config-command.ts'
import { examine } from './doctor/examine.ts'
import { type Finding, findingOf } from './doctor/finding.ts'
import { exitTable } from '../../exit-codes.ts'
import { textTable } from '../../terminal/text-table.ts'

export class ServerDoctorCommand extends ConfigCommand {
  static override paths = [['server', 'doctor']]

  static override usage = Command.Usage({
    category: 'Server',
    description: 'check everything that a start needs',
    details: `
      Starts nothing and prints no secret. Leaves everything as it is: whether the data directory takes writes is tried
      with a small file, which is removed. Ends with 0 if no check failed and with 7 if one did; a warning is not a
      failure. After each of them it says what to do next. If a server has the data directory open, it is asked whether
      it is ready, what it does not do at the moment, and which damage its scrubs have found.

      With --before-upgrade, run by the new program: every record of the journal is verified, and it says whether the
      projections have to be made again, and whether the disk has room for others as large.
    `,
    examples: [
      ['Before a start', '$0 server doctor --config /etc/object-store.toml'],
      ['With the new program, while the old one serves', '$0 server doctor --before-upgrade'],
    ],
  })

  beforeUpgrade = Option.Boolean('--before-upgrade', false, {
    description: 'also read the whole journal, and see what the first start of this program makes again',
  })

  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const findings = await this.#findings()
    const failed = findings.some(({ status }) => status === 'failed')
    const lines = this.json
      ? [JSON.stringify({ healthy: !failed, checks: findings })]
      : textTable(findings.flatMap(linesOf))
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return failed ? exitTable.doctorFinding.code : exitTable.ok.code
  }

  /** Without a configuration nothing else can be checked. */
  async #findings(): Promise<Finding[]> {
    const next = 'correct the settings that are named; object-store config show prints all in force'
    const configuration = await findingOf('configuration', next, () => {
      this.readConfig()
      return 'it can be read'
    })
    if (configuration.status === 'failed') return [configuration]
    return [configuration, ...(await examine(this.readConfig().config, this.beforeUpgrade))]
  }
}

/** What was found, and below it what to do next. */
function linesOf({ check, status, detail, next }: Finding): readonly (readonly string[])[] {
  return [[status, check, detail], ...(next === undefined ? [] : [[`         next: ${next}`]])]
}
