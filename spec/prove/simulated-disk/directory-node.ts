/** A directory as it is seen and as the medium has it. */
import type { CrashDecision } from './crash-choices.ts'
import type { FileNode } from './file-node.ts'

export type Node = FileNode | DirectoryNode

/** A change of names that lands as a whole or not at all: within one directory a rename is one. */
export interface NameOperation {
  /** For choices. */
  readonly title: string
  readonly bind?: { readonly name: string; readonly node: Node }
  readonly unbind?: string
}

export class DirectoryNode {
  readonly kind = 'directory'
  readonly madeAs: string
  readonly names = new Map<string, Node>()
  readonly #durable = new Map<string, Node>()
  #pending: NameOperation[] = []

  constructor(madeAs: string) {
    this.madeAs = madeAs
  }

  change(operation: NameOperation): void {
    apply(this.names, operation)
    this.#pending.push(operation)
  }

  sync(): void {
    this.#durable.clear()
    for (const [name, node] of this.names) this.#durable.set(name, node)
    this.#pending = []
  }

  /** With all that is not synced. `copied` copies a node, each of them once. */
  copyInto(target: DirectoryNode, copied: <T extends Node>(node: T) => T): void {
    for (const [name, node] of this.names) target.names.set(name, copied(node))
    for (const [name, node] of this.#durable) target.#durable.set(name, copied(node))
    target.#pending = this.#pending.map((operation) =>
      operation.bind === undefined
        ? operation
        : { ...operation, bind: { ...operation.bind, node: copied(operation.bind.node) } },
    )
  }

  /** What the medium holds after a power cut: any of the operations may be missing, those that landed keep their order. */
  landed(decide: CrashDecision): Map<string, Node> {
    const names = new Map(this.#durable)
    for (const operation of this.#pending) {
      const choice = { what: 'name', path: this.madeAs, detail: operation.title, options: 2 } as const
      if (decide(choice) === 1) apply(names, operation)
    }
    return names
  }

  /** Names as the medium has them, all of them durable. */
  static crashed(madeAs: string, names: ReadonlyMap<string, Node>): DirectoryNode {
    const node = new DirectoryNode(madeAs)
    for (const [name, child] of names) node.names.set(name, child)
    node.sync()
    return node
  }
}

function apply(names: Map<string, Node>, { bind, unbind }: NameOperation): void {
  if (unbind !== undefined) names.delete(unbind)
  if (bind !== undefined) names.set(bind.name, bind.node)
}
