/** The life of a webhook by the console, against a real receiver: made, tested, turned off and on, rotated, deleted. */
import { setTimeout } from 'node:timers/promises'
import tap, { test } from 'tap'
import { type Receiver, startReceiver, statusOf } from '../support/webhooks/receiver.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

const LOOKS_MAXIMUM = 600

async function until(what: () => boolean): Promise<void> {
  for (let looks = 0; !what() && looks < LOOKS_MAXIMUM; looks += 1) await setTimeout(50)
}

function lifeOfWebhook({ api, open, put, tokens }: OpenConsole, receiver: Receiver): void {
  const eventsOf = (type: string) => receiver.received.filter(({ body }) => body.includes(type))

  test('a webhook is made, tested, turned off and on, gets a new secret, and is deleted', async (t) => {
    await api.get('POST', '/buckets', { name: 'photos' })
    const { page, complaints } = await open(t)
    await signIn(page, tokens['storage-administrator'])
    await goTo(page, 'webhooks')
    await page.getByRole('button', { name: 'Create a webhook' }).press('Enter')
    await page.getByLabel('Address').fill(receiver.url)
    await page.keyboard.press('Enter')
    const first = await page.getByRole('dialog', { name: 'The signing secret' }).locator('code').first().textContent()
    t.ok(first, 'the secret is shown once')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Send a test' }).press('Enter')
    await page.getByText('The test was answered 204.').waitFor()
    t.equal(receiver.received.length, 1)
    receiver.answer = statusOf(500)
    await page.getByRole('button', { name: 'Send a test' }).press('Enter')
    await page.getByText(/^The test (failed|was answered 500)/).waitFor()
    receiver.answer = statusOf(204)

    await put('photos', 'one', '1')
    await until(() => eventsOf('"one"').length >= 1)
    t.equal(eventsOf('"one"').length, 1, 'what is written is delivered')

    await page.getByRole('button', { name: 'Disable' }).press('Enter')
    await page.getByText('disabled', { exact: true }).waitFor()
    await put('photos', 'two', '2')
    await page.getByRole('button', { name: 'Enable' }).press('Enter')
    await page.getByText('disabled', { exact: true }).waitFor({ state: 'detached' })
    await put('photos', 'three', '3')
    await until(() => eventsOf('"three"').length >= 1)
    t.equal(eventsOf('"three"').length, 1, 'what is written after it was enabled')
    t.equal(eventsOf('"two"').length, 0, 'what was written while it was disabled is not')

    await page.getByRole('button', { name: 'New secret' }).press('Enter')
    await page.getByRole('button', { name: 'Make one' }).press('Enter')
    const second = await page.getByRole('dialog', { name: 'The signing secret' }).locator('code').first().textContent()
    t.ok(second)
    t.not(second, first)
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Delete a webhook' })
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), 'not without its name')
    await dialog.getByRole('textbox').fill(new URL(receiver.url).host)
    await dialog.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByText('The webhook was deleted.').waitFor()
    t.match(await api.get('GET', '/webhooks'), { webhooks: [] })
    await put('photos', 'four', '4')
    t.equal(eventsOf('"four"').length, 0)
    t.same(complaints, [])
  })
}

const receiver = await startReceiver()
tap.teardown(() => receiver.close())
await withConsole((console) => lifeOfWebhook(console, receiver), {
  OBJECT_STORE_WEBHOOKS_ALLOW_HTTP: 'true',
  OBJECT_STORE_WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
})
