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
      Starts nothing, changes nothing and prints no secret. Ends with 0 if no check failed and with 7 if one did; a
      warning is not a failure. If a server has the data directory open, it is asked whether it is ready and what it does
      not do at the moment.
    `,
    examples: [['Before a start', '$0 server doctor --config /etc/object-store.toml']],
  })

  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const findings = await this.#findings()
    const failed = findings.some(({ status }) => status === 'failed')
    const lines = this.json
      ? [JSON.stringify({ healthy: !failed, checks: findings })]
      : textTable(findings.map(({ check, status, detail }) => [status, check, detail]))
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return failed ? exitTable.doctorFinding.code : exitTable.ok.code
  }

  /** Without a configuration nothing else can be checked. */
  async #findings(): Promise<Finding[]> {
    const configuration = await findingOf('configuration', () => {
      this.readConfig()
      return 'it can be read'
    })
    if (configuration.status === 'failed') return [configuration]
    return [configuration, ...(await examine(this.readConfig().config))]
  }
}
