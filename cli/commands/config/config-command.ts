import { Command, Option } from 'clipanion'
import type { CliContext } from '../../cli-context.ts'
import type { ResolvedConfig } from '../../config/config-types.ts'
import { loadConfig } from '../../config/load-config.ts'
import { ExitError } from '../../exit-codes.ts'

/** A command that reads the configuration, with the options that all of them have. */
export abstract class ConfigCommand extends Command<CliContext> {
  configPath = Option.String('--config', { description: 'TOML file to read settings from' })
  dataDirectory = Option.String('--data-dir', { description: 'directory that holds the data' })
  s3Bind = Option.String('--s3-bind', { description: 'host:port of the S3 data plane' })
  apiBind = Option.String('--api-bind', { description: 'host:port of the management listener' })
  consoleBind = Option.String('--console-bind', { description: 'host:port of the web console' })
  logLevel = Option.String('--log-level', { description: 'least severe level that is logged' })
  settings = Option.Array('--set', [], { description: 'name=value: any other setting; may be repeated' })

  /** A command may read its configuration more than once, and warns once. */
  readonly #warned = new Set<string>()

  /**
   * The configuration from these options, the environment and the files.
   * @throws ConfigError
   */
  protected readConfig(): ResolvedConfig {
    const loaded = loadConfig({
      flags: this.#flags(),
      configPath: this.configPath,
      environment: this.context.environment,
      workingDirectory: this.context.workingDirectory,
    })
    for (const warning of loaded.warnings) {
      if (!this.#warned.has(warning)) this.context.stderr.write(`object-store: warning: ${warning}\n`)
      this.#warned.add(warning)
    }
    return loaded
  }

  #flags(): Record<string, string> {
    const settings = this.settings.map((setting) => {
      const equals = setting.indexOf('=')
      if (equals < 1) throw new ExitError('usage', '--set takes name=value, such as log.requests=errors')
      return [setting.slice(0, equals), setting.slice(equals + 1)] as const
    })
    const named: Readonly<Record<string, string | undefined>> = {
      data_dir: this.dataDirectory,
      's3.bind': this.s3Bind,
      'api.bind': this.apiBind,
      'console.bind': this.consoleBind,
      'log.level': this.logLevel,
    }
    const given = Object.entries(named).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    return Object.fromEntries([...settings, ...given])
  }
}
