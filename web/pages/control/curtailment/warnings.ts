/** @param nameOf the name of a plant by its id */
export function plantWarnings(
  warnings: readonly string[],
  nameOf: (logger_id: number) => string,
): string[] {
  const namesOf = (code: string) =>
    warnings
      .filter((warning) => warning.startsWith(`${code}:`))
      .map((warning) => nameOf(Number(warning.slice(code.length + 1))))
  const unlisted = namesOf('no_permit_entry')
  const stopped = namesOf('below_lowest_limit')
  return [
    ...(unlisted.length > 0
      ? [
          `Not raised again after this limit: ${unlisted.join(', ')}. The permit file on site has ` +
            'no entry for it. It stays limited after the end or the release, until it has one.',
        ]
      : []),
    ...(stopped.length > 0
      ? [
          `Below the lowest limit of devices: ${stopped.join(', ')}. These devices are set to 0 kW, ` +
            'so the plant may deliver less than the limit.',
        ]
      : []),
  ]
}
