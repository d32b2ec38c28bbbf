/** People of the platform, and how they come in. */
import type { Browser, Page } from 'playwright-core'
import { ask, type Cookies, openWindow, passwordField, signIn, type Window } from './browser.ts'
import type { Demo } from './demo.ts'

export interface Person {
  email: string
  password: string
  cookies: Cookies
}

const password = 'a long sentence of mine'
/** Another in each run: a demo that runs already keeps its people. */
const run = Date.now().toString(36)
let count = 0
/** One that nobody has. */
export function addressOf(name: string): string {
  count += 1
  return `${name}-${run}-${count}@example.com`
}

/** The link to the first account: the one that the demo told, or of who is there already. */
export async function firstLink(browser: Browser, demo: Demo): Promise<string> {
  if (demo.first_link !== null) return demo.first_link
  const { administrator, base_url } = demo
  if (administrator === null) throw new Error('the demo told no link to a first account')
  const window = await openWindow(browser, { base_url })
  await signIn(window.page, administrator.email, administrator.password)
  await theSites(window.page)
  const link = await linkFor(window, 'administrator', addressOf('first'))
  await window.close()
  return link
}

export type Role = 'viewer' | 'operator' | 'administrator'

export async function linkFor(window: Window, role: Role, email: string): Promise<string> {
  const asked = { method: 'POST', body: { email, role } } as const
  return (await ask<{ link_path: string }>(window, '/platform/invitations', asked)).link_path
}

/** Opens the link, makes the account and is signed in by it. */
export async function takeInvitation(window: Window, link: string, name: string): Promise<Person> {
  const { page, context } = window
  await page.goto(link)
  const email = page.getByLabel('E-mail')
  await page.getByLabel('Your name').fill(name)
  if (await email.isEditable()) await email.fill(addressOf('first'))
  const address = await email.inputValue()
  await passwordField(page).fill(password)
  await page.getByLabel('Repeat password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await theSites(page)
  return { email: address, password, cookies: await context.storageState() }
}

/** Where one is once signed in. */
export const theSites = (page: Page) =>
  page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor()

export async function newPerson(
  browser: Browser,
  base_url: string,
  { by, role }: { by: Window; role: Role },
): Promise<Person> {
  const link = await linkFor(by, role, addressOf(role))
  const window = await openWindow(browser, { base_url })
  const person = await takeInvitation(window, link, `The ${role}`)
  await window.close()
  return person
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Heliograph' }).waitFor()
}
