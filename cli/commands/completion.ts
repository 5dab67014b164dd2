import { Command, Option } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { ExitError, exitTable } from '../exit-codes.ts'

const NAME = 'object-store'
const FLAG = /--[a-z0-9-]+/g

/** Possible continuations of each sequence of words: the next word of a command, or the options of a command. */
function continuations(
  definitions: readonly { readonly path: string; readonly flags: readonly string[] }[],
): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>()
  const add = (words: readonly string[], word: string) => {
    const name = words.join(' ')
    next.set(name, (next.get(name) ?? new Set()).add(word))
  }
  for (const { path, flags } of definitions) {
    const words = path.split(' ').slice(1)
    words.forEach((word, index) => add(words.slice(0, index), word))
    for (const flag of flags) add(words, flag)
  }
  return next
}

/** A shell function that looks up the words before the cursor and takes the longest match. */
function bash(next: ReadonlyMap<string, ReadonlySet<string>>): string {
  const cases = [...next].map(([words, followers]) => `      '${words}') found='${[...followers].join(' ')}' ;;`)
  return `# ${NAME} completion for bash; for zsh, run "autoload -U bashcompinit && bashcompinit" before it.
_object_store() {
  local index words='' found='' best=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  for ((index = 0; index < COMP_CWORD; index++)); do
    [ "$index" -gt 0 ] && words="\${words:+$words }\${COMP_WORDS[index]}"
    found=''
    case "$words" in
${cases.join('\n')}
    esac
    [ -n "$found" ] && best="$found"
  done
  COMPREPLY=($(compgen -W "$best" -- "$current"))
}
complete -o default -F _object_store ${NAME}
`
}

function fish(next: ReadonlyMap<string, ReadonlySet<string>>): string {
  const lines = [...next].flatMap(([words, followers]) => {
    const seen = words === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${words.split(' ').at(-1)}`
    return [...followers].map((follower) => `complete -c ${NAME} -n '${seen}' -a '${follower}'`)
  })
  return `# ${NAME} completion for fish\n${lines.join('\n')}\n`
}

const SHELLS: ReadonlyMap<string, typeof bash> = new Map([
  ['bash', bash],
  ['zsh', bash],
  ['fish', fish],
])

export class CompletionCommand extends Command<CliContext> {
  static override paths = [['completion']]

  static override usage = Command.Usage({
    category: 'Help',
    description: 'print a completion script for bash, zsh or fish',
    examples: [['For this shell', 'source <($0 completion bash)']],
  })

  shell = Option.String({ name: 'shell' })

  override async execute(): Promise<number> {
    const write = SHELLS.get(this.shell)
    if (write === undefined) throw new ExitError('usage', `${this.shell}: unknown shell; choose bash, zsh or fish`)
    const definitions = this.cli.definitions().map(({ path, options }) => ({
      path,
      flags: options.flatMap(({ definition }) => definition.match(FLAG) ?? []),
    }))
    this.context.stdout.write(write(continuations(definitions)))
    return exitTable.ok.code
  }
}
