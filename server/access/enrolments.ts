/** One-time codes by which a gateway becomes the edge of a site. */
import { timingSafeEqual } from 'node:crypto'
import { hour_ms } from '@heliograph/domain/durations'
import {
  code_alphabet,
  code_characters,
  codeText,
  type ExchangedCode,
  enrolmentCodeOf,
  type GatewayStatus,
} from '@heliograph/domain/enrolment'
import { edgeTokenPattern } from '@heliograph/domain/link'
import { secretDigest } from '../http/authenticate.ts'
import type { Queries } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'
import { insertRow } from '../storage/rows.ts'
import { type Admin, newHexId, newSecret } from './admin.ts'
import { addEdge, isConnected, listEdges, revokeEdge } from './edges.ts'
import type { Enrolment } from './schemas.ts'

/** For the exchange of a code, and again for the confirmation of a take-over. */
const life_ms = hour_ms
const tries_max = 5
/** The other characters of a code are its secret: 50 bits. */
const id_characters = 6

export type EnrolmentRow = Stored<Omit<Enrolment, 'state'>> & {
  tries: number
  revoked_at: Date | null
}

const columns = `site_id, enrolment_id, created_at, created_by, expires_at, tries, revoked_at,
  used_at, gateway, address, agent_version, edge_id, enrolled_at, confirmed_by`

export function stateOf(row: EnrolmentRow, now: Date): Enrolment['state'] {
  if (row.enrolled_at !== null) return 'enrolled'
  if (row.revoked_at !== null) return 'revoked'
  if (row.expires_at <= now) return 'expired'
  if (row.used_at !== null) return 'waiting'
  return row.tries >= tries_max ? 'locked' : 'open'
}

/** Returns the code this once: only its digest is stored. Ends earlier codes of the site. */
export async function createEnrolment(
  { db, clock, randomBytes }: Admin,
  { site_id, created_by }: { site_id: string; created_by: string },
): Promise<{ row: EnrolmentRow; code: string }> {
  const now = clock.now()
  const code = Array.from(
    randomBytes(code_characters),
    (byte) => code_alphabet[byte % code_alphabet.length],
  ).join('')
  await db.execute(
    `update enrolments set revoked_at = $2
     where site_id = $1 and revoked_at is null and enrolled_at is null`,
    [site_id, now],
  )
  const enrolment = {
    site_id,
    enrolment_id: code.slice(0, id_characters),
    secret_sha256: secretDigest(code.slice(id_characters)),
    created_at: now,
    created_by,
    expires_at: new Date(now.getTime() + life_ms),
  }
  const row = await insertRow<EnrolmentRow>(db, 'enrolments', enrolment, `returning ${columns}`)
  return { row: row!, code: codeText(code) }
}

/** The newest first. */
export const listEnrolments = (db: Queries, site_id: string): Promise<EnrolmentRow[]> =>
  db.query<EnrolmentRow>(
    `select ${columns} from enrolments where site_id = $1
     order by created_at desc, enrolment_id limit 100`,
    [site_id],
  )

/** The enrolment, locked until the end of the transaction; null when the client has none. */
export async function findEnrolment(
  tx: Queries,
  { client_id, enrolment_id }: { client_id: number; enrolment_id: string },
): Promise<EnrolmentRow | null> {
  const found = await tx.queryOne<Pick<EnrolmentRow, 'site_id'>>(
    `select site_id from enrolments join sites using (site_id)
     where client_id = $1 and enrolment_id = $2`,
    [client_id, enrolment_id],
  )
  if (found === null) return null
  return await tx.queryOne<EnrolmentRow>(
    `select ${columns} from enrolments where site_id = $1 and enrolment_id = $2 for update`,
    [found.site_id, enrolment_id],
  )
}

/** Ends a code, or refuses the gateway that waits. No effect on an enrolled gateway. */
export async function revokeEnrolment(
  { db, clock }: Admin,
  of: EnrolmentRow,
): Promise<EnrolmentRow> {
  const row = await db.queryOne<EnrolmentRow>(
    `update enrolments set revoked_at = coalesce(revoked_at, $3)
     where site_id = $1 and enrolment_id = $2 and enrolled_at is null returning ${columns}`,
    [of.site_id, of.enrolment_id, clock.now()],
  )
  return row ?? of
}

/** Makes the gateway of a used code the one edge of the site: the tokens of all others end. */
export async function enrolGateway(
  admin: Admin,
  { site_id, enrolment_id }: Pick<EnrolmentRow, 'site_id' | 'enrolment_id'>,
  confirmed_by: string | null,
): Promise<EnrolmentRow> {
  const { db, clock } = admin
  const now = clock.now()
  const row = await db.queryOne<EnrolmentRow & { edge_secret_sha256: Buffer }>(
    `update enrolments set enrolled_at = $3, confirmed_by = $4
     where site_id = $1 and enrolment_id = $2 returning ${columns}, edge_secret_sha256`,
    [site_id, enrolment_id, now, confirmed_by],
  )
  const { gateway, edge_id, edge_secret_sha256: secret_sha256 } = row!
  const others = await activeEdges(admin, site_id)
  await addEdge(db, { site_id, edge_id: edge_id!, name: gateway!, secret_sha256, created_at: now })
  for (const other of others) await revokeEdge(admin, other)
  return row!
}

