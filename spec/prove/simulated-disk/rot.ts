/** Bytes of a file that read as others than were written, by a mask over them: it can be taken off again. */
export class Rot {
  #masks: readonly { readonly position: number; readonly mask: Buffer }[] = []
  #lost: readonly { readonly from: number; readonly to: number }[] = []

  /** @param mask what the bytes from `position` on are XORed with whenever they are read */
  add(position: number, mask: Buffer): void {
    this.#masks = [...this.#masks, { position, mask }]
  }

  /** Reading a byte from `from` to `to` (exclusive) is an error of the disk. */
  lose(from: number, to: number): void {
    this.#lost = [...this.#lost, { from, to }]
  }

  /** Changes what was read from `position` on. @throws Error EIO when some of it is lost */
  spoil(bytes: Uint8Array, position: number, length = bytes.length): void {
    if (this.#lost.some(({ from, to }) => from < position + length && to > position)) {
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
    }
    for (const each of this.#masks) {
      const from = Math.max(position, each.position)
      const to = Math.min(position + length, each.position + each.mask.length)
      for (let at = from; at < to; at += 1) {
        bytes[at - position] = (bytes[at - position] ?? 0) ^ (each.mask[at - each.position] ?? 0)
      }
    }
  }

  /** Bytes that were written anew are sound. */
  written(position: number, length: number): void {
    // What is written over a part of a lost sector takes its place.
    this.#lost = this.#lost.filter(({ from, to }) => from >= position + length || to <= position)
    if (this.#masks.length === 0) return
    this.#masks = this.#masks.map((each) => {
      const mask = Buffer.from(each.mask)
      const [from, to] = [position, position + length].map((at) =>
        Math.min(mask.length, Math.max(0, at - each.position)),
      )
      mask.fill(0, from, to)
      return { ...each, mask }
    })
  }

  heal(): void {
    this.#masks = []
    this.#lost = []
  }

  copy(): Rot {
    const copy = new Rot()
    copy.#masks = this.#masks
    copy.#lost = this.#lost
    return copy
  }
}
