/**
 * Made on the first call, then kept: compiling what a schema says takes milliseconds, of hundreds
 * of schemas a second, and a server is ready without.
 */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: { value: Made } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
