/** Signed-in people of the owner: two of each role, and a guest whose account may be removed. */
import { randomBytes } from 'node:crypto'
import { systemClock } from '@heliograph/domain/clock'
import { auth_path } from '@heliograph/server/access/sign-in-hooks'
import { inviteUser } from '@heliograph/server/access/user-admin'
import { roles } from '@heliograph/server/http/endpoint'
import type { Database } from '@heliograph/server/storage/database'

const password = 'correct horse battery staple'

export interface People {
  /** The guest, for paths that change or remove a person. */
  user_id: string
  /** Headers of a person; with `signs_in` those of the guest, whose session may end. */
  headersOf(turn: number, signs_in: boolean): Record<string, string>
}

export async function addPeople(db: Database, url: string): Promise<People> {
  const admin = { db, clock: systemClock, randomBytes }
  let count = 0
  async function person(role: (typeof roles)[number]) {
    count += 1
    const email = `person-${count}@example.com`
    const headers = {
      'content-type': 'application/json',
      'x-forwarded-for': `10.2.0.${count}`,
      origin: url,
    }
    const post = async (path: string, body: object) => {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer
    }
    const order = { client: 'Owner', role, email, created_by: 'soak' }
    const { link_path } = await inviteUser(admin, order)
    const token = link_path.split('#')[1]
    const accepted = await post('/platform/invitations/accept', { token, name: role, password })
    const { user_id } = (await accepted.json()) as { user_id: string }
    const signed_in = await post(`${auth_path}/sign-in/email`, { email, password })
    const cookie = signed_in.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    return { user_id, cookie }
  }
  const staff: Awaited<ReturnType<typeof person>>[] = []
  for (const role of [...roles, ...roles, 'administrator'] as const) staff.push(await person(role))
  const guest = await person('operator')
  const from_page = { 'x-heliograph-session': '1', 'sec-fetch-site': 'same-origin', origin: url }
  return {
    user_id: guest.user_id,
    headersOf(turn, signs_in) {
      const cookie = signs_in ? guest.cookie : staff[turn % (staff.length + 1)]?.cookie
      return { ...from_page, ...(cookie !== undefined && { cookie }) }
    },
  }
}
