/** Names and values of `name=value&name=value`, taken as they are written. */
export function pairsOf(text: string): (readonly [name: string, value: string])[] {
  return text.split('&').map((pair) => {
    const mark = pair.indexOf('=')
    return [pair.slice(0, mark), pair.slice(mark + 1)]
  })
}
