/** Commands on the time of the journal. */
export interface ClockCommands {
  /** Sets the order time back to the time of the host. In a batch of its own. */
  'set-clock-back': { reason: string }
}
