/**
 * Where webhooks may send to (specification, Target restrictions).
 * Proves: EVT-TAR-02, EVT-TAR-03, EVT-TAR-04, EVT-TAR-05.
 */
import { test } from 'tap'
import { addressFault, addressIn, targetFault } from '../../engine/webhooks/target.ts'

const STRICT = { allowHttp: false, allowPrivateNetworks: false }
const OPEN = { allowHttp: true, allowPrivateNetworks: true }

test('targets as they are written', async (t) => {
  const refused: [target: string, fault: RegExp][] = [
    ['', /https URL/],
    ['example.com/hook', /https URL/],
    ['ftp://example.com/', /https URL/],
    ['https:example.com', /https URL/],
    ['https:/example.com', /https URL/],
    ['https://', /https URL/],
    [' https://example.com/', /https URL/],
    ['https://exa mple.com/', /https URL/],
    ['https://example.com:65536/', /https URL/],
    ['https://example.com:0/', /port 0/],
    ['http://example.com/', /allow_http is off/],
    ['https://user@example.com/', /user name/],
    ['https://:secret@example.com/', /password/],
    ['https://example.com/#', /fragment/],
    ['https://example.com/#part', /fragment/],
    ['https://127.0.0.1/', /private network/],
    ['https://2130706433/', /private network/],
    ['https://0x7f.1/', /private network/],
    ['https://[::1]/', /private network/],
    ['https://[::ffff:169.254.169.254]/', /metadata/],
    [`https://example.com/${'a'.repeat(2048)}`, /2048 characters/],
  ]
  for (const [target, fault] of refused) t.match(targetFault(target, STRICT), fault, target.slice(0, 60))
  for (const target of [
    'https://example.com',
    'HTTPS://example.com:8443/hook?token=x',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]/',
  ]) {
    t.equal(targetFault(target, STRICT), undefined, target)
  }
  t.equal(targetFault('http://receiver.internal:8080/', OPEN), undefined)
  t.equal(targetFault('http://10.0.0.1/', { ...STRICT, allowHttp: true })?.includes('private'), true)
  t.equal(addressIn(new URL('https://[::1]/')), '::1')
  t.equal(addressIn(new URL('https://localhost/')), undefined)
})

const NEVER = [
  'not an address',
  'fe80::1%eth0',
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  '5f00::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:0.0.0.0',
]
const PRIVATE = [
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.1.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:c0a8:0101',
]
const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1', '::ffff:1.1.1.1']

test('addresses that a name may lead to', async (t) => {
  for (const address of NEVER) {
    t.type(addressFault(address, STRICT), 'string', address)
    t.type(addressFault(address, OPEN), 'string', `${address}, even where private networks are allowed`)
  }
  for (const address of PRIVATE) {
    t.match(addressFault(address, STRICT), /private network/, address)
    t.equal(addressFault(address, OPEN), undefined, address)
  }
  for (const address of PUBLIC) t.equal(addressFault(address, STRICT), undefined, address)
})
