import { test } from 'tap'
import { isPrivateAddress } from '../../engine/private-addresses.ts'

test('addresses of this machine and of an organization, and no others', (t) => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.7',
    '169.254.1.1',
    '100.64.0.1',
  ])
    t.equal(isPrivateAddress(address), true, address)
  for (const address of ['::1', 'fd00::1', 'fe80::1', 'fe80::1%eth0', '::ffff:10.0.0.1', '::ffff:0a00:0001'])
    t.equal(isPrivateAddress(address), true, address)
  for (const address of ['8.8.8.8', '172.32.0.1', '192.169.0.1', '2001:4860::8888', '::ffff:8.8.8.8', '64:ff9b::a00:1'])
    t.equal(isPrivateAddress(address), false, address)
  for (const text of ['', 'localhost', '10.0.0', '10.0.0.1:80', '%eth0']) t.equal(isPrivateAddress(text), false, text)
  t.end()
})