const activeEdges = async (admin: Admin, site_id: string) =>
  (await listEdges(admin, { site_id })).filter(({ revoked_at }) => revoked_at === null)

/** The gateway that exchanges a code, as it describes itself. */
interface Gateway {
  name: string
  agent_version: string
  address: string
}

const refused = (reason: ExchangedCode['reason']): ExchangedCode => ({
  state: 'refused',
  reason,
  site_id: null,
  site_name: null,
  token: null,
})

interface Exchange {
  answer: ExchangedCode
  /** The enrolment of the code, for the audit; null for a code of nobody. */
  of: { client_id: number; site_id: string; enrolment_id: string } | null
}

/**
 * Exchanges a code for a token. The gateway is enrolled at once, unless another edge of the site
 * has been connected: then a person must confirm. Does not throw for a wrong code, as the
 * transaction must count it.
 */
export async function exchangeCode(
  admin: Admin,
  typed: string,
  gateway: Gateway,
): Promise<Exchange> {
  const { db, clock } = admin
  const code = enrolmentCodeOf(typed)
  if (code === null) return { answer: refused('unknown'), of: null }
  const enrolment_id = code.slice(0, id_characters)
  const sites = await db.query<{ site_id: string; client_id: number; site_name: string }>(
    `select site_id, client_id, name as site_name from enrolments join sites using (site_id)
     where enrolment_id = $1 order by site_id`,
    [enrolment_id],
  )
  const named: (EnrolmentRow & { client_id: number; site_name: string; secret_sha256: Buffer })[] =
    []
  for (const site of sites) {
    const locked = await db.queryOne<EnrolmentRow & { secret_sha256: Buffer }>(
      `select ${columns}, secret_sha256 from enrolments
       where site_id = $1 and enrolment_id = $2 for update`,
      [site.site_id, enrolment_id],
    )
    if (locked !== null) named.push({ ...locked, ...site })
  }
  const digest = secretDigest(code.slice(id_characters))
  const row = named.find(({ secret_sha256 }) => timingSafeEqual(digest, secret_sha256))
  if (row === undefined) {
    await db.execute('update enrolments set tries = tries + 1 where enrolment_id = $1', [
      enrolment_id,
    ])
    const counted = named.find(({ tries }) => tries < tries_max)
    return { answer: refused('unknown'), of: counted ?? null }
  }
  const { site_id, site_name } = row
  const state = stateOf(row, clock.now())
  if (state !== 'open') {
    const reason = state === 'waiting' || state === 'enrolled' ? 'used' : state
    return { answer: refused(reason), of: row }
  }
  const edge_id = newHexId(admin)
  const { secret, secret_sha256 } = newSecret(admin)
  const now = clock.now()
  await db.execute(
    `update enrolments set used_at = $3, expires_at = $4, gateway = $5, address = $6,
       agent_version = $7, edge_id = $8, edge_secret_sha256 = $9
     where site_id = $1 and enrolment_id = $2`,
    [
      site_id,
      enrolment_id,
      now,
      new Date(now.getTime() + life_ms),
      gateway.name,
      gateway.address,
      gateway.agent_version,
      edge_id,
      secret_sha256,
    ],
  )
  const is_taken = (await activeEdges(admin, site_id)).some((edge) => edge.last_seen_at !== null)
  if (!is_taken) await enrolGateway(admin, row, null)
  return {
    answer: {
      state: is_taken ? 'waiting' : 'enrolled',
      reason: null,
      site_id,
      site_name,
      token: `edge_${edge_id}_${secret}`,
    },
    of: row,
  }
}

/** What became of the gateway with this token. */
export async function gatewayStatus(db: Queries, token: string, now: Date): Promise<GatewayStatus> {
  const [, edge_id, secret] = edgeTokenPattern.exec(token) ?? []
  const found = await db.query<
    EnrolmentRow & { secret_sha256: Buffer; last_seen_at: Date | null; ended_at: Date | null }
  >(
    `select n.*, edge_secret_sha256 as secret_sha256, e.last_seen_at, e.revoked_at as ended_at
     from enrolments n left join edges e using (site_id, edge_id) where edge_id = $1`,
    [edge_id ?? ''],
  )
  const digest = secretDigest(secret ?? '')
  const row = found.find(({ secret_sha256 }) => timingSafeEqual(digest, secret_sha256))
  const state = row ? stateOf(row, now) : 'revoked'
  if (state === 'waiting') return { state, is_connected: false }
  if (row === undefined || state !== 'enrolled' || row.ended_at !== null) {
    return { state: 'refused', is_connected: false }
  }
  return { state, is_connected: isConnected(row, now) }
}
