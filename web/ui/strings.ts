import { useMayRead, useRead } from '../queries.ts'

/** Strings of an inverter, and their comparison with peers over seven days, by index. */
export function useStrings(inverter_id: number) {
  const enabled = useMayRead()('diagnostics:read')
  const asked = { inverter_id }
  const { data: made } = useRead('strings', 'stringsList', asked, { staleTime: 600_000 })
  const options = { enabled, staleTime: 300_000 }
  const { data: compared } = useRead('strings', 'stringsCompareList', asked, options)
  return {
    stringOf: (index: number) => made?.data.find((one) => one.string_index === index),
    weekOf: (index: number) => compared?.data.find((one) => one.string_index === index),
  }
}
