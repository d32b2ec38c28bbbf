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

/** Makes something of an object once, and keeps it for as long as the object exists. */
export function oncePer<Of extends WeakKey, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, { value: Made }>()
  return (of) => {
    const known = made.get(of) ?? { value: make(of) }
    made.set(of, known)
    return known.value
  }
}
