import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parse } from 'yaml'
import { parseMqttCredentials } from './node.ts'
import type { Site } from './site.ts'
import { checkSite, fieldOf } from './site-check.ts'
import { parseSiteFile } from './site-file.ts'

const text = readFileSync(new URL('../simulator/demo/site.yaml', import.meta.url), 'utf8')

function faultsOf(change: (site: Required<Site>) => void): string[] {
  const site = structuredClone(parse(text, { merge: true })) as Required<Site>
  change(site)
  return checkSite(site).map(({ path, message }) => `${fieldOf(path)}: ${message}`)
}

test('problems of nodes and their broker are reported at their field', () => {
  assert.deepEqual(
    faultsOf(() => {}),
    [],
  )
  const faults = faultsOf(({ nodes, mqtt }) => {
    const [first, second] = nodes
    second!.node_number = first!.node_number
    second!.logger_id = 99
    second!.location_id = 98
    first!.channels[3]!.relay = 'oil'
    first!.channels[4]!.channel = 'fan-1'
    mqtt.url = 'mqtt://10.0.0.5:1883'
  })
  assert.deepEqual(
    faults.sort(),
    [
      "mqtt: give 'listen' for a broker within the edge or 'url' for another, one of them",
      'nodes[0].channels[4].channel: channel fan-1 is already that of nodes[0].channels[3]',
      "nodes[0].channels[3].relay: the node has no channel 'oil' of kind relay",
      'nodes[1].location_id: there is no location_id 98 in this file',
      'nodes[1].logger_id: there is no logger_id 99 in this file',
      'nodes[1].node_number: node_number 1 is already that of nodes[0]',
    ].sort(),
  )
  const without = faultsOf((site) => {
    delete (site as Partial<Site>).mqtt
  })
  assert.deepEqual(without, ['mqtt: is missing: nodes are heard by MQTT'])
})

test('passwords and ids in capitals are refused in a site file', () => {
  const wrong = text
    .replace('listen: { port: 15025 }', 'url: mqtt://node:secret@10.0.0.5:1883')
    .replace('node_id: ts-east', 'node_id: TS East')
  const parsed = parseSiteFile(wrong)
  const faults = 'problems' in parsed ? parsed.problems : []
  assert.deepEqual(
    faults.map(({ field }) => field),
    ['mqtt.url', 'nodes[1].node_id'],
  )
  assert.match(faults[0]!.message, /without user and password/)
})

test('credentials are one line', () => {
  const node = { username: 'node', password: 'a:b' }
  assert.deepEqual(parseMqttCredentials('node:a:b\n'), node)
  for (const bad of ['', 'node', 'node:', ':x', 'node:a b', 'node:a\nother:b']) {
    assert.equal(parseMqttCredentials(bad), null, bad)
  }
})
