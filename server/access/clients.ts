import { type Module, modules } from '../http/endpoint.ts'
import type { Queries } from '../storage/database.ts'
import { createSequenceOf } from '../storage/site-ids.ts'
import { type Admin, AdminError, checkChoice, checkName } from './admin.ts'

export interface Client {
  client_id: number
  /** Unique; identifies the client on the command line. */
  name: string
  /** The plan of the client. */
  modules: Module[]
  created_at: Date
}

const columns = 'client_id, name, modules, created_at'

/** Creates a client with its plan. Refuses a name in use (`conflict`). */
export async function createClient(
  { db, clock }: Admin,
  order: { name: string; modules: readonly string[] },
): Promise<Client> {
  const name = checkName("the client's name", order.name)
  const plan = checkChoice('module', modules, order.modules)
  return await db.transaction(async (tx) => {
    const [client] = await tx.query<Client>(
      `insert into clients (name, modules, created_at) values ($1, $2, $3)
       on conflict (name) do nothing returning ${columns}`,
      [name, plan, clock.now()],
    )
    if (!client) {
      throw new AdminError('conflict', `there is a client ${JSON.stringify(name)} already`)
    }
    await createSequenceOf(tx, 'client', client.client_id)
    return client
  })
}

/** Changes the plan of a client. It applies to keys and users on every server within a second. */
export async function changeModules(
  { db }: Admin,
  order: { name: string; modules: readonly string[] },
): Promise<Client> {
  const { client_id } = await findClient(db, order.name)
  const plan = checkChoice('module', modules, order.modules)
  await db.transaction(async (tx) => {
    await tx.execute('update clients set modules = $2 where client_id = $1', [client_id, plan])
    await tx.execute(`select pg_notify('key_changed', key_id) from api_keys where client_id = $1`, [
      client_id,
    ])
  })
  return findClient(db, order.name)
}

export function listClients({ db }: Admin): Promise<Client[]> {
  return db.query<Client>(`select ${columns} from clients order by name`)
}

/** The client of this name; `not_found` when there is none. */
export async function findClient(db: Queries, name: string): Promise<Client> {
  const [client] = await db.query<Client>(`select ${columns} from clients where name = $1`, [name])
  if (!client) throw new AdminError('not_found', `there is no client ${JSON.stringify(name)}`)
  return client
}
