/**
 * Lazy initialisation. Compiling a schema takes milliseconds, and hundreds of schemas would delay
 * the start of the server by a second.
 */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: { value: Made } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
