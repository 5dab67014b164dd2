/** One line of JSON that does nothing to a terminal: JSON.stringify leaves DEL and the C1 controls as they are. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, (control) => {
    return `\\u00${control.charCodeAt(0).toString(16)}`
  })
}
