/** What a command needs of the process it runs in; specs give one that does nothing to their own process. */
export interface ProcessControl {
  /**
   * Calls back for every request to stop (SIGTERM, SIGINT), instead of the process ending at once.
   * @returns a function that ends this
   */
  onStopSignal(listener: (signal: string) => void): () => void
  /**
   * Calls back for every request to read files again (SIGHUP), which otherwise ends the process.
   * @returns a function that ends this
   */
  onReloadSignal(listener: () => void): () => void
  /** Ends the process now, without waiting for anything. */
  exitNow(exitCode: number): void
  /** Ends the process after a while even if something still keeps it alive. */
  exitSoon(exitCode: number): void
  /** From now on a closed standard output no longer ends the process. */
  surviveClosedOutput(): void
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const
const EXIT_DELAY_MILLISECONDS = 5000

/**
 * The control of this process. Until told otherwise the process ends quietly when the reader of its output has gone,
 * as in `object-store config show | head -1`.
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
