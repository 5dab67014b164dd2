/** What strangers wrote, for a terminal: control characters and marks that turn the direction of text are spelled out. */
export function visibleText(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}
