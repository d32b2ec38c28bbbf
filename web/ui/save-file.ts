import type { HeliographFile } from '@heliograph/sdk'

/** Gives a file of the API to the browser to keep. */
export async function saveFile({ name, response }: HeliographFile): Promise<void> {
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
