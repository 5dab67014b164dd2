/** The commands that sequences are made of: one request, or several together. */
import type * as fc from 'fast-check'
import { firstElement, type WireAnswer } from '../support/wire-client.ts'
import { choosePlace, type PlaceChoice } from './choices.ts'
import { compare } from './comparison.ts'
import type { Content } from './content.ts'
import type { Operation } from './expectation.ts'
import type { Disturbance, Model, ModelStore } from './model.ts'
import { nextObjects } from './operations/list-objects.ts'
import { completeUpload, createUpload, uploadPart } from './operations/multipart.ts'
import type { Recipe } from './recipes.ts'

/** A command of a sequence. Which requests it came to is in the log of the model: a command runs in many sequences. */
export abstract class Step implements fc.AsyncCommand<Model, ModelStore> {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  /** Whether it may come now: most may always. */
  check(_model: Readonly<Model>): boolean {
    return true
  }

  abstract run(model: Model, store: ModelStore): Promise<void>

  toString(): string {
    return this.#name
  }
}

/** One request, whose answer must be the model's. */
export class Request extends Step {
  readonly #recipe: Recipe
  readonly #place: PlaceChoice

  constructor(recipe: Recipe, choice: PlaceChoice) {
    super(recipe.name)
    this.#recipe = recipe
    this.#place = choice
  }

  override check(model: Model): boolean {
    return this.#build(model) !== undefined
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const operation = this.#build(model)
    if (operation === undefined) return
    const answer = await model.carryOut(store, operation, this.#recipe.name)
    if (this.#recipe.name === 'list objects') rememberListing(model, operation, answer)
  }

  #build(model: Model): Operation | undefined {
    return this.#recipe.build(model, choosePlace(model, this.#place, this.#recipe.wants))
  }
}

function rememberListing(model: Model, { request }: Operation, answer: WireAnswer): void {
  const next = answer.status === 200 ? nextObjects(answer) : undefined
  const url = new URL(request.target, 'http://model')
  const bucket = url.pathname.slice(1)
  const created = model.world.buckets.get(bucket)?.created
  if (next === undefined || created === undefined) return
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  model.openListing = { bucket, created, prefix: parameter('prefix'), delimiter: parameter('delimiter'), ...next }
}

/** An upload of parts of full size, sent at the same time, and its completion. */
export class WholeUpload extends Step {
  readonly #place: PlaceChoice
  readonly #parts: readonly Content[]

  constructor(choice: PlaceChoice, parts: readonly Content[]) {
    super('a whole upload')
    this.#place = choice
    this.#parts = parts
  }

  override check(model: Model): boolean {
    return model.world.buckets.has(choosePlace(model, this.#place, 'a key').bucket)
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const { bucket, key } = choosePlace(model, this.#place, 'a key')
    const answer = await model.carryOut(store, createUpload(bucket, key, [], {}))
    const upload = { bucket, key, uploadId: firstElement(answer.text, 'UploadId') ?? '' }
    const parts = this.#parts.map((part, index) => uploadPart(upload, index + 1, part))
    const answers = await Promise.all(parts.map(({ request }) => store.send(request)))
    model.settle(parts.map((operation, index) => ({ operation, answer: answers[index] })))
    const list = this.#parts.map(({ md5 }, index) => ({ part: index + 1, etag: md5 }))
    await model.carryOut(store, completeUpload(upload, list))
  }
}

/** Several requests on one key at once, perhaps disturbed; then everything is read, which tells what became of them. */
export class Together extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice
  readonly #disturbance: Disturbance | undefined

  constructor(recipes: readonly Recipe[], choice: PlaceChoice, disturbance: Disturbance | undefined) {
    super(`together, ${disturbance === undefined ? 'undisturbed' : JSON.stringify(disturbance)}`)
    this.#recipes = recipes
    this.#place = choice
    this.#disturbance = disturbance
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const wants = this.#recipes.find((recipe) => recipe.wants !== 'nothing')?.wants ?? 'nothing'
    const at = choosePlace(model, this.#place, wants)
    const built = this.#recipes.map((recipe) => ({ name: recipe.name, operation: recipe.build(model, at) }))
    const sent = built.flatMap(({ name, operation }) => (operation === undefined ? [] : { name, operation }))
    const operations = sent.map(({ operation }) => operation)
    const requests = operations.map(({ request }) => request)
    const answers =
      this.#disturbance === undefined
        ? await Promise.all(requests.map((request) => store.send(request)))
        : await store.sendDisturbed(requests, this.#disturbance)
    // A read of an object that is deleted meanwhile may end early (spec/decisions/0018).
    const whole = answers.map((answer) => (answer?.complete === true ? answer : undefined))
    for (const [index, { name }] of sent.entries()) model.tally.count(name, whole[index])
    model.settle(operations.map((operation, index) => ({ operation, answer: whole[index] })))
    if (this.#disturbance?.kind === 'kill') model.restarts += 1
    await compare(model, store)
  }
}
