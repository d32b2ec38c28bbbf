import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { readConfig } from '@heliograph/server/config'
import { type Command, InvalidArgumentError } from 'commander'
import {
  commaList,
  decimal,
  Reporting,
  type ServerCli,
  utcInstant,
  wholeNumber,
} from './command.ts'
import { addCommands } from './commands.ts'

const streams = { input: new PassThrough(), output: new PassThrough(), notes: new PassThrough() }
const cli: ServerCli = {
  terminal: { ...streams, is_interactive: false },
  confirm: () => Promise.reject(new Error('nobody is there')),
  operator: 'test',
  clock: { now: () => new Date(0) },
  log: { info() {}, warn() {}, error() {} },
  config: () => readConfig({}),
  withAdmin: () => Promise.reject(new Error('there is no database here')),
}

/** Every command that does something, with its full name. */
function leaves(parent: Command, name = ''): [string, Command][] {
  const below = parent.commands.flatMap((child) => leaves(child, `${name} ${child.name()}`))
  const is_group = below.length > 0 && parent.registeredArguments.length === 0
  return is_group ? below : [[name.trim(), parent], ...below]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  return help
}

test('the help of every command describes it and shows an example of itself', async () => {
  const program = new Reporting('heliograph', cli)
  await addCommands(program, cli)
  const commands = leaves(program)
  assert.deepEqual(commands.map(([name]) => name).sort(), [
    'alerts history',
    'alerts settings',
    'audit',
    'backup',
    'backup verify',
    'clients create',
    'clients list',
    'clients modules',
    'cluster check',
    'cluster distribute',
    'contracts import',
    'contracts list',
    'curtail',
    'doctor',
    'edges enrol',
    'edges list',
    'edges revoke',
    'forecasts list',
    'forecasts show',
    'get',
    'keys create',
    'keys list',
    'keys revoke',
    'keys rotate',
    'mail confirm',
    'mail list',
    'mail test',
    'markets follow',
    'markets list',
    'outages add',
    'outages list',
    'outages remove',
    'panels import',
    'panels list',
    'panels search',
    'prices import',
    'rates list',
    'rates set',
    'release',
    'restore',
    'sites create',
    'sites list',
    'sites safe-mode off',
    'sites safe-mode on',
    'sites sum-again',
    'telemetry export',
    'telemetry import',
    'users invite',
    'users list',
    'users password-link',
    'users remove-second-factor',
    'webhooks activate',
    'webhooks create',
    'webhooks delete',
    'webhooks list',
    'webhooks pause',
    'webhooks rotate',
    'webhooks test',
    'work-orders approval',
  ])
  for (const [name, command] of commands) {
    const help = helpOf(command)
    assert.match(help, new RegExp(`\nExample:\n  heliograph ${name}`), name)
    assert.match(help, /--json /, name)
    assert.ok(command.description().endsWith('.'), name)
    for (const { flags, description } of command.options) assert.ok(description, `${name} ${flags}`)
    const asks = /delete|revoke|rotate|off|modules|second-factor|curtail|release/.test(name)
    assert.equal(
      /--yes/.test(help),
      asks,
      `${name} asks before what limits a plant or cannot be undone`,
    )
  }
})

test('the commands of a word are loaded by that word', async () => {
  const all = new Reporting('heliograph', cli)
  await addCommands(all, cli)
  for (const name of all.commands.map((each) => each.name())) {
    const program = new Reporting('heliograph', cli)
    await addCommands(program, cli, name)
    assert.ok(
      program.commands.some((each) => each.name() === name),
      name,
    )
    assert.ok(program.commands.length <= 3, name)
  }
})

test('values are read strictly', () => {
  assert.deepEqual(commaList(' a, b ,,c'), ['a', 'b', 'c'])
  assert.deepEqual([wholeNumber('0'), wholeNumber('120')], [0, 120])
  assert.deepEqual([decimal('24'), decimal('0.5')], [24, 0.5])
  assert.deepEqual(utcInstant('2028-02-29T23:00Z'), new Date('2028-02-29T23:00:00Z'))
  assert.deepEqual(utcInstant('2027-01-31T00:00:59Z'), new Date('2027-01-31T00:00:59Z'))
  for (const bad of ['', '-1', '1.5', '1e3', '0x10', ' 1', '9999999999']) {
    assert.throws(() => wholeNumber(bad), InvalidArgumentError, bad)
  }
  for (const bad of ['', '-1', '.5', '1e3', 'a day', 'NaN', 'Infinity']) {
    assert.throws(() => decimal(bad), InvalidArgumentError, bad)
  }
  for (const bad of [
    '',
    '2027-01-31',
    '2027-01-31T00:00:00',
    '2027-01-31T00:00:00+01:00',
    '1 Jan 2027',
    '2027-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-31T24:00:00Z',
  ]) {
    assert.throws(() => utcInstant(bad), InvalidArgumentError, bad)
  }
})
