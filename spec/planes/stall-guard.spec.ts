/** Which clients are cut off that move little: those that move nothing, and slow ones while places are short. */
import { type Test, test } from 'tap'
import { type GuardedExchange, StallGuard } from '../../planes/http/limits/stall-guard.ts'
import { until } from '../support/waiting.ts'

/** An exchange whose client moves `bytes` between two looks of the guard. */
class Client implements GuardedExchange {
  looks = 0
  isCut = false
  readonly #bytes: number
  readonly #isAwaited: boolean

  constructor(bytes: number, isAwaited = true) {
    this.#bytes = bytes
    this.#isAwaited = isAwaited
  }

  clientProgress(): number | undefined {
    return this.#isAwaited ? this.looks * this.#bytes : undefined
  }

  prolong(): void {
    this.looks += 1
  }

  cut(): void {
    this.isCut = true
  }

  giveUpBody(): void {}
}

function guardOf(t: Test, isCrowded: () => boolean): (client: Client) => Client {
  const guard = new StallGuard({ stallTimeoutMilliseconds: 60, minimumBytes: 1000, isCrowded })
  t.teardown(() => guard.stop())
  return (client) => {
    guard.add(client)
    return client
  }
}

test('a slow client keeps its connection until places are short', async (t) => {
  let isCrowded = false
  const add = guardOf(t, () => isCrowded)
  const [slow, fast, silent] = [add(new Client(1)), add(new Client(1000)), add(new Client(0))]
  const served = add(new Client(0, false))
  await until(() => silent.isCut && slow.looks >= 20)
  t.notOk(slow.isCut, 'a byte now and then will do')
  isCrowded = true
  await until(() => slow.isCut)
  const before = fast.looks
  await until(() => fast.looks >= before + 20)
  t.notOk(fast.isCut, 'who moves enough is let be')
  t.notOk(served.isCut, 'so is who waits for the server')
})
