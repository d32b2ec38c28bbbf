/** Every command, by its first word. */
import type { Reporting, ServerCli } from './command.ts'

type Load = () => Promise<(program: Reporting, cli: ServerCli) => void>

const market: Load = async () => (await import('./markets.ts')).addMarketCommands
const client: Load = async () => (await import('./client.ts')).addClientSideCommands
const backup: Load = async () => (await import('./backup.ts')).addBackupCommands

/** The parts of the server that a command uses take longer to load than most commands run. */
const loads: Readonly<Record<string, Load>> = {
  clients: async () => (await import('./clients.ts')).addClientCommands,
  sites: async () => (await import('./sites.ts')).addSiteCommands,
  users: async () => (await import('./users.ts')).addUserCommands,
  'work-orders': async () => (await import('./work-orders.ts')).addWorkOrderCommands,
  keys: async () => (await import('./keys.ts')).addKeyCommands,
  edges: async () => (await import('./edges.ts')).addEdgeCommands,
  panels: async () => (await import('./panels.ts')).addPanelCommands,
  contracts: async () => (await import('./contracts.ts')).addContractCommands,
  outages: async () => (await import('./outages.ts')).addOutageCommands,
  forecasts: async () => (await import('./forecasts.ts')).addForecastCommands,
  markets: market,
  prices: market,
  rates: market,
  mail: async () => (await import('./mail.ts')).addMailCommands,
  alerts: async () => (await import('./alerts.ts')).addAlertCommands,
  webhooks: async () => (await import('./webhooks.ts')).addWebhookCommands,
  audit: async () => (await import('./audit.ts')).addAuditCommand,
  telemetry: async () => (await import('./telemetry.ts')).addTelemetryCommands,
  cluster: async () => (await import('./cluster.ts')).addClusterCommands,
  doctor: async () => (await import('./doctor.ts')).addDoctorCommand,
  get: client,
  curtail: client,
  release: client,
  backup,
  restore: backup,
}

/** The commands that begin with this word; all of them if none does. */
export async function addCommands(program: Reporting, cli: ServerCli, word = ''): Promise<void> {
  const wanted = Object.hasOwn(loads, word) ? [loads[word]!] : new Set(Object.values(loads))
  for (const load of wanted) (await load())(program, cli)
}
