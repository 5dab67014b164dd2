/** An open part, to be closed if a later one cannot be opened. */
export interface Opened {
  close(): void | Promise<void>
}

/** Ignores errors: the reason why the store cannot be opened is already known. */
export async function closeQuietly(part: Opened): Promise<void> {
  try {
    await part.close()
  } catch {
    // The other parts are closed all the same.
  }
}

/**
 * Closes every part once, even after a part that fails to close.
 * @throws the first error
 */
export async function closeAll(parts: Opened[]): Promise<void> {
  const errors: unknown[] = []
  for (const part of parts.splice(0)) {
    try {
      await part.close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
