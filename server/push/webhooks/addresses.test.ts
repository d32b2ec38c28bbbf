import assert from 'node:assert/strict'
import test from 'node:test'
import { AddressRefused, addressOf, isPublic, isWithin, urlFault } from './addresses.ts'

/** Hosts of URLs, as a caller may write them, that lead to places inside. */
const hostile = [
  'localhost',
  'LOCALHOST.',
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '168.63.129.16',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '１２７.０.０.１',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[2001:2::1]',
  '[3fff::1]',
  '[100::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[4000::1]',
]

const system = async (host: string) => {
  assert.match(host, /^localhost\.?$/)
  return [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
}

test('no host leads inside, however it is written', async () => {
  assert.ok(hostile.length >= 60)
  for (const host of hostile) {
    const url = new URL(`https://${host}/hook`)
    await assert.rejects(addressOf(url, { resolve: system, networks: [] }), AddressRefused, host)
  }
})

test('public addresses are allowed', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001::1']) {
    assert.ok(isPublic(address), address)
  }
  assert.ok(!isPublic(''))
  assert.ok(!isPublic('example.com'))
})

test('a name is refused when one of its addresses is', async () => {
  const resolve = async () => [
    { address: '8.8.8.8', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ]
  const url = new URL('https://example.com')
  await assert.rejects(addressOf(url, { resolve, networks: [] }), AddressRefused)
  await assert.rejects(addressOf(url, { resolve: async () => [], networks: [] }), AddressRefused)
  const { address } = await addressOf(url, { resolve, networks: ['10.0.0.0/8'] })
  assert.equal(address, '8.8.8.8')
})

test('only an allowed network is reached without TLS', async () => {
  const order = { resolve: system, networks: ['10.0.0.0/8'] }
  await assert.rejects(addressOf(new URL('http://8.8.8.8'), order), /without https/)
  assert.equal((await addressOf(new URL('https://8.8.8.8'), order)).address, '8.8.8.8')
  assert.equal((await addressOf(new URL('http://10.0.0.1'), order)).address, '10.0.0.1')
})

test('a network that the operator allows is allowed, in each form of its addresses', () => {
  const networks = ['10.20.0.0/16', 'fd00::/8']
  for (const address of ['10.20.0.1', '::ffff:10.20.0.1', 'fd12::1']) {
    assert.ok(isWithin(address, networks), address)
  }
  for (const address of ['10.21.0.1', '127.0.0.1', 'fe80::1', '64:ff9b::10.20.0.1']) {
    assert.ok(!isWithin(address, networks), address)
  }
})

test('a URL is of http or https, without credentials', () => {
  assert.equal(urlFault('https://example.com:8443/hook?a=1'), null)
  for (const url of [
    'example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@example.com',
    'https://:secret@example.com',
    'https://example.com/#a',
    '',
  ]) {
    assert.ok(urlFault(url) !== null, url)
  }
})
