/** Tools that propose. A person decides; nothing else here commands. */
import { BatteryPlanProposal, CurtailmentProposal } from './endpoints.ts'
import { site_id } from './inputs.ts'
import type { Proposal } from './proposals.ts'
import { type Listed, lines, table, tool } from './tool.ts'

const url = (site_id: string, path: string) => `/mcp/sites/${encodeURIComponent(site_id)}${path}`

const waits =
  'Commands nothing: a person decides on the page of the site within an hour. Next: list_proposals.'

const proposeCurtailment = tool({
  name: 'propose_curtailment',
  title: 'Propose a curtailment',
  description: `Proposes a limit of plants in a time window, and says what it would do. ${waits}`,
  scopes: ['curtailment:write'],
  proposes: true,
  input: { site_id, ...CurtailmentProposal.properties },
  async run({ site_id, ...body }, agent) {
    const path = url(site_id, '/curtailment-proposals')
    const proposal = await agent.write<Proposal>(path, body)
    const { limits, warnings } = proposal.curtailment!
    return [
      headOf(proposal),
      table(limits, ['logger_id', 'rated_power_kw', 'max_power_kw']),
      `Warnings: ${warnings.join(', ') || 'none'}.`,
      agent.page(site_id, '/proposals'),
    ].join('\n\n')
  },
})

const proposeBatteryPlan = tool({
  name: 'propose_battery_plan',
  title: 'Propose a battery plan',
  description: `Proposes the best plan of a battery for a day, and shows its hours. ${waits}`,
  scopes: ['bess:write'],
  proposes: true,
  input: { site_id, ...BatteryPlanProposal.properties },
  async run({ site_id, ...body }, agent) {
    const path = url(site_id, '/battery-plan-proposals')
    const proposal = await agent.write<Proposal>(path, body)
    const { hours, totals } = proposal.battery_plan!
    const powered = hours.filter(({ power_kw }) => power_kw !== 0)
    return [
      headOf(proposal),
      lines(totals, ['charge_kwh', 'discharge_kwh', 'expected_net_amount', 'currency']),
      table(powered, ['start_at', 'power_kw', 'soc_end_pct', 'price_per_mwh']),
      agent.page(site_id, '/proposals'),
    ].join('\n\n')
  },
})

const headOf = ({ proposal_id, lapses_at }: Proposal) =>
  `Proposal ${proposal_id} waits for a person until ${lapses_at}. Nothing is commanded.`

const listProposals = tool({
  name: 'list_proposals',
  title: 'What became of proposals',
  description: 'The proposals that this key made, newest first, with what people decided.',
  scopes: [],
  input: { site_id },
  async run({ site_id }, agent) {
    const { data } = await agent.read<Listed<Proposal>>(url(site_id, '/proposals'))
    return table(data, [
      'proposal_id',
      'kind',
      'status',
      'reason',
      'made_at',
      'lapses_at',
      'decided_by',
      'decided_at',
      'note',
      'result_id',
    ])
  },
})

export const proposalTools = [proposeCurtailment, proposeBatteryPlan, listProposals]
