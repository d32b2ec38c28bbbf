import type { Bus } from '../drivers/driver.ts'

/** The same bus for control: reads go before those of polls, as writes do. */
export function withUrgentReads(bus: Bus): Bus {
  const urgent = { priority: 'urgent' } as const
  return {
    readHoldingRegisters: (...[unit_id, address, count]) =>
      bus.readHoldingRegisters(unit_id, address, count, urgent),
    readInputRegisters: (...[unit_id, address, count]) =>
      bus.readInputRegisters(unit_id, address, count, urgent),
    writeRegisters: (...request) => bus.writeRegisters(...request),
    close: () => bus.close(),
  }
}
