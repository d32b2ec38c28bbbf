import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { type Command, InvalidArgumentError } from 'commander'
import { addAlertCommands } from './alerts.ts'
import { addAuditCommand } from './audit.ts'
import { addClientCommands } from './clients.ts'
import { type Cli, commaList, decimal, Reporting, utcInstant, wholeNumber } from './command.ts'
import { addEdgeCommands } from './edges.ts'
import { addForecastCommands } from './forecasts.ts'
import { addKeyCommands } from './keys.ts'
import { addMailCommands } from './mail.ts'
import { addOutageCommands } from './outages.ts'
import { addPanelCommands } from './panels.ts'
import { addSiteCommands } from './sites.ts'
import { addWorkOrderCommands } from './work-orders.ts'

const streams = { input: new PassThrough(), output: new PassThrough(), notes: new PassThrough() }
const cli: Cli = {
  terminal: { ...streams, is_interactive: false },
  confirm: () => Promise.reject(new Error('nobody is there')),
  operator: 'test',
  withAdmin: () => Promise.reject(new Error('there is no database here')),
}

/** Every command that does something, with its full name. */
function leaves(parent: Command, name = ''): [string, Command][] {
  if (parent.commands.length === 0) return [[name.trim(), parent]]
  return parent.commands.flatMap((child) => leaves(child, `${name} ${child.name()}`))
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  return help
}

test('the help of every command describes it and shows an example of itself', () => {
  const program = new Reporting('heliograph', cli)
  addClientCommands(program, cli)
  addSiteCommands(program, cli)
  addWorkOrderCommands(program)
  addKeyCommands(program, cli)
  addEdgeCommands(program, cli)
  addPanelCommands(program)
  addOutageCommands(program)
  addForecastCommands(program)
  addAlertCommands(program, cli)
  addAuditCommand(program, cli)
  addMailCommands(program, cli, {
    config: () => ({ mail: null }),
    clock: { now: () => new Date(0) },
    randomBytes: Buffer.alloc,
  })
  const commands = leaves(program)
  assert.deepEqual(commands.map(([name]) => name).sort(), [
    'alerts history',
    'alerts settings',
    'audit',
    'clients create',
    'clients list',
    'clients modules',
    'edges enrol',
    'edges list',
    'edges revoke',
    'forecasts list',
    'forecasts show',
    'keys create',
    'keys list',
    'keys revoke',
    'keys rotate',
    'mail confirm',
    'mail list',
    'mail test',
    'outages add',
    'outages list',
    'outages remove',
    'panels import',
    'panels list',
    'panels search',
    'sites create',
    'sites list',
    'sites safe-mode off',
    'sites safe-mode on',
    'sites sum-again',
    'work-orders approval',
  ])
  for (const [name, command] of commands) {
    const help = helpOf(command)
    assert.match(help, new RegExp(`\nExample:\n  heliograph ${name}`), name)
    assert.match(help, /--json /, name)
    assert.ok(command.description().endsWith('.'), name)
    for (const { flags, description } of command.options) assert.ok(description, `${name} ${flags}`)
    const asks = /revoke|rotate|off|modules/.test(name)
    assert.equal(/--yes/.test(help), asks, `${name} asks before what cannot be undone`)
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
