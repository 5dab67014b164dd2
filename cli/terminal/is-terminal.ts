/** Whether a person reads a stream. Other output is kept, in logs and files. */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}
