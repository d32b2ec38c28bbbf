import { readFile } from 'node:fs/promises'
import { AdminError } from './admin.ts'

const mebibyte = 1024 * 1024

/** Reads a text file for the operator; refuses unreadable and too large files. */
export async function readTextFile(
  file: string,
  { mib_max }: { mib_max: number },
): Promise<string> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new AdminError('invalid', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
  if (bytes.length > mib_max * mebibyte) {
    throw new AdminError('invalid', `${file} is over ${mib_max} MiB`)
  }
  return bytes.toString('utf8')
}
