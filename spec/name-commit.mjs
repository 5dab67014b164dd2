// Writes build/program/commit.json: of which commit the program is, in 12 characters, as `--version`, the log, the metrics and
// system info say it. When files differ from the commit the last of them is `+`. Null when git is not there or this is not a checkout of its own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'

const NAME_LENGTH = 12
const PROGRAM = 'build/program'

function git(...words) {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

function nameOfCommit() {
  try {
    // Sources that lie in the checkout of something else are none of its commits.
    if (realpathSync(git('rev-parse', '--show-toplevel')) !== realpathSync('.')) return null
    const name = git('rev-parse', 'HEAD').slice(0, NAME_LENGTH)
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
    return isChanged ? `${name.slice(0, -1)}+` : name
  } catch {
    return null
  }
}

mkdirSync(PROGRAM, { recursive: true })
writeFileSync(`${PROGRAM}/commit.json`, `${JSON.stringify({ commit: nameOfCommit() })}\n`)
