/** A file of JSON that is replaced as a whole. */
import { rename } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { readIfThere } from '../durable-file.ts'

/** `broken`: not what was written, which only a fault of the disk can bring about. */
export async function readSaved<Schema extends TSchema>(
  path: string,
  schema: Schema,
): Promise<Static<Schema> | 'none' | 'broken'> {
  const text = await readIfThere(path)
  if (text === null) return 'none'
  try {
    const found: unknown = JSON.parse(text)
    return Value.Check(schema, found) ? found : 'broken'
  } catch {
    return 'broken'
  }
}

/** The same; a broken file is reported and set aside. */
export async function openSaved<Schema extends TSchema>(
  path: string,
  schema: Schema,
  onFault: (error: Error) => void,
): Promise<Static<Schema> | 'none' | 'broken'> {
  const found = await readSaved(path, schema)
  if (found === 'broken') {
    await rename(path, `${path}.broken`)
    onFault(new Error(`${basename(path)} cannot be understood`))
  }
  return found
}
