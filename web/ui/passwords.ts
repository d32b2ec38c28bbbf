/** Rules of the server for new passwords, checked before sending. */

const characters_min = 12
const characters_max = 128

export const show_password = { 'aria-label': 'Show the password' }

export function checkNewPassword(password: string): string | null {
  const count = [...password].length
  if (count > characters_max) return `At most ${characters_max} characters.`
  if (count >= characters_min) return null
  return `At least ${characters_min} characters: a sentence is easy to remember.`
}

export const checkAgain = (again: string, password: string): string | null =>
  again === password ? null : 'The passwords do not match.'
