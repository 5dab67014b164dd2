/** Accounts, policies and tokens in the console. */
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { hindrances } from '../support/browser/axe.ts'
import { goTo, type OpenConsole, signIn, withConsole } from './open-console.ts'

/** Searches what is on the screen for hindrances, a dialog included. */
async function isAccessible(t: Test, page: Page, what: string): Promise<void> {
  t.same(await hindrances(page), [], what)
}

function changing({ api, open, tokens }: OpenConsole): void {
  test('an account, its secret once, a policy that is tested, and what it may do, by keyboard', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'access')
    await page.getByText('There are no service accounts yet').waitFor()
    await isAccessible(t, page, 'no accounts')
    await page.getByRole('button', { name: 'Create a service account' }).press('Enter')
    await isAccessible(t, page, 'the form of an account')
    await page.getByLabel('Name').fill('backup')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The new credential' }).waitFor()
    await isAccessible(t, page, 'the new credential')
    const [accessKey = '', secretKey = ''] = await page.locator('.secret code').allTextContents()
    await page.getByRole('button', { name: 'I have kept it' }).press('Enter')
    await page.getByRole('heading', { name: 'backup', exact: true }).waitFor()
    t.ok(accessKey.length > 10 && secretKey.length > 20)
    await page.getByText(accessKey).waitFor()
    t.notMatch(await page.content(), secretKey, 'it is not shown again')
    await page.getByText('The account may do nothing').waitFor()
    await isAccessible(t, page, 'an account')

    await goTo(page, 'access/policies/new')
    await page.getByLabel('Name of the policy').fill('read logs')
    await page.getByLabel('Actions').fill('s3:Got*')
    await page.getByText('no action begins like this').waitFor()
    await isAccessible(t, page, 'a policy with a fault')
    await page.getByLabel('Actions').fill('s3:GetObject\ns3:ListBucket')
    await page.getByLabel('Resources').fill('bucket:logs/*')
    await page.getByText('on every object of the bucket logs').waitFor()
    await page.getByText('s3:ListBucket has no effect here').waitFor()
    await page.getByRole('button', { name: 'Add a statement' }).press('Enter')
    const second = page.getByRole('group', { name: 'Statement 2' })
    await second.getByLabel('Effect').selectOption('deny')
    await second.getByLabel('Actions').fill('s3:*')
    await second.getByLabel('Resources').fill('bucket:logs/secret/*')
    await page.getByLabel('Bucket').fill('logs')
    await page.getByLabel('Key').fill('a')
    await page.getByText('Statement 1 allows s3:GetObject on bucket:logs/a.').waitFor()
    await page.getByLabel('Key').fill('secret/a')
    await page.getByText('Statement 2 denies s3:GetObject on bucket:logs/secret/a.').waitFor()
    await page.getByLabel('Action', { exact: true }).selectOption('s3:PutObject')
    await page.getByLabel('Key').fill('a')
    await page.getByText('No statement allows s3:PutObject on bucket:logs/a.').waitFor()
    await isAccessible(t, page, 'a policy')
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'read logs', exact: true }).waitFor()

    await goTo(page, 'access')
    await page.getByRole('link', { name: 'backup' }).press('Enter')
    await page.getByRole('button', { name: 'Attach a policy' }).press('Enter')
    await isAccessible(t, page, 'attaching')
    await page.getByRole('button', { name: 'Attach', exact: true }).press('Enter')
    await page.getByRole('link', { name: 'read logs' }).waitFor()
    const { service_accounts: accounts } = await api.get<{ service_accounts: { policies: string[] }[] }>(
      'GET',
      '/service-accounts',
    )
    t.equal(accounts[0]?.policies.length, 1)
    await page.getByLabel('Bucket').fill('logs')
    await page.getByLabel('Key').fill('a')
    await page.getByText('read logs, statement 1 allows s3:GetObject').waitFor()
    t.same(complaints, [])
  })
}

function takingBack({ api, open, tokens }: OpenConsole): void {
  test('a temporary credential, one that is disabled, an account that is deleted', async (t) => {
    const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'reports' })
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, `access/accounts/${account.id}`)
    await page.getByRole('button', { name: 'Issue a credential' }).press('Enter')
    await isAccessible(t, page, 'issuing')
    await page.getByLabel('It is valid').selectOption('3600')
    await page.getByRole('button', { name: 'Issue', exact: true }).press('Enter')
    await page.getByText('It expires on').waitFor()
    await page.getByRole('button', { name: 'I have kept it' }).press('Enter')
    await page.getByText('temporary', { exact: true }).waitFor()
    await page
      .getByRole('button', { name: /^Disable the credential/ })
      .first()
      .press('Enter')
    await page.getByText('disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('reports')
    await isAccessible(t, page, 'deleting')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Access' }).waitFor()
    t.equal((await api.send('GET', `/api/v1/service-accounts/${account.id}`)).status, 404)
    t.same(complaints, [])
  })

  test('a token of a role, shown once, and revoked', async (t) => {
    const { page, complaints } = await open(t)
    await signIn(page, tokens['system-administrator'])
    await goTo(page, 'access/tokens')
    await page.getByRole('button', { name: 'Issue a token' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('night shift')
    await isAccessible(t, page, 'issuing a token')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The new token' }).waitFor()
    await isAccessible(t, page, 'the new token')
    const token = (await page.locator('.secret code').textContent()) ?? ''
    await page.getByRole('button', { name: 'I have kept it' }).press('Enter')
    const other = await open(t)
    await signIn(other.page, token)
    await isAccessible(t, page, 'tokens')
    await page.getByRole('button', { name: 'Revoke the token night shift' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('night shift')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'night shift', exact: true }).waitFor({ state: 'detached' })
    t.same([...complaints, ...other.complaints], [])
  })
}

function looking({ api, open, tokens }: OpenConsole): void {
  test('an auditor sees accounts and policies and no dead buttons, a storage administrator neither', async (t) => {
    const { account } = await api.get<{ account: { id: string } }>('POST', '/service-accounts', { name: 'seen' })
    const statements = [{ effect: 'allow', actions: ['s3:*'], resources: ['*'] }]
    const policy = await api.get<{ id: string }>('POST', '/policies', { name: 'everything', statements })
    const { page, complaints } = await open(t)
    await signIn(page, tokens.auditor)
    for (const [address, heading] of [
      ['access', 'Access'],
      ['access/policies', 'Access'],
      [`access/accounts/${account.id}`, 'seen'],
      [`access/policies/${policy.id}`, 'everything'],
    ] as const) {
      await goTo(page, address)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
      t.same(await page.locator('main').getByRole('button').allTextContents(), [], address)
      await isAccessible(t, page, address)
    }
    await page.getByText('allows every action on everything.').waitFor()
    for (const address of ['access/tokens', 'access/policies/new']) {
      await goTo(page, address)
      // "new" is then the id of a policy, which there is not.
      await page.getByText(/Page not found|POLICY_NOT_FOUND/).waitFor()
    }
    const other = await open(t)
    await signIn(other.page, tokens['storage-administrator'])
    t.equal(await other.page.getByRole('link', { name: 'Access' }).count(), 0)
    await goTo(other.page, 'access')
    await other.page.getByText('Page not found').waitFor()
    t.same([...complaints, ...other.complaints], [])
  })
}

await withConsole((opened) => {
  changing(opened)
  takingBack(opened)
  looking(opened)
})
