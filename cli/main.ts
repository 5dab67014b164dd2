// Must come first: it sets what other modules read while they are loaded.
import { environment } from './environment.ts'

import { runCommandLine } from './command-line.ts'
import { createProcessControl } from './server/process-control.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: { ...environment },
  environment,
  workingDirectory: process.cwd(),
  control: createProcessControl(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // Colours are decided in one place, by enableColors.
  colorDepth: 1,
})
