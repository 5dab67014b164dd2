/** What a command does to its process; specs replace it. */
export interface ProcessControl {
  /**
   * Calls back on SIGTERM and SIGINT, which otherwise end the process.
   * @returns a function that removes the listener
   */
  onStopSignal(listener: (signal: string) => void): () => void
  /**
   * Calls back on SIGHUP, which otherwise ends the process.
   * @returns a function that removes the listener
   */
  onReloadSignal(listener: () => void): () => void
  /** Ends the process now, without waiting for anything. */
  exitNow(exitCode: number): void
  /** Ends the process after a delay even if something keeps it alive. */
  exitSoon(exitCode: number): void
  /** From now on a closed standard output does not end the process. */
  surviveClosedOutput(): void
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const
const EXIT_DELAY_MILLISECONDS = 5000

/**
 * The control of this process. By default the process ends quietly when the reader of its output has gone, as in
 * `object-store config show | head -1`.
 */
export function createProcessControl(): ProcessControl {
  let endsWithOutput = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (endsWithOutput) process.exit()
  })
  return {
    onStopSignal(listener) {
      for (const signal of stopSignals) process.on(signal, listener)
      return () => {
        for (const signal of stopSignals) process.off(signal, listener)
      }
    },
    onReloadSignal(listener) {
      process.on('SIGHUP', listener)
      return () => process.off('SIGHUP', listener)
    },
    exitNow: (exitCode) => process.exit(exitCode),
    exitSoon(exitCode) {
      process.exitCode = exitCode
      setTimeout(() => process.exit(exitCode), EXIT_DELAY_MILLISECONDS).unref()
    },
    surviveClosedOutput() {
      endsWithOutput = false
    },
  }
}
